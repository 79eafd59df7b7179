"""A switch before the API server that ends a controller at a write of its choice."""

from __future__ import annotations

import json
import os
import signal
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import yaml
from aiohttp import web

from e2e import charts
from e2e.bed import kubeconfigs
from e2e.bed.bed import Bed
from tests.faults.faulty import Fault, Faults, Timing
from tests.faults.proxy import Cut, FaultProxy

WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
NOT_COUNTED = ("/leases", "/events", "/apis/authorization.k8s.io/")

Deadly = Callable[[int], bool]
"""Whether the controller dies of its n-th write."""


class Switch(FaultProxy):
    """Counts a controller's writes. At a deadly one it ends the controller: every second time
    before that has the answer, else when it has it. `written` hears each write that succeeded,
    before the controller does. `victim` tells the process."""

    def __init__(
        self, bed: Bed, deadly: Deadly, *, before: bool, written: Callable[[str, Any], None]
    ) -> None:
        no_faults = Faults(0, rate=0.0, timing=Timing())
        trust = ssl.create_default_context(cafile=str(bed.keys.ca))
        super().__init__(bed.url, no_faults, trust=trust)
        self._bed = bed
        self._deadly, self._before, self._written = deadly, before, written
        self.victim: Callable[[], int] = lambda: 0
        self.writes: list[str] = []
        self.killed: list[int] = []

    def kubeconfig(self, of: Path, path: Path) -> Path:
        """That of an account, leading here."""
        user = yaml.safe_load(of.read_text())["users"][0]["user"]
        return kubeconfigs.account(
            path,
            url=self.url,
            ca=self._bed.keys.ca,
            token=user["token"],
            namespace=charts.NAMESPACE,
        )

    async def _whole(
        self, request: web.Request, answer: aiohttp.ClientResponse, fault: Fault | None
    ) -> web.StreamResponse:
        if not _is_write(request):
            return await super()._whole(request, answer, fault)
        self.writes.append(f"{request.method} {request.path} {answer.status}")
        if answer.status < 300:
            self._written(request.path, json.loads(await answer.read()))
        if not self._deadly(len(self.writes)):
            return await super()._whole(request, answer, fault)
        before, self._before = self._before, not self._before
        if before:
            self._kill()
            raise Cut
        made = await super()._whole(request, answer, fault)
        self._kill()
        return made

    def _kill(self) -> None:
        victim = self.victim()
        if victim and victim not in self.killed:  # what it had sent before may still come in
            self.killed.append(victim)
            os.kill(victim, signal.SIGKILL)


def _is_write(request: web.Request) -> bool:
    return request.method in WRITES and not any(part in request.path for part in NOT_COUNTED)
