"""`ingressctl router` as a process of its own, and a model server for it to call."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import secrets
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tests.unit.dataplane.wire.sockets import Raw, of, post, received, scripted


@dataclass
class Program:
    process: asyncio.subprocess.Process
    port: int
    metrics: int

    def __post_init__(self) -> None:
        """What it says is read all the time: a full pipe would make it wait."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.out = asyncio.create_task(self.process.stdout.read())
        self.said = bytearray()
        self.talk = asyncio.create_task(self._listened(self.process.stderr))

    async def _listened(self, stream: asyncio.StreamReader) -> bytes:
        while piece := await stream.read(65536):
            self.said += piece
        return bytes(self.said)

    async def says(self, *words: bytes) -> None:
        """Wait until it has said all of the words."""
        async with asyncio.timeout(30):
            while not all(word in self.said for word in words):
                await asyncio.sleep(0.02)

    def signal(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)

    async def ask(self, body: bytes = b"{}", *lines: bytes) -> tuple[int, bytes]:
        """One request on a connection of its own."""
        async with await Raw.to(self.port) as client:
            client.send(post(body, *lines))
            return await client.answer()

    async def get(self, path: bytes, port: int = 0) -> tuple[int, bytes]:
        async with await Raw.to(port or self.port) as client:
            client.send(b"GET %b HTTP/1.1\r\nHost: a\r\n\r\n" % path)
            return await client.answer()

    async def number(self, name: str) -> float:
        """One sample of /metrics."""
        _, text = await self.get(b"/metrics", self.metrics)
        found = re.search(rf"^{re.escape(name)} (\S+)$", text.decode(), re.MULTILINE)
        assert found, text.decode()
        return float(found[1])

    async def end(self) -> tuple[int, bytes, bytes]:
        """Exit code, and what it said."""
        code = await asyncio.wait_for(self.process.wait(), 60)
        return code, await self.out, await self.talk


def free_port() -> int:
    """Below those that the system gives to connections: nobody takes it before it is used."""
    while True:
        port = secrets.randbelow(12_000) + 20_000
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


async def run(*flags: str, env: dict[str, str] | None = None) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "ingressctl",
        "router",
        *flags,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **(env or {})},
    )


@asynccontextmanager
async def started(*flags: str, env: dict[str, str] | None = None) -> AsyncIterator[Program]:
    """A router that is ready."""
    port, metrics = free_port(), free_port()
    ports = ("--port", str(port), "--metrics-port", str(metrics))
    program = Program(await run(*ports, *flags, env=env), port, metrics)
    try:
        await ready(program)
        yield program
    finally:
        if program.process.returncode is None:
            program.process.kill()
        await program.end()


async def ready(program: Program) -> None:
    async with asyncio.timeout(60):
        while program.process.returncode is None:
            try:
                if (await program.get(b"/readyz"))[0] == 200:
                    return
            except (ConnectionError, asyncio.IncompleteReadError):
                await asyncio.sleep(0.05)
    raise AssertionError((await program.end())[2].decode())


def graph(port: int, path: str = "/", **more: Any) -> dict[str, Any]:
    """A Sequence of one step."""
    step = {"name": "a", "serviceUrl": f"http://127.0.0.1:{port}{path}"}
    return {"nodes": {"root": {"routerType": "Sequence", "steps": [step]}}, **more}


def graph_json(port: int, **more: Any) -> tuple[str, str]:
    return "--graph-json", json.dumps(graph(port, **more))


@asynccontextmanager
async def model(delay: float = 0.0) -> AsyncIterator[int]:
    """Answers with the path and the body."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head, body = await received(reader)
            await asyncio.sleep(delay)
            path = head.split(b" ", 2)[1].decode()
            said = json.dumps({"path": path, "body": body.decode()}).encode()
            writer.write(of(said, b"Content-Type: application/json"))

    async with scripted(script) as to:
        yield to.port
