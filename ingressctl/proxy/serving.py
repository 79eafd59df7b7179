"""An Envoy with its ADS server as one thing: start it, give it changes, end it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from ingressctl.proxy import bootstrap
from ingressctl.proxy.envoy import Envoy, EnvoyFault, make_directory
from ingressctl.proxy.store import Refusal
from ingressctl.proxy.xds import Server

START_SECONDS = 60.0
"""Ten thousand hosts take Envoy about six seconds of a free core."""


class Gateway:
    """Serves resources until `stop`. `report` is told what Envoy refuses."""

    def __init__(self, report: Callable[[Refusal], None], *, concurrency: int = 2) -> None:
        directory = make_directory()
        self.server = Server(report)
        self.envoy = Envoy(directory, concurrency=concurrency)

    async def start(self, resources: Mapping[tuple[str, str], bytes]) -> None:
        """Serve these resources. Raises EnvoyFault when Envoy ends or does not follow."""
        self.server.publish(resources)
        await self.server.start(f"unix:{bootstrap.xds_socket(self.envoy.directory)}")
        await self.envoy.start()
        await self._until(self.server.settled(), "did not take its first configuration")

    async def publish(self, changes: Mapping[tuple[str, str], bytes | None]) -> None:
        """Change what is served; returns when Envoy has acknowledged it."""
        self.server.publish(changes)
        await self._until(self.server.settled(), "did not acknowledge a change")

    async def stop(self) -> None:
        """End Envoy and the server."""
        await self.envoy.stop()
        await self.server.stop()

    async def _until(self, progress: Coroutine[Any, Any, None], failing: str) -> None:
        ended = asyncio.create_task(self.envoy.ended())
        done = asyncio.create_task(progress)
        try:
            await asyncio.wait(
                {ended, done}, timeout=START_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if done.done():
                return
            why = f"ended with {ended.result()}" if ended.done() else failing
            words = self.envoy.last_words() or "it left no message"
            raise EnvoyFault(f"Envoy {why}: {words}", "start the command again")
        finally:
            for task in (ended, done):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
