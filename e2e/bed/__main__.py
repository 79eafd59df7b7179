"""``make e2e`` begins with `build`, ``make e2e-shell`` is `shell`."""

from __future__ import annotations

import sys

from e2e.bed import absence, building, programs, shell, timing


def build() -> int:
    """Build what is not there yet, each with its time; long, so it is told while it goes on."""
    code = 0
    for program in programs.ALL:
        told = len(timing.spans)
        if not building.place(program).exists():
            print(f"building {program.name} ...", flush=True)
        try:
            building.built(program)
        except absence.Absent as absent:
            print(f"skipped: {absent}", flush=True)
            code = int(absence.is_failure())
        for span in timing.spans[told:]:
            print(timing.line(*span), flush=True)
    return code


def main() -> int:
    """The exit code."""
    if sys.argv[1:] == ["build"]:
        return build()
    if sys.argv[1:] == ["shell"]:
        return shell.run()
    print("usage: python -m e2e.bed build|shell", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
