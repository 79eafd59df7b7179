"""A running Envoy with stubs behind it, fed with routes by the tests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any

import aiohttp
from yarl import URL

from ingressctl.core.model import External, Route, Service
from ingressctl.core.table import Table
from ingressctl.providers.envoy import reading, routes, snapshot
from ingressctl.providers.envoy.facts import Address
from ingressctl.proxy.envoy import claim_port
from ingressctl.proxy.serving import Gateway
from ingressctl.proxy.store import Refusal
from ingressctl.proxy.stubs import Identity, Stubs

GRPC_STATUS = {"12": 404, "14": 503}


class StubFacts:
    """Every Service is served by a stub; ports named in `h2_ports` speak HTTP/2."""

    def __init__(self, stubs: Stubs, h2_ports: frozenset[int]) -> None:
        self.stubs = stubs
        self.h2_ports = h2_ports

    def h2(self, service: Service, port: int) -> bool:
        return port in self.h2_ports

    def addresses(self, target: Service | External, port: int) -> tuple[Address, ...]:
        if isinstance(target, External):
            return ()
        found = (
            self.stubs.address(Identity(target.name, target.namespace, port, h2))
            for h2 in (False, True)
        )
        return tuple(address for address in found if address is not None)[:1]


class Rig:
    """Envoy on a free port. `refusals` collects what it did not accept."""

    def __init__(self, *, h2_ports: Iterable[int] = (8033,)) -> None:
        self.refusals: list[Refusal] = []
        self.port = claim_port(0)
        self.stubs = Stubs()
        self.gateway = Gateway(self.refusals.append, concurrency=1)
        self.facts = StubFacts(self.stubs, frozenset(h2_ports))
        self.book = snapshot.Book(self.facts, port=self.port)
        self.base = f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Rig:
        self.book.update({})
        self.client = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=64),
            skip_auto_headers=("User-Agent", "Accept-Encoding", "Accept"),
            max_line_size=1 << 24,
            max_field_size=1 << 24,
        )
        await self.gateway.start(self.book.resources)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        await self.client.close()
        await self.gateway.stop()
        await self.stubs.stop()

    async def serve(self, *wanted: Route) -> Table:
        """Serve exactly these routes; the table read back from what Envoy was given."""
        await self.stubs.serve(self._identities(wanted))
        owned: dict[Any, tuple[Route, ...]] = {}
        for route in wanted:
            owned[route.owner.ref] = (*owned.get(route.owner.ref, ()), route)
        await self.gateway.publish(self.book.replace(owned, self.facts))
        return reading.table(self.book.resources)

    def _identities(self, wanted: Iterable[Route]) -> Iterator[Identity]:
        for route in wanted:
            for group in route.groups:
                for rule in group.rules:
                    for split in rule.splits:
                        upstream = routes.upstream(split, rule, self.facts)
                        if isinstance(upstream.target, Service):
                            place = upstream.target
                            yield Identity(place.name, place.namespace, upstream.port, upstream.h2)

    async def get(self, path: str, host: str, **headers: str) -> tuple[int, dict[str, Any]]:
        """Status, and what the stub saw (empty if none was reached)."""
        return await self.ask("GET", path, host, headers)

    async def ask(
        self, method: str, path: str, host: str, headers: dict[str, str]
    ) -> tuple[int, dict[str, Any]]:
        url = URL(self.base + path, encoded=True)
        sent = {"Host": host, **headers}
        async with self.client.request(
            method, url, headers=sent, allow_redirects=False
        ) as response:
            body = await response.read()
            if "x-stub" in response.headers:  # a gRPC answer
                return response.status, json.loads(response.headers["x-stub"])
            if "grpc-status" in response.headers:  # Envoy's own answer to a gRPC client
                return GRPC_STATUS[response.headers["grpc-status"]], {}
            is_json = response.content_type == "application/json"
            return response.status, json.loads(body) if is_json else {}
