"""Renders objects from standard input to standard output: `runs` of the field cases.

A process of its own for each hash seed, so it imports little.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import orjson

from ingressctl.api.refs import ref_of
from ingressctl.core.differences import Compat
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import cascade
from ingressctl.sources.kserve import reconcile as kserve

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> None:
    given = orjson.loads(sys.stdin.buffer.read())
    settings = Settings(compat=Compat.parse(given["compat"]))
    sources = {("serving.kserve.io", "InferenceService"): kserve.reconcile_routes}
    world = World.of(given["objects"])
    after = cascade.run(world, settings, now=NOW, sources=sources)
    wanted = {ref_of(obj) for step in after.steps for obj in step.emission.objects}
    made = [obj for obj in after.world if ref_of(obj) in wanted]
    sys.stdout.buffer.write(orjson.dumps(sorted(made, key=ref_of)))


if __name__ == "__main__":
    main()
