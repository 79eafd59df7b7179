"""One set of pods at a time on a machine: addresses and routes are the same in every run.

Whoever holds the lock knows that namespaces it finds belong to a run that crashed.
"""

from __future__ import annotations

import contextlib
import fcntl
import sys
import time
from collections.abc import Iterator
from pathlib import Path

PLACE = Path("/run/ingressctl-pods.lock")
DEADLINE = 600
PAUSE = 0.2


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Wait for others to end, as long as a module of tests may take."""
    with PLACE.open("w") as file:
        begun = time.monotonic()
        while not _is_taken(file.fileno()):
            if time.monotonic() - begun > DEADLINE:
                sys.exit(f"skipped: another run holds {PLACE} for {DEADLINE} s")
            time.sleep(PAUSE)
        yield


def _is_taken(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
