"""The image `echo`: answers who it is and what it saw, over every protocol a route may carry.

One port for HTTP/1.1, WebSockets and events, and for HTTP/2 in clear text with gRPC; the first
bytes of a connection tell which. After SIGTERM it is not ready any more but still serves, until
no request is under way and DRAIN seconds are over. PORT, GRPC_PORT (one more of the same),
DRAIN and READY_AFTER are variables.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from ingressctl.proxy import stub_h2, stubs

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
PREFACE = b"PRI * HTTP/2.0"


class Echo:
    """The state of the server: whether it is ready, and what is under way."""

    def __init__(self) -> None:
        self.name = os.environ.get("HOSTNAME", "echo")
        self.namespace = os.environ.get("NAMESPACE", "default")
        self.port = int(os.environ.get("PORT", "8080"))
        self.ports = [self.port, *map(int, os.environ.get("GRPC_PORT", "").split())]
        self.version = os.environ.get("VERSION", "")
        self._ready_at = time.monotonic() + float(os.environ.get("READY_AFTER", "0"))
        self._drain = float(os.environ.get("DRAIN", "1"))
        self._failing = False
        self._busy = 0
        self._calls: set[asyncio.Transport] = set()
        self.ending = asyncio.Event()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Any request: by its path, else JSON."""
        self._busy += 1
        try:
            return await self._handler(request)(request)
        finally:
            self._busy -= 1

    async def drained(self) -> None:
        """Until requests that were under way have ended, and no more come."""
        await asyncio.sleep(self._drain)
        while self._busy or any(not one.is_closing() for one in self._calls):
            await asyncio.sleep(0.05)

    def called(self, connection: asyncio.Transport) -> None:
        """Somebody speaks HTTP/2, until that connection is closed."""
        self._calls = {one for one in self._calls if not one.is_closing()} | {connection}

    def identity(self) -> dict[str, Any]:
        """What the HTTP/2 side says of itself."""
        return {"pod": self.name, "namespace": self.namespace, "version": self.version}

    def _handler(self, request: web.Request) -> Handler:
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return stubs.echoed
        special: dict[str, Handler] = {
            "/ready": self._ready,
            "/fail": self._fail,
            "/exit": self._exit,
            "/slow": self._slow,
            "/events": _events,
        }
        return special.get(request.path, self._seen)

    async def _ready(self, request: web.Request) -> web.Response:
        is_ready = time.monotonic() >= self._ready_at and not self._failing
        return web.Response(status=200 if is_ready and not self.ending.is_set() else 503)

    async def _fail(self, request: web.Request) -> web.Response:
        """Not ready from now on, or again with ?off."""
        self._failing = "off" not in request.query
        return web.json_response({"failing": self._failing})

    async def _exit(self, request: web.Request) -> web.Response:
        """Crash with ?code=N."""
        os._exit(int(request.query.get("code", "1")))

    async def _slow(self, request: web.Request) -> web.Response:
        await asyncio.sleep(float(request.query.get("seconds", "1")))
        return await self._seen(request)

    async def _seen(self, request: web.Request) -> web.Response:
        body = await request.read()
        return web.json_response(
            {
                "pod": self.name,
                "namespace": self.namespace,
                "version": self.version,
                "port": self.port,
                "peer": request.remote,
                "host": request.headers.get("Host", ""),
                "method": request.method,
                "path": request.raw_path,
                "headers": {name.lower(): value for name, value in request.headers.items()},
                "body": body.decode(errors="replace"),
            },
            headers={"X-Pod": self.name},
        )


async def _events(request: web.Request) -> web.StreamResponse:
    stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await stream.prepare(request)
    with contextlib.suppress(ConnectionResetError):
        for number in range(int(request.query.get("count", "3"))):
            await stream.write(f"data: {number}\n\n".encode())
            await asyncio.sleep(float(request.query.get("every", "0.1")))
    return stream


class _Door(asyncio.Protocol):
    """Looks at the first bytes of a connection and hands it to whom they are meant for."""

    def __init__(self, echo: Echo, http1: web.Server) -> None:
        self._echo, self._http1 = echo, http1
        self._transport: asyncio.Transport | None = None
        self._first = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        self._first += data
        is_h2 = self._first.startswith(PREFACE)
        if not is_h2 and PREFACE.startswith(self._first):
            return
        inner = stub_h2.protocol(self._echo.identity()) if is_h2 else self._http1()
        if is_h2:
            self._echo.called(self._transport)
        self._transport.set_protocol(inner)
        inner.connection_made(self._transport)
        inner.data_received(self._first)


async def serve() -> None:
    """Serve until SIGTERM, then drain."""
    echo = Echo()
    app = web.Application(client_max_size=0)
    app.router.add_route("*", "/{path:.*}", echo.answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    assert runner.server is not None
    http1 = runner.server
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, echo.ending.set)
    servers = [
        await loop.create_server(lambda: _Door(echo, http1), "0.0.0.0", port) for port in echo.ports
    ]
    await echo.ending.wait()
    await echo.drained()
    for server in servers:
        server.close()
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve())
