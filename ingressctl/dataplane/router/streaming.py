"""The body of an answer that is handed on as it comes."""

from __future__ import annotations

import asyncio
from typing import NoReturn, Protocol

from ingressctl.dataplane.router.ports import StepFailed

BUFFERED = 262_144
"""So much of a stream waits in the process until somebody reads on."""


class Source(Protocol):
    """Where the pieces come from."""

    def pause(self) -> None:
        """No more for now."""
        ...

    def resume(self) -> None:
        """Go on."""
        ...

    def abort(self) -> None:
        """Nobody takes the rest."""
        ...


class Stream:
    """Pieces in their order. Who does not read to the end calls `aclose`.

    `length` is how many bytes they are together, where that is known.
    """

    __slots__ = ("_done", "_failed", "_loop", "_pieces", "_size", "_source", "_waiter", "length")

    def __init__(
        self, source: Source, loop: asyncio.AbstractEventLoop, *, length: int | None = None
    ) -> None:
        self.length = length
        self._source: Source | None = source
        self._loop = loop
        self._pieces: list[bytes] = []
        self._size = 0
        self._waiter: asyncio.Future[None] | None = None
        self._failed: StepFailed | None = None
        self._done = False

    # For the reader.

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> bytes:
        """All that came since; raises StepFailed where the stream breaks off."""
        while not self._pieces:
            if self._failed is not None:
                self._raise()
            if self._done:
                raise StopAsyncIteration
            self._waiter = self._loop.create_future()
            await self._waiter
        pieces, self._pieces = self._pieces, []
        was_full, self._size = self.full, 0
        if was_full and self._source is not None:
            self._source.resume()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _raise(self) -> NoReturn:
        """The failure, which keeps this frame, and which the frame must not keep in turn."""
        failed, self._failed = self._failed, None
        assert failed is not None
        try:
            raise failed
        finally:
            del failed

    async def aclose(self) -> None:
        """The rest is not wanted."""
        self.give_up()

    def give_up(self) -> None:
        """Likewise, where nothing can be awaited."""
        source, self._source = self._source, None
        if source is not None:
            source.abort()
        self._end()

    # For the source.

    @property
    def full(self) -> bool:
        """Whether enough waits for the reader."""
        return self._size > BUFFERED

    def push(self, data: bytes) -> None:
        """A piece has come."""
        self._pieces.append(data)
        self._size += len(data)
        self._wake()

    def finish(self) -> None:
        """That was all."""
        self._source = None
        self._end()

    def fail(self, failed: StepFailed) -> None:
        """No more will come, although more should."""
        self._source = None
        self._failed = failed
        self._end()

    def _end(self) -> None:
        self._done = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
