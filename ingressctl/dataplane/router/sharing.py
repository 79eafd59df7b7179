"""What several processes know in one memory: each writes its own, each may read all.

Those are their numbers, and the graph that each has taken over, for one that stands in for a
process that has died while the file of the graph says nothing that can be served.
"""

from __future__ import annotations

import mmap
import struct
import time
import zlib

import msgspec

from ingressctl.dataplane.router.counting import Snapshot
from ingressctl.dataplane.router.graphs import MAX_BYTES

PART = 1 << 20
"""Bytes for the numbers of one process; those that are not written take no memory."""

_HEAD = struct.Struct("=II")
_TRIES = 100
_MOMENT = struct.Struct(">Q")


class Shared:
    """Memory for so many processes; made before they are."""

    def __init__(self, processes: int) -> None:
        self._processes = processes
        self._numbers = _Parts(processes, PART)
        self._graphs = _Parts(processes, _HEAD.size + _MOMENT.size + MAX_BYTES)

    def write(self, process: int, snapshot: Snapshot) -> None:
        """The numbers of one process; those of a graph that is too large are left out."""
        data = msgspec.msgpack.encode(snapshot)
        if len(data) + _HEAD.size > PART:
            data = msgspec.msgpack.encode(Snapshot(snapshot.rows[:1], snapshot.waiting))
        self._numbers.write(process, data)

    def read(self, process: int) -> Snapshot:
        """What that process has written last; nothing if it has not yet."""
        data = self._numbers.read(process)
        return msgspec.msgpack.decode(data, type=Snapshot) if data else Snapshot([])

    def all(self) -> list[Snapshot]:
        """Those of every process."""
        return [self.read(process) for process in range(self._processes)]

    def keep(self, process: int, text: bytes) -> None:
        """The text of the graph that a process has taken over."""
        self._graphs.write(process, _MOMENT.pack(time.monotonic_ns()) + text)

    def kept(self) -> bytes:
        """The text that any process has taken over last; empty while none has."""
        every = map(self._graphs.read, range(self._processes))
        return max(every, key=lambda kept: kept[: _MOMENT.size])[_MOMENT.size :]


class _Parts:
    """Memory in parts of one size. Only one process writes a part.

    It is written whole with its length and checksum; who reads one that is being written
    reads it again.
    """

    def __init__(self, count: int, size: int) -> None:
        self._size = size
        self._memory = mmap.mmap(-1, count * size)

    def write(self, number: int, data: bytes) -> None:
        """The data has to fit in."""
        start = number * self._size
        whole = _HEAD.pack(len(data), zlib.crc32(data)) + data
        self._memory[start : start + len(whole)] = whole

    def read(self, number: int) -> bytes:
        """What was written last; empty if nothing was, or if its writer died over it."""
        start = number * self._size
        at = start + _HEAD.size
        for _ in range(_TRIES):
            length, checksum = _HEAD.unpack_from(self._memory, start)
            if not length:
                break
            data = self._memory[at : at + min(length, self._size)]
            if zlib.crc32(data) == checksum:
                return data
        return b""
