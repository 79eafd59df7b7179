"""A model that answers at once, or after a delay, with a fixed body: cheap, in its own process.

``python -m tests.bench.router.stub BYTES DELAY_MS`` prints its port.
"""

from __future__ import annotations

import asyncio
import json
import sys

import uvloop

END = b"\r\n\r\n"


class Stub(asyncio.Protocol):
    def __init__(self, answer: bytes, delay: float) -> None:
        self.answer, self.delay = answer, delay
        self.head, self.left = b"", 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if self.left:
            self.left -= len(data)
        else:
            self.head += data
            at = self.head.find(END)
            if at < 0:
                return
            length = self.head.lower().index(b"content-length: ") + 16
            size = int(self.head[length : self.head.index(b"\r", length)])
            self.left, self.head = at + 4 + size - len(self.head), b""
        if self.left <= 0:
            self.left = 0
            if self.delay:
                asyncio.get_running_loop().call_later(self.delay, self.send)
            else:
                self.send()

    def send(self) -> None:
        self.transport.write(self.answer)


def body(size: int) -> bytes:
    """A prediction of about so many bytes."""
    return json.dumps({"predictions": ["x" * 96] * max(1, size // 100)}).encode()


async def main(size: int, delay: float) -> None:
    answer = body(size)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    whole = head % len(answer) + answer
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Stub(whole, delay), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]), float(sys.argv[2]) / 1000))
