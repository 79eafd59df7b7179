"""How many calls of one step are in flight in this process; more wait in their order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress


class Gate:
    """Lets `limit` in at a time, first come, first served."""

    def __init__(self, limit: int) -> None:
        self.free = limit
        self._line: deque[asyncio.Future[None]] = deque()

    @property
    def waiting(self) -> int:
        """How many stand in line."""
        return len(self._line)

    async def enter(self, until: float | None) -> bool:
        """Wait for a place; False when the moment passes first. Each entry needs a `leave`."""
        if self.free > 0 and not self._line:
            self.free -= 1
            return True
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self._line.append(turn)
        try:
            async with asyncio.timeout_at(until):
                await turn
        except TimeoutError:
            return self._gives_up(turn)
        except asyncio.CancelledError:
            if self._gives_up(turn):
                self.leave()
            raise
        return True

    def _gives_up(self, turn: asyncio.Future[None]) -> bool:
        """Out of the line; True if it was let in at the same moment."""
        if turn.done() and not turn.cancelled():
            return True
        with suppress(ValueError):  # one that left may have taken it out already
            self._line.remove(turn)
        return False

    def leave(self) -> None:
        """The next one may enter."""
        while self._line:
            turn = self._line.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self.free += 1


class Released:
    """A stream whose end, in whatever way, is told once."""

    def __init__(self, stream: AsyncIterator[bytes], gate: Gate) -> None:
        self._stream = stream
        self._gate: Gate | None = gate

    def __aiter__(self) -> Released:
        return self

    async def __anext__(self) -> bytes:
        try:
            return await self._stream.__anext__()
        except BaseException:
            self._end()
            raise

    async def aclose(self) -> None:
        """Give the stream up."""
        try:
            await self._stream.aclose()  # type: ignore[attr-defined]
        finally:
            self._end()

    def _end(self) -> None:
        gate, self._gate = self._gate, None
        if gate is not None:
            gate.leave()
