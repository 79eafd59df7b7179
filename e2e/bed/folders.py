"""The folder of a bed's state, and those that a killed run left behind."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "ingressctl-bed-"


def make() -> Path:
    """A new one, named by this process."""
    sweep()
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))


def sweep() -> None:
    """Remove those whose process is no more; their parts ended with it."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        owner = path.name.removeprefix(PREFIX).split("-")[0]
        if owner.isdigit() and not _lives(int(owner)):
            shutil.rmtree(path, ignore_errors=True)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
