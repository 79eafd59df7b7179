"""Small servers that stand for models: they answer who they are and what they saw.

One port for each port of a Service, so that the answer proves where a request arrived: the
name is the server's own, not something a route could write into a header.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from aiohttp import WSMsgType, web

from ingressctl.providers.envoy.facts import Address
from ingressctl.proxy import stub_h2

HEADER_BYTES = 16 * 1024 * 1024
EVENT_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom a stub stands for."""

    service: str
    namespace: str
    port: int
    h2: bool = False


class Stubs:
    """All stubs of this run, each started when it is first asked for."""

    def __init__(self) -> None:
        self._addresses: dict[Identity, Address] = {}
        self._runners: list[web.AppRunner] = []
        self._servers: list[asyncio.Server] = []

    async def serve(self, wanted: Iterable[Identity]) -> None:
        """Start those that do not run yet."""
        for identity in wanted:
            if identity not in self._addresses:
                start = self._start_h2 if identity.h2 else self._start_http1
                self._addresses[identity] = await start(identity)

    def address(self, identity: Identity) -> Address | None:
        """Where the stub listens, None if it was never started."""
        return self._addresses.get(identity)

    async def stop(self) -> None:
        """End all of them."""
        for server in self._servers:
            server.close()
        for runner in self._runners:
            await runner.cleanup()

    async def _start_http1(self, identity: Identity) -> Address:
        runner = web.AppRunner(
            application(identity),
            access_log=None,
            shutdown_timeout=0.1,
            max_line_size=HEADER_BYTES,
            max_field_size=HEADER_BYTES,
        )
        place = _listening()
        await runner.setup()
        self._runners.append(runner)
        await web.SockSite(runner, place).start()
        return Address(*place.getsockname())

    async def _start_h2(self, identity: Identity) -> Address:
        place = _listening()
        self._servers.append(await stub_h2.serve(_name(identity), place))
        return Address(*place.getsockname())


def _listening() -> socket.socket:
    """A free port of this machine. Raises OSError where asyncio would go on without one."""
    return socket.create_server(("127.0.0.1", 0))


def application(identity: Identity) -> web.Application:
    """An HTTP/1.1 stub: JSON (late with ``?seconds=N``), events, WebSockets that echo."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return await echoed(request)
        if request.path.endswith("/events"):
            return await _events(request)
        await request.read()
        await asyncio.sleep(float(request.query.get("seconds", "0")))
        return web.json_response(_seen(identity, request))

    app = web.Application(client_max_size=0)
    app.router.add_route("*", "/{path:.*}", answer)
    return app


def _name(identity: Identity) -> dict[str, Any]:
    return {
        "service": identity.service,
        "namespace": identity.namespace,
        "port": identity.port,
    }


def _seen(identity: Identity, request: web.Request) -> dict[str, Any]:
    return {
        **_name(identity),
        "host": request.headers.get("Host", ""),
        "method": request.method,
        "path": request.raw_path,
        "headers": {
            name.lower(): ",".join(request.headers.getall(name)) for name in request.headers
        },
    }


async def echoed(request: web.Request) -> web.WebSocketResponse:
    """A WebSocket that says again what it hears."""
    channel = web.WebSocketResponse()
    await channel.prepare(request)
    async for message in channel:
        if message.type is WSMsgType.TEXT:
            await channel.send_str(message.data)
        elif message.type is WSMsgType.BINARY:
            await channel.send_bytes(message.data)
    return channel


async def _events(request: web.Request) -> web.StreamResponse:
    """Server-sent events for as long as the client listens, or ``?count=N`` of them."""
    stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await stream.prepare(request)
    count = int(request.query.get("count", "0"))
    pause = float(request.query.get("every", EVENT_SECONDS))
    number = 0
    with contextlib.suppress(ConnectionResetError):
        while not count or number < count:
            await stream.write(f"data: {number}\n\n".encode())
            number += 1
            await asyncio.sleep(pause)
    return stream
