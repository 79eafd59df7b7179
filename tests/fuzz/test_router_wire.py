"""Bytes that are no good HTTP: the router refuses, or understands what others understand.

Requests in a row are read by the router and by aiohttp's reader in Python, and those with a
length by that of the standard library. Where two take a request for whole they must agree
where it ends: that is what request smuggling lives from. `INGRESSCTL_FUZZ=N` tries 10 N
others.
"""

from __future__ import annotations

import asyncio
import io
import os
import random
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any
from unittest import mock

import aiohttp
import pytest
from aiohttp import http_exceptions, http_parser
from aiohttp.base_protocol import BaseProtocol

from ingressctl.dataplane.router.heads import Heads
from ingressctl.dataplane.router.intake import Intake, Known, Limits, Refusal, Taken
from ingressctl.dataplane.router.replies import Known as KnownReply
from ingressctl.dataplane.router.replies import Reply, Unusable
from tests.fuzz.mangling import ANSWERS, REQUESTS, cut, mangled

EXAMPLES = 10 * int(os.environ.get("INGRESSCTL_FUZZ", "10000"))
PARTS = 8
LIMITS = Limits(head_bytes=4096, body_bytes=10_000)
One = tuple[bytes, bytes]
"""Target and body."""


def examples(part: int, messages: tuple[bytes, ...]) -> Iterator[tuple[random.Random, bytes]]:
    seed = part if "INGRESSCTL_FUZZ" not in os.environ else random.randrange(1 << 32)
    choose = random.Random(seed)
    for _ in range(EXAMPLES // PARTS):
        yield choose, mangled(choose, messages)


def ours(pieces: list[bytes], heads: Heads[Known]) -> tuple[list[One], int]:
    """The requests that the router takes, and the status of a refusal."""
    intake = Intake(LIMITS, heads=heads)
    for piece in pieces:
        intake.feed(piece)
    taken = [item for item in intake.arrived if isinstance(item, Taken)]
    refused = [item for item in intake.arrived if isinstance(item, Refusal)]
    intake.close()
    assert len(refused) <= 1
    found = [(item.request.target, item.request.body) for item in taken]
    return found, refused[0].status if refused else 0


class _Transport(mock.Mock):
    def get_write_buffer_size(self) -> int:
        return 0


@pytest.mark.parametrize("part", range(PARTS))
async def test_no_reader_finds_another_end(part: int) -> None:
    heads = Heads[Known]()
    compared = refused = 0
    for choose, data in examples(part, REQUESTS):
        seen, status = ours([data], heads)
        assert ours(cut(choose, data), Heads[Known]()) == (seen, status), data
        refused += bool(status)
        for other in (by_aiohttp(data), by_library(data)):
            for (target, body), (its_target, its_body) in zip(seen, other, strict=False):
                compared += 1
                assert body == its_body, data
                # The standard library makes one slash of several at the beginning.
                assert target.lstrip(b"/") == its_target.lstrip(b"/"), data
    assert compared > EXAMPLES // PARTS // 2, "the examples are not all refused"
    assert refused > EXAMPLES // PARTS // 4, "nor all well-formed"


def by_aiohttp(data: bytes) -> list[One]:
    """The requests that aiohttp's reader in Python finds whole, until it refuses."""
    loop = asyncio.get_running_loop()
    protocol = BaseProtocol(loop)
    parser = http_parser.HttpRequestParserPy(protocol, loop, 2**16, max_line_size=8190)
    found: list[One] = []
    try:
        messages, _, _ = parser.feed_data(data)
    except (http_exceptions.HttpProcessingError, ValueError):
        return []
    for message, payload in messages:
        if not payload.is_eof():
            break
        body = b"".join(chunk for chunk in getattr(payload, "_buffer", ()))
        found.append((message.path.encode("utf-8", "surrogateescape"), body))
    return found


class _Library(BaseHTTPRequestHandler):
    """The reader of the standard library, which knows nothing of chunks."""

    def __init__(self, data: bytes) -> None:
        self.rfile, self.wfile = io.BytesIO(data), io.BytesIO()
        self.client_address = ("", 0)
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        pass


def by_library(data: bytes) -> list[One]:
    handler = _Library(data)
    found: list[One] = []
    while True:
        handler.raw_requestline = handler.rfile.readline(65537)
        if not handler.raw_requestline.strip() or not handler.parse_request():
            return found
        lengths = handler.headers.get_all("Content-Length", [])
        if handler.headers.get_all("Transfer-Encoding") or len(lengths) > 1:
            return found
        if lengths and not (lengths[0].isascii() and lengths[0].isdigit()):
            return found
        size = int(lengths[0]) if lengths else 0
        body = handler.rfile.read(min(size, 1 << 20))
        if len(body) < size:
            return found
        found.append((handler.path.encode("latin-1"), body))


def answered(pieces: list[bytes], heads: Heads[KnownReply]) -> tuple[int, bytes] | None:
    """The first answer that the router takes, at the end of the connection at the latest."""
    reply = Reply(10_000, heads)
    reply.expect()
    try:
        for piece in pieces:
            reply.feed(piece)
            if reply.whole:
                break
        reply.end()
    except Unusable:
        return None
    finally:
        reply.close()
    return (reply.status, reply.take()) if reply.whole else None


@pytest.mark.parametrize("part", range(PARTS))
async def test_an_answer_is_understood_or_refused(part: int) -> None:
    heads = Heads[KnownReply]()
    compared = refused = 0
    for choose, data in examples(part, ANSWERS):
        seen = answered([data], heads)
        pieces = cut(choose, data)
        assert answered(pieces, Heads[KnownReply]()) == seen, data
        assert answered(pieces, heads) == seen, data
        refused += seen is None
        other = answer_by_aiohttp(data)
        if seen is not None and other is not None:
            compared += 1
            assert seen == other, data
    assert compared > EXAMPLES // PARTS // 4
    assert refused > EXAMPLES // PARTS // 8


def answer_by_aiohttp(data: bytes) -> tuple[int, bytes] | None:
    """The first final answer that aiohttp's reader in Python finds whole."""
    loop = asyncio.get_running_loop()
    protocol = BaseProtocol(loop)
    parser = http_parser.HttpResponseParserPy(
        protocol, loop, 2**16, max_line_size=8190, read_until_eof=True
    )
    try:
        messages, _, _ = parser.feed_data(data)
        parser.feed_eof()
    except (http_exceptions.HttpProcessingError, aiohttp.ClientError, ValueError):
        return None
    for message, payload in messages:
        if message.code >= 200:
            if not payload.is_eof() or payload.exception() is not None:
                return None
            return message.code, b"".join(getattr(payload, "_buffer", ()))
    return None
