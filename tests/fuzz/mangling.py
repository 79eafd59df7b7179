"""Messages of HTTP/1.1, and what may become of them: bytes for two readers to differ over."""

from __future__ import annotations

import itertools
import random

CHUNKED = b"POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

REQUESTS = (
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
    b"POST /v1/models/m:predict?x=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
    CHUNKED + b"5\r\nhello\r\n3;e=x\r\nyou\r\n0\r\n\r\n",
    CHUNKED + b"1\r\nx\r\n0\r\nT: y\r\n\r\n",
    b"GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n",
    b"POST /n HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\nContent-Length:1\r\n\r\nz",
    b"POST /e HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
    b"POST /0 HTTP/1.0\r\nContent-Length: 1\r\n\r\nq",
    b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
)

ANSWERS = (
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.0 200 OK\r\n\r\nuntil the end",
    b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 1\r\nX: y\r\n\r\n!",
)

PIECES = (
    b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"\n\n", b" ", b"\t", b"\0", b":", b";", b",", b"\x0b",
    b"\xff", b"\x80", b"0", b"1", b"5", b"f", b"+", b"-", b"0x5", b"00005", b"4294967296",
    b"18446744073709551616", b"0\r\n\r\n", b"5\r\nhello\r\n",
    b"Content-Length: 5\r\n", b"Content-Length: 0\r\n", b"Content-Length: 5, 5\r\n",
    b"Content-Length : 5\r\n", b"content-length:5\r\n", b"Content-Length:\r\n 5\r\n",
    b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: identity\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n", b"Transfer-Encoding:\x0bchunked\r\n",
    b"Transfer-Encoding : chunked\r\n", b"Transfer-Encoding: chunked, chunked\r\n",
    b"Transfer-Encoding: xchunked\r\n", b"transfer-encoding:chunked\r\n", b"TE: trailers\r\n",
    b"Connection: close\r\n", b"Connection: Content-Length\r\n", b"Host: b\r\n", b"X: y\r\n",
    b" folded\r\n", b"X\r\n", b": y\r\n", b"Upgrade: x\r\n", b"HTTP/1.1", b"HTTP/1.0", b"HTTP/0.9",
    b"HTTP/2.0", b"GET ", b"POST ", b"CONNECT ", b"HEAD ", b"http://b/", b"*", b"#", b"%00",
)  # fmt: skip


def mangled(choose: random.Random, messages: tuple[bytes, ...]) -> bytes:
    """One to three messages with up to four changes."""
    data = bytearray(b"".join(choose.choices(messages, k=choose.randint(1, 3))))
    for _ in range(choose.choice((0, 1, 1, 1, 2, 2, 3, 4))):
        at = choose.randint(0, len(data))
        what = choose.randrange(6)
        if what == 0:
            data[at:at] = choose.choice(PIECES)
        elif what == 1:  # where a field, or a chunk, begins
            ends = [found for found in range(len(data)) if data[found - 2 : found] == b"\r\n"]
            at = choose.choice(ends or [0])
            data[at:at] = choose.choice(PIECES)
        elif what == 2:
            del data[at : at + choose.choice((1, 1, 2, 8))]
        elif what == 3 and at < len(data):
            data[at] = choose.randrange(256)
        elif what == 4:
            other = choose.choice(PIECES)
            data[at : at + len(other)] = other
        else:
            end = min(len(data), at + choose.randint(1, 20))
            data[at:at] = data[at:end]
    return bytes(data)


def cut(choose: random.Random, data: bytes) -> list[bytes]:
    """The same bytes in some pieces."""
    places = sorted(choose.sample(range(len(data) + 1), min(len(data), choose.randint(0, 4))))
    edges = [0, *places, len(data)]
    return [data[one:two] for one, two in itertools.pairwise(edges) if one < two]
