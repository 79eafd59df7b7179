"""Answers of a step out of bytes, without a socket: the counterpart of intake.py."""

from __future__ import annotations

from typing import Any

import httptools

from ingressctl.dataplane.router.heads import Heads, length_of
from ingressctl.dataplane.router.wire import HOP_BY_HOP, end_to_end

HEAD_BYTES = 262_144
"""The largest head of an answer."""


Known = tuple[int, list[tuple[bytes, bytes]]]
"""Status and headers."""


class Unusable(Exception):
    """What came is not an answer that can be handed on. The text is for people."""


class Reply:
    """One answer after another of one connection.

    `began` is True as soon as a byte of the present answer came, `headed` when its head is
    there, `whole` when it is complete. `until_end` says that only the end of the connection
    ends the body. `reusable` is whether another request may follow.
    """

    __slots__ = (
        "_awaited",
        "_between",
        "_fault",
        "_headers",
        "_heads",
        "_hops",
        "_parser",
        "_size",
        "began",
        "body",
        "headed",
        "headers",
        "limit",
        "reusable",
        "status",
        "until_end",
        "whole",
    )

    def __init__(self, limit: int, heads: Heads[Known] | None = None) -> None:
        self._heads = Heads[Known]() if heads is None else heads
        self._parser: Any = httptools.HttpResponseParser(self)
        self.limit = limit
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.body: list[bytes] = []
        self._headers: list[tuple[bytes, bytes]] = []
        self._awaited = self._hops = False
        self._between = True
        self._size = 0
        self._fault: Unusable | None = None
        self.began = self.headed = self.whole = self.until_end = False
        self.reusable = True

    def expect(self) -> None:
        """A request goes out now; what comes from here on is its answer."""
        self.body = []
        self._size = 0
        self._awaited = True
        self.began = self.headed = self.whole = self.until_end = False

    def feed(self, data: bytes) -> None:
        """Take what came. Raises Unusable."""
        if self.began or not self._awaited:
            self._parse(data)
            return
        self.began = True
        known = self._heads.find(data)
        if known is None:
            self._parse(data)
            self._remember(data)
        else:
            (self.status, self.headers), body = known
            self.body = [body]
            self.headed = self.whole = True
            self._awaited = False

    def _remember(self, data: bytes) -> None:
        """The head of an answer that came at once, and lets the connection go on."""
        if self.whole and self.reusable:
            length = length_of(self.headers)
            if length >= 0 and self._size == length:
                self._heads.note(data, length, (self.status, self.headers))

    def _parse(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            raise Unusable("the protocol was changed without being asked") from None
        except httptools.HttpParserCallbackError:
            fault, self._fault = self._fault, None
            if fault is None:
                raise
            if not self.whole:
                raise fault from None
        except httptools.HttpParserError:
            if not self.whole:
                raise Unusable("the answer is not well-formed HTTP/1.1") from None
        if self.whole and not self._between:  # what follows an answer does not spoil that one
            self.reusable = False
        if not self.headed and not self.whole:
            self._grow(len(data), HEAD_BYTES, "the head of the answer is too large")

    def end(self) -> bool:
        """The connection has ended; whether that completes the answer."""
        if self.headed and self.until_end:
            self.whole = True
        self.reusable = False
        return self.whole

    def close(self) -> None:
        """Nothing more comes. The parser knows the reply, and nobody looks for circles."""
        self._parser = None

    def _grow(self, by: int, limit: int, text: str) -> None:
        self._size += by
        if self._size > limit:
            self._fault = Unusable(text)
            raise self._fault

    # What the parser calls.

    def on_message_begin(self) -> None:
        """The first byte of an answer, which somebody must have asked for."""
        self._between = False
        if not self._awaited:
            self._fault = Unusable("an answer came that nobody had asked for")
            raise self._fault
        self._headers = []
        self._hops = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """One field, or one after a chunked body, which nobody needs."""
        if self.headed:
            return
        name = name.lower()
        if name in HOP_BY_HOP:
            self._hops = True
        self._headers.append((name, value))
        self._grow(len(name) + len(value), HEAD_BYTES, "the head of the answer is too large")

    def on_headers_complete(self) -> None:
        """The end of the fields; those of a provisional answer are forgotten."""
        status = self._parser.get_status_code()
        if status < 200:
            if status == 101 or status < 100:
                self._fault = Unusable(f"the status {status} is not an answer")
                raise self._fault
            return
        if self._hops:
            self._fault = _coding_fault(self._headers)
            if self._fault is not None:
                raise self._fault
        self.status = status
        self.until_end = not (
            status in (204, 304) or any(name in _LENGTHS for name, _ in self._headers)
        )
        self.headers = end_to_end(self._headers) if self._hops else self._headers
        self._size = 0
        self.headed = True

    def on_body(self, data: bytes) -> None:
        """A piece of the body."""
        self.body.append(data)
        self._grow(len(data), self.limit, f"the answer is larger than {self.limit} bytes")

    def on_message_complete(self) -> None:
        """The end of an answer, or of a provisional one."""
        if self.headed:
            self.whole = self._between = True
            self._awaited = False
            if not self._parser.should_keep_alive():
                self.reusable = False

    def take(self) -> bytes:
        """The body as far as it has come; what comes next is counted anew."""
        body, self.body = self.body, []
        self._size = 0
        return body[0] if len(body) == 1 else b"".join(body)


def _coding_fault(headers: list[tuple[bytes, bytes]]) -> Unusable | None:
    """Only chunked can be undone."""
    for name, value in headers:
        if name == b"transfer-encoding" and value.strip().lower() != b"chunked":
            return Unusable("the answer has a coding that cannot be undone")
    return None


_LENGTHS = frozenset((b"content-length", b"transfer-encoding"))
