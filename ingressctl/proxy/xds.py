"""The delta ADS server: one stream for each Envoy, over a Unix socket or TCP.

Messages are handled as raw bytes, so bodies that the provider has serialised once are sent as
they are. What to send when is the session's business (session.py).

An Envoy whose stream broke goes on with what it has and comes back. Until then, or for
`away` seconds, it counts as one that has not taken what was published since; and before the
start, and so long after it, there may be Envoys that another process has served before.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncIterator, Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

import grpc
from envoy.service.discovery.v3 import discovery_pb2

from ingressctl.proxy.session import Session
from ingressctl.proxy.store import Refusal, Store

SERVICE = "envoy.service.discovery.v3.AggregatedDiscoveryService"
METHOD = "DeltaAggregatedResources"
_OPTIONS = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    # Two processes would share the port otherwise, and each serve some Envoys.
    ("grpc.so_reuseport", 0),
)


class CannotListen(Exception):
    """The port is taken or may not be used. The message is for people."""


@dataclass(frozen=True, slots=True)
class _Away:
    """An Envoy without a stream: the first change that it has not taken, and until when it
    is expected back."""

    lacks: int
    until: float


class Server:
    """Serves a store to any number of Envoys. `progress` is called when one of them has taken
    something, or is gone. With `drains`, clusters are kept until `let_go`. What is in `left`
    stays in Envoys that come back with it, as Store tells; `returned` as Session tells."""

    def __init__(
        self,
        report: Callable[[Refusal], None],
        *,
        progress: Callable[[], None] | None = None,
        drains: bool = False,
        away: float = 0.0,
        services: Iterable[grpc.GenericRpcHandler] = (),
        left: Container[tuple[str, str]] = (),
        returned: Callable[[tuple[str, ...]], None] | None = None,
    ) -> None:
        self._store = Store(left)
        self._returned = returned
        self._report = report
        self._told = progress or _nobody
        self._drains = drains
        self._seconds = away
        self._away: dict[str, _Away] = {"": _Away(0, math.inf)} if away else {}
        self._sessions: dict[Session, asyncio.Event] = {}
        self._progress = asyncio.Event()
        self._server = grpc.aio.server(options=_OPTIONS)
        handler = grpc.stream_stream_rpc_method_handler(self._stream)
        generic = grpc.method_handlers_generic_handler(SERVICE, {METHOD: handler})
        self._server.add_generic_rpc_handlers((generic, *services))

    async def start(self, address: str, credentials: grpc.ServerCredentials | None = None) -> None:
        """Listen on ``unix:PATH`` or ``HOST:PORT``. Raises CannotListen."""
        try:
            if credentials is None:
                self._server.add_insecure_port(address)
            else:
                self._server.add_secure_port(address, credentials)
        except RuntimeError:
            raise CannotListen(f"{address} cannot be listened on") from None
        self._expect("", 0)
        await self._server.start()

    async def stop(self) -> None:
        """End every stream."""
        await self._server.stop(None)

    def publish(
        self,
        changes: Mapping[tuple[str, str], bytes | None],
        ended: Iterable[tuple[str, str]] = (),
    ) -> int:
        """Put changes into the store and tell every Envoy; the number of this change.

        What has `ended` is not left any more to those that have it.
        """
        self._store.number += 1
        for key in ended:
            for session in self._sessions:
                session.ended(*key)
        for (kind, name), body in changes.items():
            self._store.apply((kind, name), body)
            for session in self._sessions:
                session.changed(kind, name)
        for wake in self._sessions.values():
            wake.set()
        return self._store.number

    async def settled(self) -> None:
        """Return when at least one Envoy is there and all have acknowledged everything."""
        while not self._sessions or not all(session.idle for session in self._sessions):
            self._progress.clear()
            await self._progress.wait()

    def lacks(self) -> int | None:
        """The first change that some Envoy has not taken; None when all have all."""
        lacking = (*(session.lacks for session in self._sessions), *self._absent())
        return min((number for number in lacking if number is not None), default=None)

    def knows(self, clusters: Iterable[str]) -> bool:
        """Whether some Envoy that is there has one of these clusters."""
        wanted = tuple(clusters)
        return any(session.knows(name) for session in self._sessions for name in wanted)

    def draining(self, node: str = "") -> Iterator[tuple[str, frozenset[str]]]:
        """Nodes, or one, with the clusters whose requests may not have ended there."""
        for session in self._sessions:
            if node in ("", session.node) and (clusters := session.draining):
                yield session.node, clusters

    def let_go(self, node: str, clusters: Iterable[str]) -> None:
        """No request to these clusters is under way on a node."""
        for session, wake in self._sessions.items():
            if session.node == node:
                session.let_go(clusters)
                wake.set()

    def _absent(self) -> Iterator[int]:
        now = time.monotonic()
        for node, away in tuple(self._away.items()):
            if away.until <= now:
                del self._away[node]
            else:
                yield away.lacks

    def _expect(self, node: str, lacks: int) -> None:
        """An Envoy may be out there, and come back."""
        if not self._seconds:
            return
        known = self._away.get(node)
        first = min(lacks, known.lacks) if known else lacks
        self._away[node] = _Away(first, time.monotonic() + self._seconds)
        asyncio.get_running_loop().call_later(self._seconds + 0.01, self._tell)

    def _tell(self) -> None:
        self._progress.set()
        self._told()

    async def _stream(
        self, requests: AsyncIterator[bytes], context: grpc.aio.ServicerContext
    ) -> None:
        session = Session(self._store, self._report, drains=self._drains, returned=self._returned)
        wake = asyncio.Event()
        self._sessions[session] = wake
        reader = asyncio.create_task(self._read(session, wake, requests))
        try:
            while not reader.done():
                await wake.wait()
                wake.clear()
                self._away.pop(session.node or "?", None)
                for response in session.responses():
                    await context.write(response.SerializeToString())
                self._tell()
        finally:
            del self._sessions[session]
            lacks = session.lacks
            self._expect(session.node, self._store.number + 1 if lacks is None else lacks)
            self._tell()
            reader.cancel()
            with contextlib.suppress(asyncio.CancelledError, grpc.RpcError):
                await reader

    async def _read(
        self, session: Session, wake: asyncio.Event, requests: AsyncIterator[bytes]
    ) -> None:
        try:
            async for raw in requests:
                session.request(discovery_pb2.DeltaDiscoveryRequest.FromString(raw))
                wake.set()
        finally:
            wake.set()


def _nobody() -> None:
    """Nobody wants to know."""
