"""One call over HTTP/2: a request whose body may wait for room, and its answer."""

from __future__ import annotations

import asyncio
from math import inf
from typing import TYPE_CHECKING

from ingressctl.dataplane.router.calling import QUIET
from ingressctl.dataplane.router.ports import Answer, StepFailed
from ingressctl.dataplane.router.streaming import Stream
from ingressctl.dataplane.router.wire import HOP_BY_HOP

if TYPE_CHECKING:
    from ingressctl.dataplane.router.multiplexing import Multiplexed


class Exchange:
    """One call: a request whose body may wait for room, and its answer. A Source of streams."""

    __slots__ = (
        "_body",
        "_connection",
        "_held",
        "_holds",
        "_may_stream",
        "_size",
        "_status",
        "_stream",
        "deadline",
        "future",
        "headers",
        "left",
        "number",
    )

    def __init__(self, connection: Multiplexed, number: int, body: bytes, *, stream: bool) -> None:
        self._connection = connection
        self.number = number
        self.left = memoryview(body)
        self.future: asyncio.Future[Answer] = connection.group.loop.create_future()
        self.headers: list[tuple[bytes, bytes]] = []
        self.deadline = inf
        self._status = 0
        self._body: list[bytes] = []
        self._size = self._held = 0
        self._may_stream, self._holds = stream, False
        self._stream: Stream | None = None

    def head(self, fields: list[tuple[bytes, bytes]]) -> None:
        """The head of the answer."""
        self._status = int(dict(fields)[b":status"])
        self.headers = [
            (name.lower(), value)
            for name, value in fields
            if not name.startswith(b":") and name not in HOP_BY_HOP
        ]

    def data(self, data: bytes, counted: int) -> None:
        """A piece of its body; `counted` is what it takes of the window."""
        self._held += counted
        if self._may_stream and self._stream is None:
            self._begin()
        if self._stream is None:
            self._size += len(data)
            self._body.append(data)
            self.resume()
            if self._size > self._connection.group.limit:
                limit = self._connection.group.limit
                self.fail(
                    StepFailed("unusable", f"the answer is larger than {limit} bytes", sent=True)
                )
                self._connection.reset(self)
            return
        self._stream.push(data)
        if self._stream.full:
            self._holds = True
            self.deadline = inf
        else:
            self.resume()

    def ended(self) -> None:
        """The answer is whole."""
        if self._stream is not None:
            self._stream.finish()
        elif not self.future.done():
            self.future.set_result(Answer(self._status, self.headers, b"".join(self._body)))

    def fail(self, failed: StepFailed) -> None:
        """There is none."""
        if self._stream is not None:
            self._stream.fail(failed)
        elif not self.future.done():
            self.future.set_exception(failed)

    def _begin(self) -> None:
        self._stream = Stream(self, self._connection.group.loop)
        if not self.future.done():
            self.future.set_result(Answer(self._status, self.headers, b"", self._stream))

    # For the stream, and for the deadlines.

    def pause(self) -> None:
        """Whoever takes the stream does not keep up: the window is not opened again."""

    def resume(self) -> None:
        """He does: as much may come as has been taken."""
        self._holds = False
        if self._stream is not None:
            self.deadline = self._connection.group.loop.time() + QUIET
        self._connection.taken(self, self.release())

    def release(self) -> int:
        """What it holds of the window, which it does not any more."""
        held, self._held = self._held, 0
        return held

    def abort(self) -> None:
        """Nobody takes the rest."""
        self._connection.reset(self)

    def expire(self, now: float) -> None:
        """It is late."""
        self.deadline = inf
        self.fail(StepFailed("late", "the step did not answer in time", sent=True))
        self._connection.reset(self)
