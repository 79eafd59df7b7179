"""Numbers of several processes in one memory: each writes its own, each may read all.

A part is written whole with its length and checksum; who reads one that is being written
reads it again.
"""

from __future__ import annotations

import mmap
import struct
import zlib

import msgspec

from ingressctl.dataplane.router.counting import Snapshot

PART = 1 << 20
"""Bytes for one process; those that are not written take no memory."""

_HEAD = struct.Struct("=II")
_TRIES = 100


class Shared:
    """Memory for so many processes; made before they are."""

    def __init__(self, processes: int) -> None:
        self._processes = processes
        self._memory = mmap.mmap(-1, processes * PART)

    def write(self, process: int, snapshot: Snapshot) -> None:
        """The numbers of one process; those of a graph that is too large are left out."""
        data = msgspec.msgpack.encode(snapshot)
        if len(data) + _HEAD.size > PART:
            data = msgspec.msgpack.encode(Snapshot(snapshot.rows[:1], snapshot.waiting))
        start = process * PART
        whole = _HEAD.pack(len(data), zlib.crc32(data)) + data
        self._memory[start : start + len(whole)] = whole

    def read(self, process: int) -> Snapshot:
        """What that process has written last; nothing if it has not yet."""
        start = process * PART
        for _ in range(_TRIES):
            length, checksum = _HEAD.unpack_from(self._memory, start)
            at = start + _HEAD.size
            data = self._memory[at : at + min(length, PART)]
            if length and zlib.crc32(data) == checksum:
                return msgspec.msgpack.decode(data, type=Snapshot)
            if not length:
                break
        return Snapshot([])

    def all(self) -> list[Snapshot]:
        """Those of every process."""
        return [self.read(process) for process in range(self._processes)]
