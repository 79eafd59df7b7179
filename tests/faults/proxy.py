"""The proxy itself: every request goes on to the server behind it, or meets its fault."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from types import TracebackType

import aiohttp
from aiohttp import web

from tests.apiserver.statuses import status
from tests.faults.faulty import Fault, Faults

_CODES: dict[Fault, tuple[int, str]] = {
    "conflict": (409, "the object has been modified; please apply your changes to it"),
    "expired": (410, "too old resource version"),
    "busy": (429, "too many requests, please try again later"),
    "broken": (500, "etcdserver: leader changed"),
}
_HOP = frozenset({"connection", "transfer-encoding", "content-length", "host", "content-encoding"})


class Cut(Exception):
    """The connection is closed without another byte."""


class FaultProxy:
    """Before `upstream`; use as an async context manager. `trust` is for https."""

    def __init__(self, upstream: str, faults: Faults, *, trust: ssl.SSLContext | None = None):
        self._upstream = upstream.rstrip("/")
        self._trust = trust
        self.faults = faults
        self.requests = 0
        self.url = ""

    async def __aenter__(self) -> FaultProxy:
        connector = aiohttp.TCPConnector(limit=0, ssl=self._trust or True)
        self._session = aiohttp.ClientSession(
            connector=connector, timeout=aiohttp.ClientTimeout(total=None), auto_decompress=False
        )
        app = web.Application(client_max_size=1 << 26)
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(
            app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for connection in self._runner.server.connections if self._runner.server else ():
            if connection.transport is not None:
                connection.transport.abort()  # one that a stalled client never empties stays open
        await self._runner.cleanup()
        await self._session.close()
        await asyncio.sleep(0.25)  # transports close their sockets in the turns after

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.requests += 1
        is_watch = request.query.get("watch") == "true"
        is_list = "limit" in request.query
        fault = self.faults.choose(request.method, is_watch=is_watch, is_list=is_list)
        try:
            return await self._met(request, fault, is_watch=is_watch)
        except (Cut, aiohttp.ClientError, ConnectionError):
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=502)

    async def _met(
        self, request: web.Request, fault: Fault | None, *, is_watch: bool
    ) -> web.StreamResponse:
        if fault in _CODES:
            return self._refusal(fault)
        if fault == "refused":
            raise Cut
        if fault == "slow":
            await self._pause()
        body = await request.read()
        headers = {key: value for key, value in request.headers.items() if key.lower() not in _HOP}
        async with self._session.request(
            request.method, f"{self._upstream}{request.raw_path}", headers=headers, data=body
        ) as answer:
            if is_watch and answer.status == 200:
                return await self._stream(request, answer, fault)
            return await self._whole(request, answer, fault)

    def _refusal(self, fault: Fault) -> web.Response:
        code, text = _CODES[fault]
        told = {"Retry-After": str(self.faults.timing.retry_after)} if code == 429 else None
        return web.json_response(status(code, text), status=code, headers=told)

    async def _whole(
        self, request: web.Request, answer: aiohttp.ClientResponse, fault: Fault | None
    ) -> web.StreamResponse:
        data = await answer.read()
        if fault == "lost":
            raise Cut
        if fault == "late":
            await self._pause()
        made = web.StreamResponse(status=answer.status, headers=_kept(answer))
        made.content_length = len(data)
        await made.prepare(request)
        if fault == "half":
            await made.write(data[: len(data) // 2])
            raise Cut
        await made.write(data)
        await made.write_eof()
        return made

    async def _stream(
        self, request: web.Request, answer: aiohttp.ClientResponse, fault: Fault | None
    ) -> web.StreamResponse:
        made = web.StreamResponse(status=answer.status, headers=_kept(answer))
        made.enable_chunked_encoding()
        await made.prepare(request)
        life = self.faults.seconds(self.faults.timing.life) if fault in ("cut", "stall") else None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(life):
                async for chunk in answer.content.iter_any():
                    await made.write(chunk)
        if fault == "cut":
            await made.write(b'{"type":"MODIFIED","object":{"kind":')
            raise Cut
        if fault == "stall":
            await asyncio.sleep(3600)  # until the client goes
        await made.write_eof()
        return made

    async def _pause(self) -> None:
        await asyncio.sleep(self.faults.seconds(self.faults.timing.delay))


def _kept(answer: aiohttp.ClientResponse) -> dict[str, str]:
    return {key: value for key, value in answer.headers.items() if key.lower() not in _HOP}
