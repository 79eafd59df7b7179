"""The router over time: steps that fail, hang, break off, come and go, and clients that leave.

INGRESSCTL_SOAK_SECONDS is how long; `make soak` takes ten minutes. Every request is answered
with a status that its graph may have, memory stays flat, and at the end nothing is left.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections import Counter
from typing import Any

from tests.soak import steps
from tests.soak.steps import Steps
from tests.unit.dataplane.wire.programs import Program, started
from tests.unit.dataplane.wire.sockets import Raw, post

SECONDS = float(os.environ.get("INGRESSCTL_SOAK_SECONDS", "10"))
CONNECTIONS = 64
GROWTH = 16.0
"""MiB that memory may grow after the first third; a leak of 1 KiB a request is more."""

ALLOWED: dict[str, set[int]] = {
    "soft": {200},
    "hard": {503},
    "hangs": {504},
    "broken": {200, 502},
    "again": {200},
    "gone": {200, 502},
    "nothing": {404},
}
"""What each graph may answer."""


def graph(ports: dict[str, int]) -> dict[str, Any]:
    """A node for each fate, chosen by the request."""

    def step(name: str, **more: Any) -> dict[str, Any]:
        return {"name": name, "serviceUrl": f"http://127.0.0.1:{ports[name]}/", **more}

    hangs = step("hangs", timeout="100ms")
    nodes = {
        "soft": ("Ensemble", [step("well"), step("slow"), step("sick"), hangs, step("broken")]),
        "hard": ("Ensemble", [step("sick", dependency="Hard"), step("slow"), step("hangs")]),
        "hangs": ("Sequence", [step("well"), {**hangs, "dependency": "Hard"}]),
        "broken": ("Sequence", [step("broken", dependency="Hard")]),
        "again": (
            "Sequence",
            [
                step("broken", fallback={"serviceUrl": f"http://127.0.0.1:{ports['well']}/"}),
                step("leaves", data="$response", retries={"attempts": 2}),
            ],
        ),
        "gone": ("Sequence", [step("comes_and_goes", dependency="Hard")]),
    }
    choice = [
        {"name": name, "nodeName": name, "condition": f'[@this].#(kind=="{name}")'}
        for name in nodes
    ]
    return {
        "nodes": {
            "root": {"routerType": "Switch", "steps": choice},
            **{name: {"routerType": kind, "steps": found} for name, (kind, found) in nodes.items()},
        }
    }


class Load:
    """Clients that ask one after another; some leave without waiting."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.seen: Counter[tuple[str, int]] = Counter()
        self.left = 0

    async def client(self, until: float) -> None:
        loop = asyncio.get_running_loop()
        while loop.time() < until:
            async with await Raw.to(self.port) as raw:
                for _ in range(random.randint(1, 50)):
                    if loop.time() >= until or not await self.ask(raw):
                        break

    async def ask(self, raw: Raw) -> bool:
        """Whether the connection goes on."""
        kind = random.choice(tuple(ALLOWED))
        body = json.dumps({"kind": kind, "pad": "x" * random.choice((10, 1000, 30_000))})
        raw.send(post(body.encode()))
        if random.random() < 0.03:
            await asyncio.sleep(random.random() * 0.02)
            self.left += 1
            return False
        status, headers = await asyncio.wait_for(raw.head(), 30)
        whole = await asyncio.wait_for(self.body(raw, headers), 30)
        self.seen[kind, status] += 1
        assert whole or kind == "broken", "only a step that breaks off ends an answer early"
        return whole

    async def body(self, raw: Raw, headers: dict[bytes, bytes]) -> bool:
        """Whether it came to its end."""
        try:
            if b"content-length" in headers:
                await raw.reader.readexactly(int(headers[b"content-length"]))
                return True
            while size := int(await raw.reader.readuntil(b"\r\n"), 16):
                await raw.reader.readexactly(size + 2)
            await raw.reader.readexactly(2)
        except (ConnectionError, asyncio.IncompleteReadError):
            return False
        return True


def memory(router: Program) -> float:
    """Resident MiB."""
    with open(f"/proc/{router.process.pid}/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1024 / 1024


def files(router: Program) -> int:
    return len(os.listdir(f"/proc/{router.process.pid}/fd"))


async def test_nothing_is_lost_and_nothing_is_left() -> None:
    async with steps.running() as served:
        text = json.dumps(graph(served.ports))
        async with started("--graph-json", text, "--drain-seconds", "0") as router:
            before = files(router)
            load = Load(router.port)
            end = asyncio.get_running_loop().time() + SECONDS
            clients = [asyncio.create_task(load.client(end)) for _ in range(CONNECTIONS)]
            await asyncio.sleep(SECONDS / 3)
            warm = memory(router)
            await asyncio.gather(*clients)
            grown = memory(router) - warm
            wrong = {key: n for key, n in load.seen.items() if key[1] not in ALLOWED[key[0]]}
            assert wrong == {}
            assert {kind for kind, _ in load.seen} == set(ALLOWED)
            assert load.left > 0
            assert grown < GROWTH, f"{grown:.1f} MiB over {load.seen.total()} requests"
            await left(router, served, before)
            router.signal()
            code, _, talk = await router.end()
    assert code == 0
    assert b"defect" not in talk


async def left(router: Program, served: Steps, before: int) -> None:
    """No connection and no call is left, once what is idle has been closed."""
    async with asyncio.timeout(30):
        while served.open or files(router) > before + 2:
            await asyncio.sleep(0.2)
    assert await router.number("ingressctl_router_in_flight") == 0
    assert await router.number("ingressctl_router_waiting") == 0
    _, text = await router.get(b"/metrics", router.metrics)
    flying = [line for line in text.splitlines() if line.startswith(b"ingressctl_router_step_in")]
    assert flying
    assert all(line.endswith(b" 0.0") for line in flying)
