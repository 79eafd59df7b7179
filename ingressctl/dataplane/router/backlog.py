"""How much of what waits is in memory: beyond that, it waits with whoever sends it.

A connection that has had its answer would send the next request at once, and hold its body
until its turn comes: with a thousand connections, a thousand bodies. So while the bodies of
the line exceed a sum, such a connection is not read. It has its place in a line of its own,
and is read on, in order, as that sum allows; TCP keeps its client from sending meanwhile.

Connections that are new, or have only asked for what the router says itself, are always read:
probes must not wait behind the work of others.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

HELD = 2_000_000
"""So many bytes of bodies may wait in a process before connections are not read on."""


class Reader(Protocol):
    """A connection. `size` is that of the body of its last request, and guessed of its next."""

    gone: bool
    size: int

    def read_on(self) -> None:
        """It may be read again."""
        ...


class Backlog:
    """See the module. `held` are the bytes of bodies that wait for their turn.

    A reader that is read on has the size of its last request promised to it, until that much
    has come or `lapse` is called: not all who may send do.
    """

    def __init__(self) -> None:
        self.held = 0
        self._promised = 0
        self._line: deque[Reader] = deque()

    def __len__(self) -> int:
        return len(self._line)

    def add(self, size: int) -> None:
        """A body waits."""
        self.held += size

    def remove(self, size: int) -> None:
        """It does no more."""
        self.held -= size

    def came(self, size: int) -> None:
        """A request is whole, whether it has to wait or not."""
        self._promised = max(0, self._promised - size)

    def postpone(self, reader: Reader) -> bool:
        """Whether this one is not to be read now; `read_on` follows, unless it is `gone`."""
        if not self._line and self.held + self._promised < HELD:
            return False
        self._line.append(reader)
        return True

    def ease(self) -> None:
        """Read on as far as there is room."""
        while self._line and self.held + self._promised < HELD:
            reader = self._line.popleft()
            if not reader.gone:
                self._promised += reader.size
                reader.read_on()

    def lapse(self) -> None:
        """Forget promises of a while ago, and let others have them."""
        self._promised = 0
        self.ease()

    def end(self) -> None:
        """Read on whatever waits: nothing of it may be lost with its connection."""
        line, self._line = self._line, deque()
        for reader in line:
            if not reader.gone:
                reader.read_on()
