"""Where a real Envoy sends a request is where the table says that was read back.

`pytest tests/envoy/test_truth.py --truth-worlds 2000` tries more worlds.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from ingressctl.core.model import External, Service, Split
from ingressctl.core.outcome import Origin
from ingressctl.core.settings import Settings
from ingressctl.core.table import Hop, NoRoute, Request, Table
from ingressctl.core.world import World
from ingressctl.plan import overlay, registry, serving
from ingressctl.plan.manifests import Document
from ingressctl.providers.envoy import names
from tests import worlds
from tests.envoy.rig import Rig

REQUESTS = 12
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def routes_of(made: worlds.Generated) -> serving.Served:
    documents = [Document(obj, Origin("world.yaml")) for obj in made.objects]
    laid = overlay.lay(World.of(()), documents, namespace="default", named=True)
    return serving.served(laid, Settings(), now=NOW, providers=registry.providers())


def requests_of(made: worlds.Generated, table: Table) -> Iterator[Request]:
    """Half of the requests as the world has them, half for hosts that are surely served."""
    choose = random.Random(f"hosts of {made.seed}")
    public = [host for item in table.hosts if names.PUBLIC in item.entries for host in item.hosts]
    for number, one in enumerate(made.requests(REQUESTS)):
        host = choose.choice(public) if number % 2 and public else one.host
        yield Request(one.method, host, one.path, one.headers, names.PUBLIC)


def destinations(table: Table, request: Request) -> Iterator[tuple[Split, Hop] | None]:
    """Every backend that a request may reach, through all hops; None where it ends with 404."""
    answer = table.answer(request)
    if isinstance(answer, NoRoute):
        yield None
        return
    for split in answer.rule.splits:
        if isinstance(split.target, External):
            headers = {name.lower(): value for name, value in answer.headers.items()}
            inside = Request(request.method, answer.host, answer.path, headers, names.LOCAL)
            yield from destinations(table, inside)
        elif split.weight != 0:
            yield split, answer


async def check(rig: Rig, table: Table, request: Request) -> bool:
    """Send one request and compare; whether it reached a model."""
    wanted = list(destinations(table, request))
    status, seen = await rig.ask(request.method, request.path, request.host, dict(request.headers))
    said = f"{request} went to {seen or status}, the table says {wanted}"
    if status == 404 or None in wanted:
        assert status == 404, said
        assert wanted == [None], said
        return False
    assert status == 200, said
    by_target = {
        (hop_split.target.namespace, hop_split.target.name, hop_split.port): (hop_split, hop)
        for hop_split, hop in filter(None, wanted)
        if isinstance(hop_split.target, Service)
    }
    where = (seen["namespace"], seen["service"], seen["port"])
    assert where in by_target, said
    split, hop = by_target[where]
    assert (seen["host"], seen["path"]) == (hop.host, hop.path), said
    wanted_headers = {**hop.headers, **{name.lower(): value for name, value in split.headers}}
    for name, value in wanted_headers.items():
        assert seen["headers"].get(name) == value or name == "host", said
    return True


async def test_envoy_goes_where_the_table_says(rig: Rig, request: pytest.FixtureRequest) -> None:
    """At least 2,000 requests over 200 random worlds, through every hop."""
    count = int(request.config.getoption("--truth-worlds"))
    asked = reached = 0
    for seed in range(count):
        made = worlds.make(seed)
        served = routes_of(made)
        assert not served.refused
        assert not served.faults
        table = await rig.serve(*(route for owned in served.routes.values() for route in owned))
        assert not rig.refusals, rig.refusals
        wanted = (check(rig, table, one) for one in requests_of(made, table))
        results = await asyncio.gather(*wanted)
        asked += len(results)
        reached += sum(results)
    assert asked >= min(2000, count * REQUESTS)
    assert reached > asked // 3, "worlds whose requests reach nothing prove nothing"
