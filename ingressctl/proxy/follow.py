"""Files that are followed: a number that changes when any of them does.

By asking the file system often, which works on every system and for files that editors
replace, on network mounts and in containers alike. Large folders are asked less often, so
that following never takes more than a tenth of a core.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Iterable, Iterator
from pathlib import Path

INTERVAL = 0.025
SHARE = 0.1
"""The part of one core that asking may take."""

Signature = frozenset[tuple[str, int, int, int]]


async def changes(
    paths: Iterable[str], *, recursive: bool, seen: Signature
) -> AsyncGenerator[None, None]:
    """Yields each time a file of `paths` is written, added or removed.

    `seen` is the state that was read last, taken before the reading: what changes between
    the two is a change.
    """
    wanted = tuple(Path(path) for path in paths)
    while True:
        start = time.perf_counter()
        now = signature(wanted, recursive=recursive)
        took = time.perf_counter() - start
        if now != seen:
            seen = now
            yield
        await asyncio.sleep(max(INTERVAL, took / SHARE))


def signature(paths: Iterable[str | Path], *, recursive: bool) -> Signature:
    """What tells one state of these files from another."""
    return frozenset(entry for path in paths for entry in _entries(Path(path), recursive, depth=0))


def _entries(path: Path, recursive: bool, depth: int) -> Iterator[tuple[str, int, int, int]]:
    try:
        info = path.stat()
        if not path.is_dir():
            yield str(path), info.st_mtime_ns, info.st_size, info.st_ino
        elif depth == 0 or recursive:
            with os.scandir(path) as entries:
                inside = [Path(entry.path) for entry in entries]
            for entry in inside if depth < MAX_DEPTH else ():
                yield from _entries(entry, recursive, depth + 1)
    except OSError:
        yield str(path), 0, 0, 0  # gone or unreadable: that is a state too


MAX_DEPTH = 32
"""A link that leads back must end somewhere."""
