"""One server that stands for every port of every Service: by the loopback address it is asked at.

All of 127.0.0.0/8 is this machine, so thousands of Services need a listening port for each port
number only. The address is the server's own, not something that a route could write.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from aiohttp import web

from ingressctl.proxy import stub_h2

Identity = Mapping[str, Any]

H2_PORTS = frozenset({81, 9000})
"""Ports whose names tell gRPC or HTTP/2 in clear text; the others speak HTTP/1.1."""


def address(number: int) -> str:
    """The loopback address of the Service of that number."""
    return f"127.{1 + number // 62500}.{number // 250 % 250}.{1 + number % 250}"


class Stubs:
    """Listens for each of the ports. `ports` tells where."""

    def __init__(self) -> None:
        self.ports: dict[int, int] = {}
        self._servers: list[asyncio.Server] = []
        self._open: set[asyncio.Transport] = set()

    async def start(self, numbers: Iterable[int]) -> None:
        """Listen for these ports of Services."""
        loop = asyncio.get_running_loop()
        for number in numbers:
            inner = stub_h2.protocol if number in H2_PORTS else _http1
            make = functools.partial(_Asked, number, inner, self._open)
            server = await loop.create_server(make, "0.0.0.0", 0)
            self.ports[number] = server.sockets[0].getsockname()[1]
            self._servers.append(server)

    def stop(self) -> None:
        """Listen no more, and end every connection."""
        for server in self._servers:
            server.close()
        for transport in self._open:
            transport.abort()


class _Asked(asyncio.Protocol):
    """A connection: only once it is there, its own address tells whom it stands for."""

    def __init__(
        self,
        port: int,
        inner: Callable[[Identity], asyncio.Protocol],
        kept: set[asyncio.Transport],
    ) -> None:
        self._port, self._inner, self._kept = port, inner, kept

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._kept.add(transport)
        address = transport.get_extra_info("sockname")[0]
        inner = self._inner({"address": address, "port": self._port})
        transport.set_protocol(inner)
        inner.connection_made(transport)


def _http1(identity: Identity) -> asyncio.Protocol:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        await request.read()
        headers = {name.lower(): ",".join(request.headers.getall(name)) for name in request.headers}
        seen = {"host": request.headers.get("Host", ""), "path": request.raw_path}
        return web.json_response({**identity, **seen, "headers": headers})

    return web.Server(answer, access_log=None)()
