"""The router of a case as the process that the command is: for signals and for its end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from ingressctl.core.differences import Compat

PATIENCE = 20.0


@dataclass
class Process:
    """A router that listens."""

    port: int
    process: asyncio.subprocess.Process

    def signal(self, name: str) -> None:
        """Send a signal by its name."""
        self.process.send_signal(signal.Signals[name])


@asynccontextmanager
async def router(
    graph: dict[str, Any], environment: dict[str, str], compat: Compat
) -> AsyncIterator[Process]:
    """A process that serves the graph; killed in the end."""
    port = _free()
    arguments = ["--graph-json", json.dumps(graph), "--port", str(port), "--compat", compat.text]
    arguments += ["--metrics-port", "0"]
    kept = {name: value for name, value in os.environ.items() if name != "PROPAGATE_HEADERS"}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "ingressctl", "router", *arguments, env={**kept, **environment}
    )
    try:
        await _listening(port)
        yield Process(port, process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def _free() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


async def _listening(port: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except ConnectionError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return
