"""``make e2e`` begins with `build`, ``make e2e-shell`` is `shell`."""

from __future__ import annotations

import sys

from e2e.bed import absence, building, crds, programs, shell, timing


def build() -> int:
    """Build what is not there yet, each with its time; long, so it is told while it goes on."""
    code = 0
    missing = [program for program in programs.ALL if not building.place(program).exists()]
    try:
        if missing:
            building.go()
    except absence.Absent as absent:
        return _without(absent)
    for program in missing:
        print(f"building {program.name} ...", flush=True)
        try:
            building.built(program)
        except absence.Absent as absent:
            code |= _without(absent)
        else:
            print(timing.line(*timing.spans[-1]), flush=True)
    return code | _fetch()


def _fetch() -> int:
    """What is read of modules beside programs; silent where it is there."""
    try:
        crds.fetched()
    except absence.Absent as absent:
        return _without(absent)
    return 0


def _without(absent: absence.Absent) -> int:
    """Say it; the exit code."""
    print(f"skipped: {absent}", flush=True)
    return int(absence.is_failure())


def main() -> int:
    """The exit code."""
    doing = {"build": build, "shell": shell.run}.get(" ".join(sys.argv[1:]))
    if doing is None:
        print("usage: python -m e2e.bed build|shell", file=sys.stderr)
        return 2
    try:
        return doing()
    except absence.Absent as absent:
        return _without(absent)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
