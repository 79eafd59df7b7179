"""What the steps of a field case answer: servers by host, stubs by URL."""

from __future__ import annotations

import asyncio
import base64
import gzip
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests.cases.router import wires

KEYS = frozenset("status headers body bodyBase64 delaySeconds stream gzipIfAccepted".split())
Origin = tuple[str, bool]
"""A host, and whether it is called by TLS."""


@dataclass
class StepCall:
    """One call of a step."""

    url: str
    head: wires.Head
    body: bytes

    @property
    def label(self) -> str:
        """The first label of the host, by which cases name a step."""
        return (urlsplit(self.url).hostname or "").partition(".")[0]


@dataclass
class Stubs:
    """Servers of all hosts of a case, each on a port of its own."""

    written: dict[str, Mapping[str, Any]]
    context: ssl.SSLContext | None = None
    ports: dict[Origin, int] = field(default_factory=dict)
    calls: list[StepCall] = field(default_factory=list)
    open: int = 0
    sent: list[float] = field(default_factory=list)
    _servers: list[asyncio.Server] = field(default_factory=list)

    async def start(self) -> None:
        """Listen for every host that a URL names."""
        for url, stub in self.written.items():
            unknown = set(stub) - KEYS
            assert not unknown, f"stub {url}: unknown keys {sorted(unknown)}"
            parts = urlsplit(url)
            origin = (parts.hostname or "", parts.scheme == "https")
            if origin not in self.ports:
                self.ports[origin] = await self._listen(tls=origin[1])

    async def stop(self) -> None:
        """Close everything."""
        for server in self._servers:
            server.close()

    async def _listen(self, *, tls: bool) -> int:
        scheme = "https" if tls else "http"

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                while await self._one(scheme, reader, writer):
                    pass
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass
            finally:
                writer.close()

        server = await asyncio.start_server(
            serve, "127.0.0.1", 0, ssl=self.context if tls else None
        )
        self._servers.append(server)
        return int(server.sockets[0].getsockname()[1])

    async def _one(
        self, scheme: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        head = await wires.head(reader)
        if head is None:
            return False
        body = await wires.body(reader, head)
        url = f"{scheme}://{head.one('Host')}{head.path}"
        self.calls.append(StepCall(url, head, body))
        stub = self.written.get(url) or self._by_port(writer, head.path)
        self.open += 1
        watch = asyncio.ensure_future(reader.read(1))
        try:
            return await self._answer(stub, head, writer, watch)
        finally:
            self.open -= 1
            watch.cancel()

    def _by_port(self, writer: asyncio.StreamWriter, path: str) -> Mapping[str, Any]:
        """The stub for a caller that knows only where it is, not its name."""
        port = writer.get_extra_info("sockname")[1]
        host = next(origin[0] for origin, own in self.ports.items() if own == port)
        self.calls[-1].url = f"http://{host}{path}"
        return self.written[self.calls[-1].url]

    async def _answer(
        self,
        stub: Mapping[str, Any],
        head: wires.Head,
        writer: asyncio.StreamWriter,
        watch: asyncio.Future[bytes],
    ) -> bool:
        """Answer, unless the caller leaves before; the connection does not go on after that."""
        await asyncio.wait([watch], timeout=stub.get("delaySeconds") or 0)
        if watch.done():
            return False
        headers = {"Content-Type": "application/json", **(stub.get("headers") or {})}
        if "stream" in stub:
            await self._stream(stub, headers, writer)
        else:
            body = payload(stub)
            if stub.get("gzipIfAccepted") and "gzip" in (head.one("Accept-Encoding") or ""):
                body = gzip.compress(body)
                headers["Content-Encoding"] = "gzip"
            writer.write(_head(stub, {**headers, "Content-Length": str(len(body))}) + body)
        await writer.drain()
        return False

    async def _stream(
        self, stub: Mapping[str, Any], headers: dict[str, str], writer: asyncio.StreamWriter
    ) -> None:
        clock = asyncio.get_running_loop().time
        writer.write(_head(stub, {**headers, "Transfer-Encoding": "chunked"}))
        for number in range(stub["stream"]["events"]):
            if number:
                await asyncio.sleep(stub["stream"]["gapSeconds"])
            event = b"data: %d\n\n" % number
            self.sent.append(clock())
            writer.write(b"%x\r\n%b\r\n" % (len(event), event))
            await writer.drain()
        writer.write(b"0\r\n\r\n")


def payload(written: Mapping[str, Any]) -> bytes:
    """A body as a field case writes it."""
    if "bodyBase64" in written:
        return base64.b64decode(written["bodyBase64"])
    return str(written.get("body", "")).encode()


def _head(stub: Mapping[str, Any], headers: Mapping[str, str]) -> bytes:
    fields = {**headers, "Connection": "close"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {stub.get('status', 200)} X\r\n{lines}\r\n".encode()
