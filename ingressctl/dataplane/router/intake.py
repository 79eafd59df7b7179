"""Requests out of bytes: strict, within limits, without a socket.

llhttp refuses what is ambiguous: two lengths, folded lines, bare line feeds, control
characters, bad chunks. What it lets pass although two readers could differ over it is
refused here: other codings than chunked, chunks in HTTP/1.0, no Host or two.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import httptools

from ingressctl.dataplane.router.heads import Heads, length_of
from ingressctl.dataplane.router.ports import Headers, Request
from ingressctl.dataplane.router.wire import HOP_BY_HOP, end_to_end, fields

LONGEST_LENGTH = 20
"""Digits of a Content-Length: 64 bits have no more, and llhttp does not count zeros in front."""

Phase = Literal["between", "head", "body"]


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest request. `body_bytes` of None is no limit."""

    head_bytes: int = 65_536
    body_bytes: int | None = 100 * 1024 * 1024


class Refusal(NamedTuple):
    """A request that is not taken: what it is answered with. The connection ends after it.

    `request` is as much of it as could be read, without its body."""

    status: int
    cause: str
    request: Request | None = None


class Taken(NamedTuple):
    """A request that is whole."""

    request: Request
    keep_alive: bool
    chunks: bool
    """Whether the client understands a chunked answer: HTTP/1.0 does not."""


Known = tuple[bytes, bytes, Headers, bool]
"""Method, target, headers, and whether chunks are understood."""


class _Refused(Exception):
    """Ends the parser where a request is refused."""


