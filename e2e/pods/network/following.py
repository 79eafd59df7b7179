"""Keeps nftables and DNS at what Services and EndpointSlices say."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from e2e.pods import api
from e2e.pods.network import names, namespaces, services

SERVICES = "/api/v1/services"
SLICES = "/apis/discovery.k8s.io/v1/endpointslices"


class Following:
    """The two lists as they are now."""

    def __init__(self, client: api.Client, node: namespaces.Node) -> None:
        self._client = client
        self._node = node
        self._lists: dict[str, list[Mapping[str, Any]]] = {SERVICES: [], SLICES: []}
        self._changed = asyncio.Event()

    async def run(self) -> None:
        """Follow until cancelled."""
        server = await names.serve(self.find)
        try:
            async with asyncio.TaskGroup() as tasks:
                for path in self._lists:
                    tasks.create_task(self._follow(path))
                tasks.create_task(self._apply())
        finally:
            server.close()

    def find(self, name: str) -> names.Found | None:
        """What a name stands for now."""
        return names.lookup(name, known=self._lists[SERVICES], slices=self._lists[SLICES])

    async def _follow(self, path: str) -> None:
        async for objects in self._client.follow(path):
            self._lists[path] = list(objects.values())
            self._changed.set()

    async def _apply(self) -> None:
        applied = ""
        while True:
            told = services.fronts(self._lists[SERVICES], self._lists[SLICES])
            wanted = services.ruleset(told, hosts=self._node.hosts)
            if wanted != applied:
                await self._node.run("nft", "-f", "-", text=wanted)
                applied = wanted
            await self._changed.wait()
            self._changed.clear()
