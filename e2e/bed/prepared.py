"""etcd folders that hold all CRDs already, so that a bed does not have to create them.

Creating fifty CRDs costs the API server many times what starting with them does. The first bed
of a machine leaves a copy of its store in the cache before anything else is in it; the next
start with a copy of that. Its name is the hash of the CRDs and of the programs that wrote it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from e2e.bed import building, programs

PREFIX = "store-"
UNUSED_SECONDS = 3 * 24 * 3600


def place(crds: Iterable[dict[str, Any]]) -> Path:
    """Where the store with these CRDs is kept."""
    makers = [str(building.place(item)) for item in (programs.ETCD, programs.APISERVER)]
    told = json.dumps([makers, list(crds)], sort_keys=True, default=str).encode()
    return building.cache() / f"{PREFIX}{hashlib.sha256(told).hexdigest()[:16]}"


def take(kept: Path, folder: Path) -> bool:
    """Copy a kept store to `folder`, if there is one."""
    try:
        os.utime(kept)  # in use, for _forget
        shutil.copytree(kept, folder)
    except FileNotFoundError:
        shutil.rmtree(folder, ignore_errors=True)
        return False
    return True


def keep(kept: Path, folder: Path, *, etcd: int) -> None:
    """Leave a copy of `folder`, while its etcd stands still.

    That is what a power cut would leave, which etcd knows how to read.
    """
    with tempfile.TemporaryDirectory(prefix="storing-", dir=building.cache()) as made:
        copy = Path(made) / "store"
        with _stopped(etcd):
            # Without the file that etcd sets aside for the next part of its log.
            shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("*.tmp"))
        with contextlib.suppress(OSError):  # another run was faster
            copy.rename(kept)
    _forget()


@contextlib.contextmanager
def _stopped(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def _forget() -> None:
    """Remove what no run has used for days: each is the size of etcd's log."""
    for path in building.cache().glob(f"{PREFIX}*"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > UNUSED_SECONDS:
                shutil.rmtree(path, ignore_errors=True)
