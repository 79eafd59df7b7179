"""HTTP/1.1 for tests, from streams: a head, a body, nothing clever."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass


@dataclass(frozen=True)
class Head:
    """The first line and the fields of a message, as they came."""

    line: str
    fields: tuple[tuple[str, str], ...]

    def all(self, name: str) -> list[str]:
        return [value for field, value in self.fields if field.lower() == name.lower()]

    def one(self, name: str) -> str | None:
        return next(iter(self.all(name)), None)

    @property
    def method(self) -> str:
        return self.line.split(" ")[0]

    @property
    def path(self) -> str:
        return self.line.split(" ")[1]

    @property
    def status(self) -> int:
        return int(self.line.split(" ")[1])


async def head(reader: asyncio.StreamReader) -> Head | None:
    """The next head; None at the end of the connection."""
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise
        return None
    line, *lines = raw.decode("latin-1").rstrip("\r\n").split("\r\n")
    fields = (field.partition(":") for field in lines)
    return Head(line, tuple((name, value.strip()) for name, _, value in fields))


async def body(reader: asyncio.StreamReader, head: Head, *, to_end: bool = False) -> bytes:
    """The body of a message; `to_end` for an answer that ends with its connection."""
    length = head.one("Content-Length")
    if length is not None:
        return await reader.readexactly(int(length))
    if (head.one("Transfer-Encoding") or "").lower() == "chunked":
        return b"".join([piece async for piece in chunks(reader)])
    return await reader.read() if to_end else b""


async def chunks(reader: asyncio.StreamReader):  # type: ignore[no-untyped-def]
    """The pieces of a chunked body as they come."""
    while True:
        size = int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)
        piece = await reader.readexactly(size)
        await reader.readuntil(b"\r\n")
        if not size:
            return
        yield piece
