"""In a world of 10,000 hosts, one weight is moved: how long until a request is sent the new way.

From the decision (a new Route value) over the table's bytes, the xDS message and Envoy's
swap to the first answer of the other backend. Also what a request costs that is found by
another spelling of its Host. Prints JSON.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import sys
import time

from ingressctl.core.model import External, Group, Host, Route, Rule, Service, Split
from ingressctl.providers.envoy import snapshot
from ingressctl.providers.envoy.facts import Address
from ingressctl.proxy.envoy import claim_port
from ingressctl.proxy.serving import Gateway
from tests.envoy import makers

HOSTS = 10_000
CHANGES = 300
REQUESTS = 3_000


class TwoBackends:
    """Every canary is served at one port, every other Service at another."""

    def __init__(self, stable: int, canary: int) -> None:
        self.stable, self.canary = stable, canary

    def h2(self, service: Service, port: int) -> bool:
        return False

    def addresses(self, target: Service | External, port: int) -> tuple[Address, ...]:
        is_canary = isinstance(target, Service) and target.name == "canary"
        return (Address("127.0.0.1", self.canary if is_canary else self.stable),)


async def backend(letter: bytes) -> asyncio.Server:
    """Answers one letter to every request, on connections that stay."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                await reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionResetError):
                break
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + letter)
        writer.close()

    return await asyncio.start_server(serve, "127.0.0.1", 0)


class Client:
    """One connection to Envoy that stays."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def ask(self, host: str) -> bytes:
        """The letter of the backend that answers."""
        self.writer.write(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        head = await self.reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        return await self.reader.readexactly(1)


def host_name(number: int) -> str:
    return f"model-{number}.team-{number % 50}.example.com"


def route(number: int, canary: int) -> Route:
    """One service's route; all requests go to the canary at 100."""
    splits = tuple(
        Split(Service("ns", name), 80, weight)
        for name, weight in ((f"model-{number}", 100 - canary), ("canary", canary))
    )
    group = Group((Host(host_name(number)),), (makers.PUBLIC,), (Rule("predict", splits),))
    return makers.route(f"model-{number}", group)


async def measure() -> dict[str, float]:
    one, other = await backend(b"a"), await backend(b"b")
    ports = [server.sockets[0].getsockname()[1] for server in (one, other)]
    port = claim_port(0)
    gateway = Gateway(lambda refusal: sys.exit(str(refusal)), concurrency=1)
    book = snapshot.Book(TwoBackends(*ports), port)
    start = time.perf_counter()
    routes = [route(number, 0) for number in range(HOSTS)]
    book.update({item.owner.ref: (item,) for item in routes})
    built = time.perf_counter()
    try:
        await gateway.start(book.resources)
        loaded = time.perf_counter()
        client = Client(*await asyncio.open_connection("127.0.0.1", port))
        times = await changes(book, gateway, client)
        plain = await cost(client, host_name(7))
        capitals = await cost(client, host_name(7).title())
    finally:
        await gateway.stop()
        for server in (one, other):
            server.close()
    ordered = sorted(times)
    return {
        "p50": statistics.median(times) * 1e3,
        "p99": ordered[int(len(ordered) * 0.99)] * 1e3,
        "build": built - start,
        "load": loaded - built,
        "request_us": plain * 1e6,
        "capitals_us": capitals * 1e6,
    }


async def changes(book: snapshot.Book, gateway: Gateway, client: Client) -> list[float]:
    """Seconds from each decision to the first answer of the other backend."""
    choose, times = random.Random(1), []
    now = dict.fromkeys(range(HOSTS), 0)
    for _ in range(CHANGES):
        number = choose.randrange(HOSTS)
        now[number] = 100 - now[number]
        wanted, name = b"b" if now[number] else b"a", host_name(number)
        await client.ask(name)  # Envoy makes what it needs of a cluster at its first request
        changed = route(number, now[number])
        start = time.perf_counter()
        gateway.server.publish(book.update({changed.owner.ref: (changed,)}))
        while await client.ask(name) != wanted:
            pass
        times.append(time.perf_counter() - start)
        await asyncio.sleep(0.002)
    return times


async def cost(client: Client, host: str) -> float:
    """Seconds a request, one after another."""
    start = time.perf_counter()
    for _ in range(REQUESTS):
        await client.ask(host)
    return (time.perf_counter() - start) / REQUESTS


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure())))
