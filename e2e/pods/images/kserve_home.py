"""A virtual environment with PyPI's kserve, made when it is first needed.

It is one of its own because kserve wants another protobuf than the project does. It stays in the
cache folder of the end-to-end tests, named by what is in it.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from e2e.bed import building
from e2e.bed.absence import Absent

KSERVE = "kserve==0.21.0"
DEADLINE = 900


def python() -> Path:
    """The interpreter that has kserve, made by whoever comes first. Raises Absent."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    home = building.cache() / f"{KSERVE.replace('==', '-')}-python{version}"
    stamp = home / ".installed"
    building.cache().mkdir(parents=True, exist_ok=True)
    with (building.cache() / "kserve.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists():
            shutil.rmtree(home, ignore_errors=True)
            _make(home)
            stamp.touch()
    return home / "bin" / "python"


def _make(home: Path) -> None:
    venv.create(home, with_pip=True)
    command = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", KSERVE]
    try:
        made = subprocess.run(
            command, capture_output=True, text=True, timeout=DEADLINE, check=False
        )
    except subprocess.TimeoutExpired:
        raise Absent(f"pip did not install {KSERVE} within {DEADLINE} s", "try again") from None
    if made.returncode:
        reason = f"{KSERVE} cannot be installed: {made.stderr.strip()[-300:]}"
        raise Absent(reason, "let pip reach an index that has it")


if __name__ == "__main__":
    print(python())
