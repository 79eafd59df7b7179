"""The services of a router case: small HTTP servers that keep what they were asked."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
from dataclasses import dataclass, field
from typing import Any

from tests.cases.router import wires

KEYS = frozenset("name path down status headers body text echo gzip delay close answers".split())


@dataclass
class Called:
    """One call: its head, its body, and when it came and was answered."""

    service: str
    head: wires.Head
    body: bytes
    began: float
    ended: float | None = None


@dataclass
class Services:
    """All services of a case, and the calls in the order in which they came."""

    ports: dict[str, int] = field(default_factory=dict)
    calls: list[Called] = field(default_factory=list)
    _servers: list[asyncio.Server] = field(default_factory=list)
    _written: dict[str, dict[str, Any]] = field(default_factory=dict)

    async def start(self, written: list[dict[str, Any]]) -> None:
        """Listen for each; ports come first, since answers may name other services."""
        listening: dict[str, socket.socket] = {}
        for service in written:
            unknown = set(service) - KEYS
            assert not unknown, f"service {service['name']}: unknown keys {sorted(unknown)}"
            listening[service["name"]] = _bound()
            self.ports[service["name"]] = listening[service["name"]].getsockname()[1]
            self._written[service["name"]] = service
        for service in written:
            sock = listening[service["name"]]
            if service.get("down"):
                sock.close()
                continue
            self._servers.append(await asyncio.start_server(self._server(service), sock=sock))

    async def stop(self) -> None:
        """Close everything."""
        for server in self._servers:
            server.close()

    def named(self, value: Any) -> Any:
        """A value of the case with every {NAME} replaced by host and port of the service."""
        if isinstance(value, str):
            for name, port in self.ports.items():
                value = value.replace(f"{{{name}}}", f"127.0.0.1:{port}")
            return value
        if isinstance(value, dict):
            return {key: self.named(inner) for key, inner in value.items()}
        return [self.named(inner) for inner in value] if isinstance(value, list) else value

    def of(self, name: str) -> list[Called]:
        return [called for called in self.calls if called.service == name]

    def _server(self, service: dict[str, Any]) -> Any:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                while await self._one(service, reader, writer):
                    pass
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass
            finally:
                writer.close()

        return serve

    async def _one(
        self, service: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        head = await wires.head(reader)
        if head is None:
            return False
        body = await wires.body(reader, head)
        clock = asyncio.get_running_loop().time
        called = Called(service["name"], head, body, clock())
        self.calls.append(called)
        answer = self._answer(service)
        await asyncio.sleep(answer.get("delay", 0))
        called.ended = clock()
        if answer.get("close"):
            return False
        writer.write(_written(answer, body))
        await writer.drain()
        return True

    def _answer(self, service: dict[str, Any]) -> dict[str, Any]:
        answers = service.get("answers")
        if not answers:
            return self.named(service)
        place = min(len(self.of(service["name"])), len(answers)) - 1
        return self.named(answers[place])


def _bound() -> socket.socket:
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    return sock


def _written(answer: dict[str, Any], request: bytes) -> bytes:
    body = payload(answer, request)
    headers = dict(answer.get("headers") or {})
    if answer.get("gzip"):
        body = gzip.compress(body)
        headers["Content-Encoding"] = "gzip"
    headers["Content-Length"] = str(len(body))
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {answer.get('status', 200)} X\r\n{lines}\r\n".encode() + body


def payload(written: dict[str, Any], request: bytes = b"") -> bytes:
    """The body that a request or an answer of a case is given."""
    if "body" in written:
        return json.dumps(written["body"], separators=(",", ":"), ensure_ascii=False).encode()
    if "text" in written:
        return str(written["text"]).encode()
    return request if written.get("echo") else b""
