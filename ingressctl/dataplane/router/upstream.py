"""The client of the router: calls to steps over pooled connections.

It is what the router spends its time on. So a call over an idle connection is one write, one
future and one parse; everything else is off that path.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import TYPE_CHECKING

from ingressctl.dataplane.router import mesh, wire
from ingressctl.dataplane.router.deadlines import Deadlines
from ingressctl.dataplane.router.pool import Place, Pool
from ingressctl.dataplane.router.ports import Answer, Headers, StepFailed, Target
from ingressctl.dataplane.router.resolving import Resolver

if TYPE_CHECKING:
    from ingressctl.dataplane.router.h2c import Group

ANSWER_BYTES = 256 * 1024 * 1024
"""The largest answer that is read whole."""


class Client:
    """The Upstream of a process; on the running loop."""

    def __init__(self, *, answer_bytes: int = ANSWER_BYTES, mesh_port: int = mesh.PORT) -> None:
        self._loop = asyncio.get_running_loop()
        self._deadlines = Deadlines(self._loop)
        self._resolver = Resolver()
        self._mesh = mesh.Mesh(mesh_port)
        self._limit = answer_bytes
        self._pools: dict[tuple[str, int, bool], Pool] = {}
        self._groups: dict[tuple[str, int], Group] = {}
        self._context: ssl.SSLContext | None = None

    async def call(
        self,
        target: Target,
        headers: Headers,
        body: bytes,
        *,
        until: float | None,
        stream: bool,
        method: bytes = b"POST",
    ) -> Answer:
        """Send the body; see ports.Upstream."""
        if target.tls and await self._mesh.there():
            target = mesh.in_plain(target)
        pool = self._pools.get((target.host, target.port, target.tls)) or self._pool(target)
        if target.h2c:
            return await self._group(pool, target).call(
                target, headers, body, until=until, stream=stream, method=method
            )
        fields = wire.fields(headers)
        if fields.count(b"\n") != len(headers):
            raise StepFailed("unusable", "a header field has more than one line", sent=False)
        head = b"%b %b HTTP/1.1\r\nHost: %b\r\n%bContent-Length: %d\r\n\r\n" % (
            method,
            target.path,
            target.authority,
            fields,
            len(body),
        )
        caller = pool.idle.pop() if pool.idle else await pool.connect(until)
        while True:
            answer = caller.ask(head, body, until=until, stream=stream)
            try:
                return await answer
            except asyncio.CancelledError:
                caller.leave(answer)
                raise
            except StepFailed:
                if not caller.unseen:  # which no new connection is, so this is left in two turns
                    raise
            finally:
                del answer  # its exception keeps this frame, which must not keep it in turn
            caller = await pool.connect(until)

    def close(self) -> None:
        """End everything that is open."""
        self._mesh.close()
        self._resolver.close()
        for pool in self._pools.values():
            pool.close()
        for group in self._groups.values():
            group.close()
        self._deadlines.close()

    def _group(self, pool: Pool, target: Target) -> Group:
        key = (target.host, target.port)
        group = self._groups.get(key)
        if group is None:
            from ingressctl.dataplane.router.h2c import Group  # noqa: PLC0415 - few need it

            group = self._groups[key] = Group(pool)
        return group

    @property
    def open(self) -> int:
        """How many connections are open."""
        return len(self._deadlines)

    def _pool(self, target: Target) -> Pool:
        if target.tls and self._context is None:
            self._context = ssl.create_default_context()
        place = Place(target.host, target.port, self._context if target.tls else None)
        pool = Pool(place, self._resolver, self._deadlines, self._limit)
        self._pools[target.host, target.port, target.tls] = pool
        return pool
