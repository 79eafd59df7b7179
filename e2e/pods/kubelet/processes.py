"""A process in a pod's namespaces, with everything it starts: one process group."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from e2e.pods.network import commands

LOG_TAIL = 2000


class Process:
    """A running container."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path, begun: int) -> None:
        self._process = process
        self._log = log
        self._begun = begun

    async def wait(self) -> int:
        """Its exit code, as a shell gives it; what it left running ends with it."""
        code = await self._process.wait()
        self._signal(signal.SIGKILL)
        return 128 - code if code < 0 else code

    async def stop(self, grace: float) -> int:
        """SIGTERM, then SIGKILL when the grace is over."""
        self._signal(signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(grace, 0)):
                return await self.wait()
        self._signal(signal.SIGKILL)
        return await self.wait()

    async def execute(self, argv: Sequence[str], env: Mapping[str, str]) -> int:
        """The exit code of a command that runs beside it."""
        enter = (commands.found("nsenter"), "-t", str(self._process.pid), "-m", "-n", "--")
        with self._log.open("ab") as log:
            beside = await asyncio.create_subprocess_exec(
                *enter,
                *argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=dict(env),
                start_new_session=True,
            )
        try:
            return await beside.wait()
        finally:
            _signal(beside.pid, signal.SIGKILL)
            await beside.wait()

    def tail(self) -> str:
        """The last words it wrote, also if others wrote to the log before it."""
        with contextlib.suppress(OSError):
            return self._log.read_bytes()[self._begun :][-LOG_TAIL:].decode(errors="replace")
        return ""

    def _signal(self, number: signal.Signals) -> None:
        _signal(self._process.pid, number)


async def start(
    argv: Sequence[str],
    *,
    script: str,
    namespace: str,
    env: Mapping[str, str],
    folder: Path,
    log: Path,
) -> Process:
    """Start a command in a network namespace, after a script that prepares its files."""
    begun = log.stat().st_size if log.exists() else 0
    with log.open("ab") as out:
        process = await asyncio.create_subprocess_exec(
            *(
                commands.found("ip"),
                "netns",
                "exec",
                namespace,
                "/bin/sh",
                "-c",
                script,
                "sh",
                *argv,
            ),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env=dict(env),
            cwd=folder,
            start_new_session=True,
        )
    return Process(process, log, begun)


def _signal(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
