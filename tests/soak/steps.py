"""Model servers that do what such servers do on bad days."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Awaitable, Callable

from tests.unit.dataplane.wire.sockets import of, received

Reader, Writer = asyncio.StreamReader, asyncio.StreamWriter
Behave = Callable[[Reader, Writer], Awaitable[bool]]
"""Answers one request; whether the connection goes on."""

JSON = b"Content-Type: application/json"


async def well(reader: Reader, writer: Writer) -> bool:
    writer.write(of(b'{"predictions":[1,2,3]}', JSON))
    return True


async def slow(reader: Reader, writer: Writer) -> bool:
    await asyncio.sleep(0.02)
    return await well(reader, writer)


async def sick(reader: Reader, writer: Writer) -> bool:
    writer.write(of(b'{"error":"overloaded"}', JSON, status=b"503 Service Unavailable"))
    return True


async def hangs(reader: Reader, writer: Writer) -> bool:
    await reader.read(1)  # until the router has had enough
    return False


async def broken(reader: Reader, writer: Writer) -> bool:
    """Ends early, in one of many ways."""
    writer.write(random.choice(BROKEN))
    with contextlib.suppress(ConnectionError):
        await writer.drain()
    return False


BROKEN = (
    b"",
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
    b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    b"not HTTP at all\r\n\r\n",
)


async def leaves(reader: Reader, writer: Writer) -> bool:
    """Answers, and ends the connection at about the time of the next request, unread."""
    await well(reader, writer)
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    await asyncio.sleep(random.random() * 0.01)
    return False


class Steps:
    """One server for each way to behave; `comes_and_goes` listens only at times."""

    WAYS: dict[str, Behave] = {  # noqa: RUF012 - it is a table
        "well": well,
        "slow": slow,
        "sick": sick,
        "hangs": hangs,
        "broken": broken,
        "leaves": leaves,
    }

    def __init__(self) -> None:
        self.ports: dict[str, int] = {}
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        for name, behave in self.WAYS.items():
            self.ports[name] = await self._listen(behave, 0)
        self.ports["comes_and_goes"] = await self._listen(well, 0)
        self._tasks.add(asyncio.create_task(self._come_and_go(self._servers.pop())))

    async def _listen(self, behave: Behave, port: int) -> int:
        async def serve(reader: Reader, writer: Writer) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._tasks.add(task)
            try:
                await received(reader)
                while await behave(reader, writer):
                    await received(reader)
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass
            finally:
                self._tasks.discard(task)
                writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", port, backlog=1024)
        self._servers.append(server)
        found: int = server.sockets[0].getsockname()[1]
        return found

    async def _come_and_go(self, server: asyncio.Server) -> None:
        try:
            while True:
                await asyncio.sleep(0.3)
                server.close()
                await asyncio.sleep(0.2)
                await self._listen(well, self.ports["comes_and_goes"])
                server = self._servers.pop()
        finally:
            server.close()

    @property
    def open(self) -> int:
        """Connections of the router that are open."""
        return len(self._tasks) - 1

    async def stop(self) -> None:
        for server in self._servers:
            server.close()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextlib.asynccontextmanager
async def running() -> AsyncIterator[Steps]:
    steps = Steps()
    await steps.start()
    try:
        yield steps
    finally:
        await steps.stop()
