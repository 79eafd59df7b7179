"""Helpers: raw clients of the router's server, and scripted model servers for its client."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Self

from ingressctl.dataplane.router.admission import Admission
from ingressctl.dataplane.router.ports import Answer, Request, Target
from ingressctl.dataplane.router.server import Server
from ingressctl.dataplane.router.settings import Settings

Run = Callable[[Request], Awaitable[Answer]]
Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Echo:
    """An engine that answers with the body, and keeps the requests."""

    def __init__(self) -> None:
        self.seen: list[Request] = []

    async def run(self, request: Request) -> Answer:
        self.seen.append(request)
        return Answer(200, ((b"content-type", b"text/plain"),), request.body)


class Running:
    """An engine made of a function."""

    def __init__(self, run: Run) -> None:
        self.run = run


@asynccontextmanager
async def serving(
    engine: Echo | Running, settings: Settings | None = None, **more: object
) -> AsyncIterator[tuple[Server, int]]:
    """A server on a port of its own."""
    server = Server(engine, settings or Settings(), **more)  # type: ignore[arg-type]
    sock = socket.create_server(("127.0.0.1", 0))
    await server.listen(sock)
    try:
        yield server, sock.getsockname()[1]
    finally:
        server.close()
        await asyncio.sleep(0)


class Raw:
    """A client that sends what a test says."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def to(cls, port: int) -> Self:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def head(self) -> tuple[int, dict[bytes, bytes]]:
        """Status and headers of the next answer."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        first, *lines = head[:-4].split(b"\r\n")
        pairs = (line.split(b": ", 1) for line in lines)
        return int(first.split()[1]), {name.lower(): value for name, value in pairs}

    async def answer(self) -> tuple[int, bytes]:
        """The next answer, whose length is given."""
        status, headers = await self.head()
        return status, await self.reader.readexactly(int(headers[b"content-length"]))

    async def rest(self) -> bytes:
        """All until the server closes."""
        return await self.reader.read()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(ConnectionError):
            await self.writer.wait_closed()


@asynccontextmanager
async def several(port: int, number: int) -> AsyncIterator[list[Raw]]:
    """So many connected clients."""
    clients = [await Raw.to(port) for _ in range(number)]
    try:
        yield clients
    finally:
        for client in clients:
            await client.close()


async def asked(port: int, data: bytes) -> bytes:
    """All that a server answers to some bytes until it closes."""
    async with await Raw.to(port) as client:
        client.send(data)
        return await client.rest()


def post(body: bytes = b"", *lines: bytes, target: bytes = b"/") -> bytes:
    """A request of a well-behaved client."""
    fields = b"".join(line + b"\r\n" for line in (b"Host: graph", *lines))
    return b"POST %b HTTP/1.1\r\n%bContent-Length: %d\r\n\r\n%b" % (target, fields, len(body), body)


@asynccontextmanager
async def scripted(script: Script) -> AsyncIterator[Target]:
    """A step that does on each connection what a script says."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await script(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield target(port)
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def target(port: int, **more: bool) -> Target:
    return Target(
        host="127.0.0.1",
        port=port,
        path=b"/v1/models/m:predict",
        authority=b"127.0.0.1:%d" % port,
        **{"tls": False, **more},
    )


async def received(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """The next request of a script: head and body."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    return head, await reader.readexactly(length)


def of(body: bytes, *lines: bytes, status: bytes = b"200 OK") -> bytes:
    """An answer of a script with a length."""
    fields = b"".join(line + b"\r\n" for line in lines)
    return b"HTTP/1.1 %b\r\n%bContent-Length: %d\r\n\r\n%b" % (status, fields, len(body), body)


def few(limit: int, queue: int = 1024) -> Admission:
    return Admission(limit=limit, queue=queue)