class Intake:
    """What one connection has sent. `arrived` holds what is whole, in order.

    After a Refusal, and after a request that ends the connection, nothing more is taken.
    """

    __slots__ = (
        "_body",
        "_expects",
        "_fresh",
        "_head_bytes",
        "_headers",
        "_heads",
        "_hops",
        "_hosts",
        "_keep_hops",
        "_limits",
        "_parser",
        "_size",
        "_upgrading",
        "_url",
        "arrived",
        "over",
        "phase",
    )

    def __init__(
        self, limits: Limits, *, keep_hops: bool = False, heads: Heads[Known] | None = None
    ) -> None:
        self._limits = limits
        self._heads = Heads[Known]() if heads is None else heads
        self._keep_hops = keep_hops
        self._parser: Any = httptools.HttpRequestParser(self)
        self.arrived: deque[Taken | Refusal] = deque()
        self.phase: Phase = "between"
        self.over = False
        self._expects = self._fresh = False
        self._begin()

    def follow(self, limits: Limits, heads: Heads[Known]) -> None:
        """Other limits from here on, and the heads that are within them."""
        self._limits, self._heads = limits, heads

    def feed(self, data: bytes) -> None:
        """Take what came."""
        if self.over:
            return
        if self.phase != "between":
            self._parse(data)
            return
        known = self._heads.find(data)
        if known is None:
            alone = not self.arrived
            self._parse(data)
            if alone:
                self._remember(data)
        else:
            (method, target, headers, chunks), body = known
            request = Request(method, target, headers, body)
            self.arrived.append(Taken(request, keep_alive=True, chunks=chunks))

    def _remember(self, data: bytes) -> None:
        """The head of a request that came at once, and lets the connection go on."""
        if self.phase == "between" and not self.over and len(self.arrived) == 1:
            (taken,) = self.arrived
            if isinstance(taken, Taken):
                request = taken.request
                known = (request.method, request.target, request.headers, taken.chunks)
                length = length_of(request.headers)
                if length == len(request.body):
                    self._heads.note(data, length, known)

    def _parse(self, data: bytes) -> None:
        """All of it: what follows a request with an Upgrade is read by another parser."""
        left: list[bytes | memoryview] = [data]
        while left and not self.over:
            piece = left.pop()
            at = self._read(piece)
            if at is not None and not self.over:
                if at < len(piece):
                    left.append(memoryview(piece)[at:])  # a copy for each would be quadratic
                left.append(self._without_upgrade())

    def _read(self, data: bytes | memoryview) -> int | None:
        """Give a piece to the parser; where it stopped because of an Upgrade."""
        self._fresh = False
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            return int(upgrade.args[0])
        except httptools.HttpParserCallbackError:
            if not self.over:
                raise
            return None
        except httptools.HttpParserInvalidMethodError:
            self._refuse(400, "the method is unknown")
        except httptools.HttpParserError:
            self._refuse(400, "the request is not well-formed HTTP/1.1")
        if self.phase == "head" and not self._fresh:
            self._head_bytes += len(data)
            if self._head_bytes > self._limits.head_bytes:
                self._refuse(431, "the header fields are too large")
        return None

    def cut(self) -> Request | None:
        """The request whose body is still incomplete, as far as it came."""
        if self.phase != "body":
            return None
        return Request(self._parser.get_method(), self._url, self._headers, b"".join(self._body))

    def readable(self) -> Request | None:
        """The request that is under way without its body, once its target is known."""
        if self.phase == "between" or not self._url or self._parser is None:
            return None
        return Request(self._parser.get_method(), self._url, self._headers, b"")

    def close(self) -> None:
        """Nothing more comes. The parser knows the intake, and nobody looks for circles."""
        self.over = True
        self._parser = None

    @property
    def wants_continue(self) -> bool:
        """Whether the client waits for leave to send its body; asking is answering."""
        wants = self._expects and self.phase == "body" and not self._body
        self._expects = False
        return wants

    def _begin(self) -> None:
        self._url = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: list[bytes] = []
        self._head_bytes = self._size = self._hosts = 0
        self._expects = self._upgrading = self._hops = False

    def _refuse(self, status: int, cause: str) -> None:
        if not self.over:
            self.over = True
            self.arrived.append(Refusal(status, cause, self.readable()))

    def _stop(self, status: int, cause: str) -> _Refused:
        self._refuse(status, cause)
        return _Refused()

    def _without_upgrade(self) -> bytes:
        """The head once more, for a parser that reads the body after it.

        Nobody has to follow an Upgrade, but llhttp takes what comes next for another protocol.
        Connection stays: it names what goes no further, and may end the connection.
        """
        parser = self._parser
        version = parser.get_http_version().encode()
        line = b"%b %b HTTP/%b\r\n" % (parser.get_method(), self._url, version)
        kept = fields(field for field in self._headers if field[0] != b"upgrade")
        self._parser = httptools.HttpRequestParser(self)
        return b"%b%b\r\n" % (line, kept)

    # What the parser calls.

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        self.phase = "head"
        self._fresh = True
        self._begin()

    def on_url(self, url: bytes) -> None:
        """A piece of the target."""
        self._url += url
        if len(self._url) > self._limits.head_bytes:
            raise self._stop(414, "the target is too long")

    def on_header(self, name: bytes, value: bytes) -> None:
        """One field, or one after a chunked body, which nobody needs."""
        if self.phase == "body":
            self._head_bytes += len(name) + len(value)
            if self._head_bytes > self._limits.head_bytes:
                raise self._stop(431, "the trailer fields are too large")
            return
        name = name.lower()
        self._headers.append((name, value))
        self._size += len(name) + len(value) + 4
        if self._size > self._limits.head_bytes:
            raise self._stop(431, "the header fields are too large")
        if name in _NOTED:
            self._note(name, value)

    def _note(self, name: bytes, value: bytes) -> None:
        """A field that says where the request ends, or whom it is for."""
        if name in HOP_BY_HOP:
            self._hops = True
        if name == b"host":
            self._hosts += 1
        elif name == b"expect":
            self._expects = value.lower() == b"100-continue"
        elif name == b"transfer-encoding":
            if value.strip().lower() != b"chunked":
                raise self._stop(400, "only the coding chunked can be read")
        elif name == b"content-length":
            if len(value) > LONGEST_LENGTH:
                raise self._stop(400, "the Content-Length is too long for a number")
            limit = self._limits.body_bytes
            if limit is not None and int(value) > limit:
                raise self._stop(413, f"the body is larger than {limit} bytes")

    def on_headers_complete(self) -> None:
        """The end of the fields."""
        parser = self._parser
        version = parser.get_http_version()
        if version == "1.1":
            if self._hosts != 1:
                raise self._stop(400, "there must be one Host")
        elif version != "1.0":
            raise self._stop(505, "only HTTP/1.1 and HTTP/1.0 are spoken")
        elif self._hosts > 1 or any(name == b"transfer-encoding" for name, _ in self._headers):
            raise self._stop(400, "HTTP/1.0 has one Host and no chunks")
        if parser.should_upgrade():
            if parser.get_method() == b"CONNECT":
                raise self._stop(405, "only POST runs the graph")
            self._upgrading = True
        self._expects = self._expects and version == "1.1"
        self.phase = "body"
        self._size = self._head_bytes = 0

    def on_body(self, data: bytes) -> None:
        """A piece of the body."""
        self._body.append(data)
        self._size += len(data)
        limit = self._limits.body_bytes
        if limit is not None and self._size > limit:
            raise self._stop(413, f"the body is larger than {limit} bytes")

    def on_message_complete(self) -> None:
        """The end of a request."""
        if self._upgrading:
            return
        parser, body, headers = self._parser, self._body, self._headers
        if self._hops and not self._keep_hops:
            headers = end_to_end(headers)
        whole = body[0] if len(body) == 1 else b"".join(body)
        request = Request(parser.get_method(), self._url, headers, whole)
        keep = parser.should_keep_alive()
        self.arrived.append(Taken(request, keep, parser.get_http_version() == "1.1"))
        self.phase = "between"
        self._headers, self._body = [], []
        if not keep:
            self.over = True


_NOTED = HOP_BY_HOP | {b"host", b"expect", b"content-length"}
