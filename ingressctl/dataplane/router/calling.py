"""One connection to a step: a request out, its answer in, whole or piece by piece."""

from __future__ import annotations

import asyncio
import socket
import struct
from math import inf
from typing import TYPE_CHECKING, cast

from ingressctl.dataplane.router import wire
from ingressctl.dataplane.router.heads import length_of
from ingressctl.dataplane.router.ports import Answer, StepFailed
from ingressctl.dataplane.router.replies import Reply, Unusable
from ingressctl.dataplane.router.streaming import Stream

if TYPE_CHECKING:
    from ingressctl.dataplane.router.pool import Pool

QUIET = 300.0
"""How long a stream may be silent."""


class Caller(asyncio.Protocol):
    """One connection, of which a pool takes care while nobody uses it.

    `deadline` and `expire` are for Deadlines. `unseen` tells of a failed call that the step has
    certainly not seen the request: it had closed the connection before, while it was idle.
    """

    __slots__ = (
        "_future",
        "_may_stream",
        "_pool",
        "_reply",
        "_stream",
        "_transport",
        "_used",
        "deadline",
        "unseen",
    )

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._reply = Reply(pool.limit, pool.heads)
        self._future: asyncio.Future[Answer] | None = None
        self._stream: Stream | None = None
        self._may_stream = self._used = self.unseen = False
        self.deadline = inf

    def ask(
        self, head: bytes, body: bytes, *, until: float | None, stream: bool
    ) -> asyncio.Future[Answer]:
        """Send a request; the future gives the answer, or StepFailed."""
        self._reply.expect()
        self._may_stream = stream
        self.deadline = inf if until is None else until
        future = self._future = self._pool.loop.create_future()
        if len(body) < wire.TOGETHER:
            self._transport.write(head + body)
        else:
            self._transport.writelines((head, body))
        return future

    def leave(self, future: asyncio.Future[Answer]) -> None:
        """Whoever asked is gone, maybe after the answer came: then somebody else may have asked."""
        if self._future is future:
            self.abort()
        elif not future.cancelled() and future.exception() is None:
            stream = future.result().stream
            if isinstance(stream, Stream):
                stream.give_up()

    def abort(self) -> None:
        """Close at once; whoever waits is not told."""
        self._future = self._stream = None
        self._pool.forget(self)
        self._transport.abort()

    def unwanted(self) -> None:
        """Nobody waits for the connection any more; uvloop may still make it."""
        self.deadline = 0.0

    def pause(self) -> None:
        """Whoever takes the stream does not keep up."""
        self.deadline = inf
        self._transport.pause_reading()

    def resume(self) -> None:
        """He does again."""
        self.deadline = self._pool.loop.time() + QUIET
        self._transport.resume_reading()

    # What the loop and the deadlines tell.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connected."""
        self._transport = cast(asyncio.Transport, transport)
        self._pool.deadlines.add(self)

    def data_received(self, data: bytes) -> None:
        """Bytes of an answer."""
        if self._future is None and self._stream is None:  # nobody asked
            self.abort()
            return
        reply = self._reply
        try:
            reply.feed(data)
        except Unusable as fault:
            self._fail(StepFailed("unusable", str(fault), sent=True))
            return
        if self._stream is not None:
            self._hand_on(self._stream)
        elif reply.whole:
            self._give(Answer(reply.status, reply.headers, reply.take()))
            self._finish()
        elif self._may_stream and reply.headed:
            self._begin_stream()

    def eof_received(self) -> None:
        """The step has closed; whether before it saw the request can only be told now."""
        self._pool.forget(self)
        self.unseen = self._used and not self._reply.began and _unacknowledged(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """The end, from either side."""
        self._pool.forget(self)
        self._pool.deadlines.discard(self)
        reply = self._reply
        if isinstance(exc, ConnectionResetError | BrokenPipeError):
            # A reset tells that the request, or a part of it, was thrown away unread.
            self.unseen = self._used and not reply.began
        if reply.end() and self._stream is not None:
            self._hand_on(self._stream)
        elif reply.whole:
            self._give(Answer(reply.status, reply.headers, reply.take()))
        else:
            self._fail(StepFailed("lost", "the step closed the connection early", sent=True))
        reply.close()

    def expire(self, now: float) -> None:
        """Idle for long enough, or too late."""
        self.deadline = inf
        if self._future is None and self._stream is None:
            self._pool.forget(self)
            self._transport.close()
        else:
            self._fail(StepFailed("late", "the step did not answer in time", sent=True))

    # What becomes of an answer.

    def _give(self, answer: Answer) -> None:
        future, self._future = self._future, None
        if future is not None and not future.done():
            future.set_result(answer)

    def _begin_stream(self) -> None:
        reply = self._reply
        length = length_of(reply.headers)
        stream = self._stream = Stream(
            self, self._pool.loop, length=length if length >= 0 else None
        )
        self.deadline = self._pool.loop.time() + QUIET
        self._give(Answer(reply.status, reply.headers, b"", stream))
        self._hand_on(stream)

    def _hand_on(self, stream: Stream) -> None:
        """What came of a stream since."""
        reply = self._reply
        if reply.body:
            stream.push(reply.take())
            self.deadline = self._pool.loop.time() + QUIET
        if reply.whole:
            self._stream = None
            stream.finish()
            self._finish()
        elif stream.full:
            self.pause()

    def _finish(self) -> None:
        """The answer is complete: the connection is free, if it can be used again."""
        self._used = True
        if self._reply.reusable:
            self._pool.give_back(self)
        else:
            self._pool.forget(self)
            self._transport.close()

    def _fail(self, failed: StepFailed) -> None:
        future, stream = self._future, self._stream
        self.abort()
        if future is not None and not future.done():
            future.set_exception(failed)
        if stream is not None:
            stream.fail(failed)


def _unacknowledged(transport: asyncio.BaseTransport) -> bool:
    """Whether the other side closed without having received all that was sent.

    Its kernel acknowledges what it received before the program can read it. So bytes without
    acknowledgement at the time of the end were never read by the one who ended. Where the
    system does not tell, they count as read: no request is sent twice on a guess.
    """
    sock = transport.get_extra_info("socket")
    try:
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 28)
    except (AttributeError, OSError):
        return False
    state, (unacknowledged,) = info[0], struct.unpack_from("=I", info, 24)
    return bool(unacknowledged) or state == _CLOSED


_CLOSED = 7
"""The state of a connection that was reset."""
