"""gzip as it comes: unpacked piece by piece, so that a small body cannot become a large one
unseen.

A gzip is one member or several, and nothing else: what stands behind the last one is refused,
since another reader may take it for more of the body.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

NAMES = frozenset((b"gzip", b"x-gzip"))
PIECE = 65_536
"""Bytes that are unpacked, or given out, at a time."""
MEMBERS = 4096
"""An empty member is 20 bytes, and costs far more than its bytes: clients choose how many."""

_GZIP = 16 + zlib.MAX_WBITS


class Unreadable(ValueError):
    """A body that cannot be unpacked."""


class TooLarge(Unreadable):
    """A body that would become too large; `why` is what is wrong with it."""

    def __init__(self, largest: int) -> None:
        self.why = f"larger than {largest} bytes when it is unpacked"
        super().__init__(f"it is {self.why}")


class Unpacker:
    """One body on its way."""

    __slots__ = ("_members", "_reader")

    def __init__(self) -> None:
        self._reader = zlib.decompressobj(_GZIP)
        self._members = 1

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """What the next bytes unpack to. Raises Unreadable."""
        for at in range(0, len(data), PIECE):
            left = data[at : at + PIECE]
            while left:
                text = self._some(left)
                left = self._reader.unused_data or self._reader.unconsumed_tail
                if text:
                    yield text

    def end(self) -> None:
        """Nothing more comes. Raises Unreadable if something should."""
        if not self._reader.eof:
            raise Unreadable("its gzip is cut off")

    def _some(self, data: bytes) -> bytes:
        if self._reader.eof:
            self._members += 1
            if self._members > MEMBERS:
                raise Unreadable(f"its gzip has more than {MEMBERS} members")
            self._reader = zlib.decompressobj(_GZIP)
        try:
            return self._reader.decompress(data, PIECE)
        except zlib.error:
            raise Unreadable("it is not the gzip that it says it is") from None


def unpacked(body: bytes, largest: int) -> bytes:
    """All of a body. Raises Unreadable."""
    reader = Unpacker()
    parts: list[bytes] = []
    size = 0
    for text in reader.pieces(body):
        size += len(text)
        if size > largest:
            raise TooLarge(largest)
        parts.append(text)
    reader.end()
    return b"".join(parts)
