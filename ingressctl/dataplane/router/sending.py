"""Answers as bytes on one connection of a client: whole in one write, or piece by piece."""

from __future__ import annotations

import asyncio

from ingressctl.dataplane.router import wire
from ingressctl.dataplane.router.ports import Answer, Headers

HIGH_WATER = 262_144
"""So much of an answer may wait in the process until the client reads on."""


class Sender:
    """Writes to one client. `keep` says whether the connection outlives the answer, `chunks`
    whether the client understands chunks, `stuck` that it does not read.
    """

    __slots__ = ("_loop", "_resume", "_transport", "chunks", "gone", "keep", "stuck")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        transport.set_write_buffer_limits(high=HIGH_WATER)
        self._transport = transport
        self._loop = loop
        self._resume: asyncio.Future[None] | None = None
        self.keep = self.chunks = True
        self.stuck = self.gone = False

    def whole(
        self, status: int, headers: Headers, body: bytes, *, date: bytes, bare: bool = False
    ) -> None:
        """An answer with all its bytes; `bare` leaves the body out, as HEAD wants."""
        bodiless = status in _BODILESS
        length = b"" if bodiless else b"Content-Length: %d\r\n" % len(body)
        head = self._head(status, headers, length, date)
        if bodiless or bare:
            self._transport.write(head)
        elif len(body) < wire.TOGETHER:
            self._transport.write(head + body)
        else:
            self._transport.writelines((head, body))

    async def pieces(self, answer: Answer, *, date: bytes) -> int:
        """An answer with a stream, each piece once the client has room; how many bytes.

        What the stream raises comes through when the head has gone out already: the connection
        cannot be of use any more then.
        """
        assert answer.stream is not None
        length: int | None = getattr(answer.stream, "length", None)
        chunked = length is None and self.chunks
        if length is not None:
            framing = b"Content-Length: %d\r\n" % length
        elif chunked:
            framing = b"Transfer-Encoding: chunked\r\n"
        else:
            framing, self.keep = b"", False
        self._write(self._head(answer.status, answer.headers, framing, date))
        sent = 0
        async for piece in answer.stream:
            if piece:
                sent += len(piece)
                self._write(wire.chunk(piece) if chunked else piece)
                await self.room()
        if chunked:
            self._write(wire.CHUNKED_END)
        return sent

    async def room(self) -> None:
        """Until the client has read so much that more may be written."""
        if self.stuck and not self.gone:
            self._resume = self._loop.create_future()
            await self._resume
            self._resume = None

    def resume(self) -> None:
        """There is room, or nobody left."""
        self.stuck = False
        if self._resume is not None and not self._resume.done():
            self._resume.set_result(None)

    def _write(self, data: bytes) -> None:
        if not self.gone:
            self._transport.write(data)

    def _head(self, status: int, headers: Headers, framing: bytes, date: bytes) -> bytes:
        """Status and fields; `framing` tells where the body ends."""
        lines = wire.fields([field for field in headers if field[0] not in _OURS])
        if self.keep:
            connection = b"" if self.chunks else b"Connection: keep-alive\r\n"
        else:
            connection = b"Connection: close\r\n"
        return b"%b%b%b%b%b\r\n" % (wire.status_line(status), date, lines, framing, connection)


_BODILESS = frozenset((204, 304))

_OURS = frozenset((b"content-length", b"date"))
"""Fields of an answer that only who sends it knows: a step's would stand beside our own."""
