"""The client of a router case: one request as it is written, and what came back."""

from __future__ import annotations

import asyncio
import gzip
import json
from dataclasses import dataclass
from typing import Any

from tests.cases.router import stubs, wires

KEYS = frozenset(
    "method path headers body text gzipBody chunked repeat declaredLength hangUpAfter".split()
)
PATIENCE = 30.0


@dataclass(frozen=True)
class Answered:
    """An answer; `head` is None when the connection ended without one."""

    head: wires.Head | None
    body: bytes
    seconds: float


async def ask(port: int, written: dict[str, Any]) -> Answered:
    """Send one request on a connection of its own."""
    unknown = set(written) - KEYS
    assert not unknown, f"request: unknown keys {sorted(unknown)}"
    clock = asyncio.get_running_loop().time
    began = clock()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(_message(written, port))
        if "hangUpAfter" in written:
            await asyncio.sleep(written["hangUpAfter"])
            writer.transport.abort()
            return Answered(None, b"", clock() - began)
        async with asyncio.timeout(PATIENCE):
            head, body = await _answer(reader)
        return Answered(head, body, clock() - began)
    finally:
        writer.close()


async def _answer(reader: asyncio.StreamReader) -> tuple[wires.Head | None, bytes]:
    try:
        head = await wires.head(reader)
        if head is None:
            return None, b""
        return head, await wires.body(reader, head, to_end=True)
    except (ConnectionError, asyncio.IncompleteReadError):
        return None, b""


def _message(written: dict[str, Any], port: int) -> bytes:
    fields = [("Host", f"127.0.0.1:{port}")]
    for name, value in (written.get("headers") or {}).items():
        fields += [(name, one) for one in (value if isinstance(value, list) else [value])]
    if "chunked" in written:
        fields.append(("Transfer-Encoding", "chunked"))
        body = b"".join(_chunk(piece.encode()) for piece in (*written["chunked"], ""))
    else:
        body = payload(written)
        fields.append(("Content-Length", str(written.get("declaredLength", len(body)))))
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
    line = f"{written.get('method', 'POST')} {written.get('path', '/')} HTTP/1.1\r\n"
    return f"{line}{lines}\r\n".encode() + body


def _chunk(piece: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece)


def payload(written: dict[str, Any]) -> bytes:
    """The body of a request."""
    if "gzipBody" in written:
        return gzip.compress(json.dumps(written["gzipBody"]).encode())
    if "repeat" in written:
        return (written["repeat"]["text"] * written["repeat"]["count"]).encode()
    return stubs.payload(written)
