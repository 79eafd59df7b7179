"""HTTP/1.1 as bytes: what the server and the client of the router both write."""

from __future__ import annotations

import http
from collections.abc import AsyncIterator, Iterable

import orjson

HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    b"transfer-encoding upgrade".split()
)
"""Fields that are about one connection, so that none goes from one side to the other."""

CHUNKED_END = b"0\r\n\r\n"
TOGETHER = 65_536
"""Head and body up to this size are written as one piece; copying more costs more than it saves."""


def status_line(status: int) -> bytes:
    """``HTTP/1.1 200 OK``, with its end."""
    return _LINES.get(status) or b"HTTP/1.1 %d \r\n" % status


def _line(status: http.HTTPStatus) -> bytes:
    return b"HTTP/1.1 %d %b\r\n" % (status, status.phrase.encode())


_LINES = {int(status): _line(status) for status in http.HTTPStatus}


def fields(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Header fields as lines."""
    return b"".join([b"%b: %b\r\n" % field for field in headers])


def chunk(data: bytes) -> bytes:
    """One piece of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def named_in(connection: Iterable[bytes]) -> frozenset[bytes]:
    """The fields that values of Connection make hop-by-hop."""
    names = b",".join(connection).lower().split(b",")
    return frozenset(name.strip() for name in names)


def end_to_end(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers (names in lower case) without those about the connection."""
    named = named_in(value for name, value in headers if name == b"connection")
    return [field for field in headers if field[0] not in HOP_BY_HOP and field[0] not in named]


def error_body(cause: str) -> bytes:
    """The body of an answer that is the router's own, in the reference's form."""
    return orjson.dumps({"error": "Failed to process request", "cause": cause})


JSON = (b"content-type", b"application/json")


async def closed(stream: AsyncIterator[bytes]) -> None:
    """Give a stream up, if it is not at its end."""
    close = getattr(stream, "aclose", None)
    if close is not None:
        await close()
