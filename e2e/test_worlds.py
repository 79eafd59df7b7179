"""Requests of random worlds through istiod and Envoy arrive where explain says.

The worlds of the property tests, all at once on one API server: their routes are what the
providers make of them, their models stubs. `pytest e2e/test_worlds.py --istiod-worlds 1000`
tries more of them.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest
import yaml

from e2e import doors
from e2e.bed import bed as beds
from e2e.bed import timing
from e2e.bed.bed import Bed
from e2e.pods import api
from e2e.worlds import asking, placing, storing, stubs
from e2e.worlds.asking import Came, End
from e2e.worlds.placed import (
    HTTP_ROUTES,
    INSIDE,
    KINDS,
    REVISION_PORTS,
    VIRTUAL_SERVICES,
    Placed,
    Way,
    revisions,
)
from ingressctl.api.refs import Raw, ref_of
from ingressctl.core.table import Request

REQUESTS = 12
SECONDS = 60
"""Until istiod and Envoy have all worlds; then every answer has to be right, in each round."""
ROUNDS = 3
"""Shares of a rule are drawn anew for each request."""
PAUSE = 0.2
PORTS = (80, 9000, *REVISION_PORTS)


@pytest.fixture(scope="module")
def bed(make_bed: Callable[..., Bed]) -> Bed:
    """Envoy serves KServe's and Knative's gateways."""
    made = make_bed((beds.GATEWAY,), envoy=doors.settings())
    spaces = [_namespace("kserve"), _namespace("knative-serving")]
    made.apply(yaml.safe_dump_all([*spaces, *doors.objects(made.gateway)]))
    return made


@dataclass(frozen=True, slots=True)
class Question:
    """A request at a listener, and the ends that explain tells of."""

    seed: int
    way: Way
    request: Request
    ends: list[End]

    def __str__(self) -> str:
        asked = self.request
        words = f"{asked.method} {asked.host} {asked.path} {dict(asked.headers)}"
        return f"world {self.seed}, {self.way.name}: {words}\n  explain: {self.ends}"


class Cluster:
    """All worlds in one cluster, and the stubs behind them."""

    def __init__(self, bed: Bed, client: api.Client) -> None:
        self._bed, self._client = bed, client
        self._stubs = stubs.Stubs()
        self.services: dict[str, str] = {}
        """DNS names by the stub's address."""

    async def fill(self, placed: list[Placed]) -> None:
        """Store the worlds with their routes; each then holds what the API server has of it."""
        await self._stubs.start(dict.fromkeys(PORTS))
        with timing.measured(f"store the objects of {len(placed)} worlds"):
            spaces = [space for world in placed for space in placing.namespaces(world.made.seed)]
            await self._store(map(_namespace, spaces))
            await self._store(obj for world in placed for obj in self._reached(world.written))
            shared = await self._read_back(placed)
        with timing.measured(f"make and store the routes of {len(placed)} worlds"):
            routes = [obj for world in placed for obj in world.routes(shared)]
            await self._store(self._reached(revisions(routes)))
            await self._store(routes)

    async def questions(self, placed: list[Placed]) -> list[Question]:
        """What explain says of the requests, from what is stored now."""
        shared = await self._read_back(placed)
        with timing.measured("explain"):
            return [
                Question(
                    world.made.seed,
                    way,
                    request,
                    asking.ends(world.explained(request, way, shared)),
                )
                for world in placed
                for way, request in world.questions(REQUESTS)
            ]

    def stop(self) -> None:
        self._stubs.stop()

    async def _store(self, objects: Iterable[Raw]) -> None:
        await storing.store(self._client, objects)

    def _reached(self, objects: Iterable[Raw]) -> list[Raw]:
        """Services lead to stubs; everything else stays."""
        found: list[Raw] = []
        for obj in objects:
            ref = ref_of(obj)
            if ref[:2] != ("", "Service"):
                found.append(obj)
                continue
            address = stubs.address(len(self.services))
            self.services[address] = f"{ref.name}.{ref.namespace}.svc.cluster.local"
            found += placing.reached(obj, address, self._stubs.ports)
        return found

    async def _read_back(self, placed: list[Placed]) -> list[Raw]:
        """Each world gets its objects; those of no world are given back."""
        by_space = {
            space: world for world in placed for space in placing.namespaces(world.made.seed)
        }
        grants = {f"to-knative-{world.made.seed}": world for world in placed}
        shared: list[Raw] = []
        for world in placed:
            world.stored.clear()
        for kind in KINDS:
            for obj in await storing.listed(self._client, kind):
                ref = ref_of(obj)
                owner = by_space.get(ref.namespace) or grants.get(ref.name)
                (owner.stored if owner else shared).append(obj)
        return shared


@pytest.fixture
async def cluster(bed: Bed) -> AsyncIterator[Cluster]:
    async with api.connect(bed.kubeconfig) as client:
        made = Cluster(bed, client)
        yield made
        made.stop()


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=64),
        skip_auto_headers=("User-Agent", "Accept-Encoding", "Accept"),
    ) as session:
        yield session


async def test_requests_arrive_where_explain_says(
    bed: Bed, cluster: Cluster, client: aiohttp.ClientSession, request: pytest.FixtureRequest
) -> None:
    """30 requests a world; at least a quarter of those of each listener reach a model."""
    placed = [Placed.of(seed) for seed in range(int(request.config.getoption("--istiod-worlds")))]
    await cluster.fill(placed)
    questions = await cluster.questions(placed)
    with timing.measured("until istiod and Envoy had all worlds"):
        await _settled(bed, client, cluster, questions)
    with timing.measured(f"{len(questions)} requests, {ROUNDS} times"):
        rounds = [await _once(bed, client, cluster, questions) for _ in range(ROUNDS)]
    wrong = {str(question): came for found, _ in rounds for question, came in found}
    told = "\n".join(f"{question}\n  got: {came}" for question, came in list(wrong.items())[:30])
    assert not wrong, f"{len(wrong)} of {len(questions)}:\n{told}"
    for way in (VIRTUAL_SERVICES, HTTP_ROUTES, INSIDE):
        count = sum(question.way is way for question in questions)
        reached = min(found[way] for _, found in rounds)
        assert reached > count // 4, f"{way.name}: {reached} of {count} reach a model"


async def _settled(
    bed: Bed, client: aiohttp.ClientSession, cluster: Cluster, questions: list[Question]
) -> None:
    """Until every question was answered as expected once, or it is late."""
    end = time.monotonic() + SECONDS
    left = questions
    while left and time.monotonic() < end:
        wrong, _ = await _once(bed, client, cluster, left)
        left = [question for question, _ in wrong]
        await asyncio.sleep(PAUSE)


async def _once(
    bed: Bed, client: aiohttp.ClientSession, cluster: Cluster, questions: list[Question]
) -> tuple[list[tuple[Question, Came]], Counter[Way]]:
    at = {port: f"{bed.gateway.reached}:{number}" for port, number in bed.gateway.ports.items()}
    asks = (asking.ask(client, at[one.way.listener], one.request) for one in questions)
    answers = await asyncio.gather(*asks)
    wrong: list[tuple[Question, Came]] = []
    reached: Counter[Way] = Counter()
    for question, came in zip(questions, answers, strict=True):
        if any(end.fits(came, cluster.services) for end in question.ends):
            reached[question.way] += bool(came.seen)
        else:
            wrong.append((question, came))
    return wrong, reached


def _namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
