"""The ports that a cluster asks: /healthz and /readyz on one, /metrics on another."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence

from aiohttp import web

from ingressctl.cluster.metrics import Metrics


class PortTaken(Exception):
    """A port cannot be listened on. The message is for people."""


class Probes:
    """Two small servers. `unready` are the reasons why the process is not ready: () when it is."""

    def __init__(self, metrics: Metrics, unready: Callable[[], Sequence[str]]) -> None:
        self._metrics = metrics
        self._unready = unready
        self._runners: list[web.AppRunner] = []

    async def start(self, *, health_port: int, metrics_port: int) -> None:
        """Listen on all addresses; a port of 0 is left out. Raises PortTaken."""
        health = web.Application()
        health.router.add_get("/healthz", self._healthz)
        health.router.add_get("/readyz", self._readyz)
        metrics = web.Application()
        metrics.router.add_get("/metrics", self._scrape)
        for app, port in ((health, health_port), (metrics, metrics_port)):
            if port:
                await self._listen(app, port)

    async def stop(self) -> None:
        """Close both."""
        for runner in self._runners:
            await runner.cleanup()

    async def _listen(self, app: web.Application, port: int) -> None:
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        self._runners.append(runner)
        host = "::" if socket.has_dualstack_ipv6() else "0.0.0.0"
        try:
            await web.TCPSite(runner, None if host == "::" else host, port).start()
        except OSError as fault:
            raise PortTaken(f"port {port} cannot be listened on: {fault.strerror}") from None

    async def _healthz(self, request: web.Request) -> web.Response:
        """The loop runs, or there would be no answer."""
        return web.Response(text="ok\n")

    async def _readyz(self, request: web.Request) -> web.Response:
        reasons = self._unready()
        if reasons:
            return web.Response(status=503, text="".join(f"{reason}\n" for reason in reasons))
        return web.Response(text="ok\n")

    async def _scrape(self, request: web.Request) -> web.Response:
        text = await asyncio.to_thread(self._metrics.text)
        return web.Response(body=text, headers={"Content-Type": "text/plain; version=0.0.4"})
