"""Requests over some connections, each as soon as the last is answered; cheap, in its own process.

``python -m tests.bench.router.load PORT CONNECTIONS SECONDS BYTES`` prints JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from time import perf_counter

import uvloop

from tests.bench.router.stub import END, body


class Load:
    def __init__(self, request: bytes, seconds: float) -> None:
        self.request = request
        self.times: list[float] = []
        self.errors = 0
        self.end = perf_counter() + seconds


class Client(asyncio.Protocol):
    def __init__(self, load: Load) -> None:
        self.load = load
        self.head, self.left = b"", 0
        self.over = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.send()

    def send(self) -> None:
        self.began = perf_counter()
        self.transport.write(self.load.request)

    def data_received(self, data: bytes) -> None:
        if self.left:
            self.left -= len(data)
        else:
            self.head += data
            at = self.head.find(END)
            if at < 0:
                return
            if not self.head.startswith(b"HTTP/1.1 200"):
                self.load.errors += 1
            length = self.head.lower().index(b"content-length: ") + 16
            size = int(self.head[length : self.head.index(b"\r", length)])
            self.left, self.head = at + 4 + size - len(self.head), b""
        if self.left <= 0:
            self.left = 0
            now = perf_counter()
            self.load.times.append(now - self.began)
            if now < self.load.end:
                self.send()
            else:
                self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self.load.errors += exc is not None
        if not self.over.done():
            self.over.set_result(None)


async def main(port: int, connections: int, seconds: float, size: int) -> dict[str, float]:
    data = body(size).replace(b"predictions", b"instances", 1)
    head = b"POST / HTTP/1.1\r\nHost: graph\r\nContent-Type: application/json\r\n"
    load = Load(head + b"Content-Length: %d\r\n\r\n" % len(data) + data, seconds)
    loop, began = asyncio.get_running_loop(), perf_counter()
    made = [
        await loop.create_connection(lambda: Client(load), "127.0.0.1", port)
        for _ in range(connections)
    ]
    await asyncio.gather(*(client.over for _, client in made))
    took, times = perf_counter() - began, sorted(load.times)
    return {
        "rps": len(times) / took,
        "requests": len(times),
        "p50_ms": times[len(times) // 2] * 1e3,
        "p99_ms": times[int(len(times) * 0.99)] * 1e3,
        "errors": load.errors,
    }


if __name__ == "__main__":
    port, connections, seconds, size = sys.argv[1:]
    done = uvloop.run(main(int(port), int(connections), float(seconds), int(size)))
    print(json.dumps(done))
