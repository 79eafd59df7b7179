"""A gateway is asked until it says yes, and whoever waits is woken then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from ingressctl.api.refs import Ref
from ingressctl.cluster import gateway_probe
from ingressctl.cluster.gateway_probe import Prober
from ingressctl.plan.probing import Question

OWNER = Ref("serving.kserve.io", "InferenceService", "team-a", "iris")
HOST = "iris.team-a.example.com"
SECONDS = 30


class Gateway:
    """Answers 404 itself until it is told what else."""

    def __init__(self) -> None:
        self.hosts: list[str] = []
        self.status = 404
        self.headers: dict[str, str] = {}
        self.address = ""

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        self.hosts.append(request.headers["Host"])
        return web.Response(status=self.status, headers=self.headers)


@pytest.fixture
async def gateway() -> AsyncIterator[Gateway]:
    made = Gateway()
    runner = web.ServerRunner(web.Server(made.answer))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.address = f"127.0.0.1:{runner.addresses[0][1]}"
    yield made
    await runner.cleanup()


class Waiting:
    """A prober and when it wakes its owner."""

    def __init__(self) -> None:
        self.woken = asyncio.Event()
        self.prober = Prober(self._wake)

    def _wake(self, ref: Ref) -> None:
        assert ref == OWNER
        self.woken.set()

    def watch(self, *addresses: str, anew: bool = False) -> None:
        asked = tuple(Question("kserve/public", address, HOST) for address in addresses)
        self.prober.watch(OWNER, asked, anew=anew)

    async def answered(self) -> None:
        async with asyncio.timeout(SECONDS):
            while self.prober.answer(OWNER) is None:
                await asyncio.sleep(0.01)


@pytest.fixture
async def waiting() -> AsyncIterator[Waiting]:
    made = Waiting()
    yield made
    await made.prober.stop()


async def test_the_owner_is_woken_when_the_gateway_knows_the_host(
    gateway: Gateway, waiting: Waiting
) -> None:
    waiting.watch(gateway.address)
    await waiting.answered()
    said = waiting.prober.answer(OWNER)
    assert said is not None
    assert said.follows is False
    assert not waiting.woken.is_set()
    for part in ("kserve/public", gateway.address, HOST, "404"):
        assert part in said.text
    gateway.status = 403
    async with asyncio.timeout(SECONDS):
        await waiting.woken.wait()
    said = waiting.prober.answer(OWNER)
    assert said is not None
    assert said.follows is True
    assert set(gateway.hosts) == {HOST}
    assert len(gateway.hosts) > gateway_probe.ROUNDS


@pytest.mark.parametrize("status", [404, 503])
async def test_what_a_model_answers_is_an_answer(
    gateway: Gateway, waiting: Waiting, status: int
) -> None:
    """A model without a page at the root says 404, through a gateway that knows it."""
    gateway.status, gateway.headers = status, {gateway_probe.UPSTREAM: "3"}
    waiting.watch(gateway.address)
    async with asyncio.timeout(SECONDS):
        await waiting.woken.wait()


async def test_every_gateway_has_to_say_yes(gateway: Gateway, waiting: Waiting) -> None:
    gateway.status = 200
    waiting.watch(gateway.address, "127.0.0.1:1")
    await waiting.answered()
    said = waiting.prober.answer(OWNER)
    assert said is not None
    assert said.follows is None, "nobody answered there, so nothing is known"
    assert "127.0.0.1:1" in said.text
    assert not waiting.woken.is_set()


async def test_new_routes_are_asked_for_anew(gateway: Gateway, waiting: Waiting) -> None:
    """What a gateway said of older routes says nothing of them."""
    gateway.status = 200
    waiting.watch(gateway.address)
    async with asyncio.timeout(SECONDS):
        await waiting.woken.wait()
    waiting.watch(gateway.address)
    assert waiting.prober.answer(OWNER) is not None
    waiting.watch(gateway.address, anew=True)
    assert waiting.prober.answer(OWNER) is None
    waiting.prober.forget(OWNER)
    assert waiting.prober.answer(OWNER) is None
