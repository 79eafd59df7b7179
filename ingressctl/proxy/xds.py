"""The delta ADS server: one stream for each Envoy, over a Unix socket or TCP.

Messages are handled as raw bytes, so bodies that the provider has serialised once are sent as
they are. What to send when is the session's business (session.py).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping

import grpc
from envoy.service.discovery.v3 import discovery_pb2

from ingressctl.proxy.session import Refusal, Session, Store

SERVICE = "envoy.service.discovery.v3.AggregatedDiscoveryService"
METHOD = "DeltaAggregatedResources"
_OPTIONS = (("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1))


class Server:
    """Serves a store to any number of Envoys."""

    def __init__(self, report: Callable[[Refusal], None]) -> None:
        self._store = Store()
        self._report = report
        self._sessions: dict[Session, asyncio.Event] = {}
        self._progress = asyncio.Event()
        self._server = grpc.aio.server(options=_OPTIONS)
        handler = grpc.stream_stream_rpc_method_handler(self._stream)
        generic = grpc.method_handlers_generic_handler(SERVICE, {METHOD: handler})
        self._server.add_generic_rpc_handlers((generic,))

    async def start(self, address: str) -> None:
        """Listen on ``unix:PATH`` or ``HOST:PORT``."""
        self._server.add_insecure_port(address)
        await self._server.start()

    async def stop(self) -> None:
        """End every stream."""
        await self._server.stop(None)

    def publish(self, changes: Mapping[tuple[str, str], bytes | None]) -> None:
        """Put changes into the store and tell every Envoy."""
        for (kind, name), body in changes.items():
            self._store.apply((kind, name), body)
            for session in self._sessions:
                session.changed(kind, name)
        for wake in self._sessions.values():
            wake.set()

    async def settled(self) -> None:
        """Return when at least one Envoy is there and all have acknowledged everything."""
        while not self._sessions or not all(session.idle for session in self._sessions):
            self._progress.clear()
            await self._progress.wait()

    async def _stream(
        self, requests: AsyncIterator[bytes], context: grpc.aio.ServicerContext
    ) -> None:
        session, wake = Session(self._store, self._report), asyncio.Event()
        self._sessions[session] = wake
        reader = asyncio.create_task(self._read(session, wake, requests))
        try:
            while not reader.done():
                await wake.wait()
                wake.clear()
                for response in session.responses():
                    await context.write(response.SerializeToString())
                self._progress.set()
        finally:
            del self._sessions[session]
            self._progress.set()
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
