"""Renders one case from standard input to standard output: `runs` of the field cases."""

from __future__ import annotations

import sys

import orjson

from tests.cases import field_stage
from tests.cases.loading import Run


def main() -> None:
    given = orjson.loads(sys.stdin.buffer.read())
    case = given["case"]
    run = Run("field", "cases", case, given["compat"], {"assert": case.get("assert")})
    sys.stdout.buffer.write(field_stage.rendered(run))


if __name__ == "__main__":
    main()
