"""A virtual environment with PyPI's kserve, made when it is first needed.

It is one of its own because kserve wants another protobuf than the project does. It stays in the
cache folder of the end-to-end tests; what is in it is written beside it.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from e2e.bed import absence, building, timing
from e2e.bed.absence import Absent

# Version 37 of the Kubernetes client checks its arguments, and refuses what KServeClient passes.
WANTED = ("kserve==0.21.0", "kubernetes<37")
DEADLINE = 900


def python() -> Path:
    """The interpreter that has kserve, made by whoever comes first. Raises Absent."""
    home = building.cache() / f"kserve-python{sys.version_info.major}.{sys.version_info.minor}"
    stamp = home / ".installed"
    building.cache().mkdir(parents=True, exist_ok=True)
    with (building.cache() / "kserve.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != str(WANTED):
            with timing.measured("install kserve"):
                shutil.rmtree(home, ignore_errors=True)
                _make(home)
            stamp.write_text(str(WANTED))
    return home / "bin" / "python"


def _make(home: Path) -> None:
    venv.create(home, with_pip=True)
    command = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", *WANTED]
    try:
        made = subprocess.run(
            command, capture_output=True, text=True, timeout=DEADLINE, check=False
        )
    except subprocess.TimeoutExpired:
        raise Absent(f"pip did not install kserve within {DEADLINE} s", "try again") from None
    if made.returncode:
        reason = f"kserve cannot be installed: {made.stderr.strip()[-300:]}"
        raise Absent(reason, "let pip reach an index that has it")


def main() -> int:
    """Make it before tests that have no way to fetch it; the exit code."""
    try:
        print(python())
    except Absent as absent:
        print(f"skipped: {absent}")
        return int(absence.is_failure())
    return 0


if __name__ == "__main__":
    sys.exit(main())
