"""Streams that are held open: events, a WebSocket and a gRPC call in both directions.

Each has a beat. One that ends, or of which nothing is heard, before `close` was cut.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import aiohttp
import grpc.aio

EVERY, SILENCE = 0.5, 20.0
METHOD = "/inference.GRPCInferenceService/ModelStreamInfer"


class Streams:
    """All that were opened, and what became of them."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._tasks: list[asyncio.Task[None]] = []
        self.opened: list[str] = []
        self.cut: list[str] = []

    async def open(self, host: str, when: str) -> None:
        """One of each sort, which have all begun to beat. Raises TimeoutError."""
        sorts: tuple[Callable[[str], AsyncIterator[None]], ...] = (
            self._events,
            self._socket,
            self._call,
        )
        await asyncio.gather(
            *(self._hold(f"{sort.__name__[1:]} {when}", sort(host)) for sort in sorts)
        )

    async def close(self) -> None:
        """End them all."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _hold(self, name: str, beats: AsyncIterator[None]) -> None:
        begun = asyncio.Event()
        task = asyncio.create_task(self._listen(name, beats, begun))
        self._tasks.append(task)
        async with asyncio.timeout(SILENCE):
            await begun.wait()

    async def _listen(self, name: str, beats: AsyncIterator[None], begun: asyncio.Event) -> None:
        self.opened.append(name)
        why = "it ended"
        try:
            while True:
                async with asyncio.timeout(SILENCE):
                    await anext(beats)
                begun.set()
        except StopAsyncIteration:
            pass
        except Exception as fault:
            why = f"{type(fault).__name__}: {fault}"
        self.cut.append(f"{name}: {why}")

    async def _events(self, host: str) -> AsyncIterator[None]:
        url = f"http://{self._address}/events?count=100000&every={EVERY}"
        async with _session() as session, session.get(url, headers={"Host": host}) as answer:
            answer.raise_for_status()
            async for line in answer.content:
                if line.startswith(b"data: "):
                    yield

    async def _socket(self, host: str) -> AsyncIterator[None]:
        url = f"http://{self._address}/socket"
        async with _session() as session, session.ws_connect(url, headers={"Host": host}) as socket:
            while True:
                await socket.send_str("beat")
                if await socket.receive_str() != "beat":
                    return
                yield
                await asyncio.sleep(EVERY)

    async def _call(self, host: str) -> AsyncIterator[None]:
        options = [("grpc.default_authority", host), ("grpc.use_local_subchannel_pool", 1)]
        async with grpc.aio.insecure_channel(self._address, options=options) as channel:
            call = channel.stream_stream(METHOD)()
            while True:
                await call.write(b"beat")
                if await call.read() != b"beat":
                    return
                yield
                await asyncio.sleep(EVERY)


def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None))
