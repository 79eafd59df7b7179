"""Where a real Envoy sends a request is where explain says, from the table read back.

`pytest tests/envoy/test_truth.py --truth-worlds 2000` tries more worlds.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from ingressctl.core.outcome import Origin
from ingressctl.core.settings import Settings
from ingressctl.core.table import NoRoute, Request, Table
from ingressctl.core.world import Reads, World
from ingressctl.plan import entries, explain, overlay, registry, serving
from ingressctl.plan.explanation import Attempt, Branch
from ingressctl.plan.manifests import Document
from tests import worlds
from tests.envoy.rig import Rig

REQUESTS = 12
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def routes_of(made: worlds.Generated) -> serving.Served:
    documents = [Document(obj, Origin("world.yaml")) for obj in made.objects]
    laid = overlay.lay(World.of(()), documents, namespace="default", named=True)
    return serving.served(laid, Settings(), now=NOW, providers=registry.providers())


def requests_of(made: worlds.Generated, table: Table, served: serving.Served) -> Iterator[Request]:
    """Half of the requests as the world has them, half for hosts that are surely served."""
    choose = random.Random(f"hosts of {made.seed}")
    private = entries.find(Reads(served.world, Settings(), providers={})).private
    public = [
        host for item in table.hosts if not private & set(item.entries) for host in item.hosts
    ]
    for number, one in enumerate(made.requests(REQUESTS)):
        host = choose.choice(public) if number % 2 and public else one.host
        yield Request(one.method, host, one.path, one.headers)


def ends(attempt: Attempt) -> Iterator[tuple[Branch, str] | None]:
    """Every backend that may get the request, with its path; None for a 404."""
    answer = attempt.answer
    if isinstance(answer, NoRoute):
        yield None
        return
    for branch in attempt.branches:
        if branch.then is not None:
            yield from ends(branch.then)
        elif branch.share:
            yield branch, answer.path


def said(request: Request, table: Table, served: serving.Served) -> list[tuple[Branch, str] | None]:
    """What explain says of a request at the public gateways."""
    settings, providers = Settings(provider="envoy"), registry.providers()
    answer = explain.explain(request, served.world, settings, providers=providers, carried=(table,))
    if answer.private:
        return [None]
    of_envoy = (attempt for attempt in answer.attempts if attempt.provider == "envoy")
    found = [end for attempt in of_envoy for end in ends(attempt)]
    return found or [None]


async def check(rig: Rig, request: Request, wanted: list[tuple[Branch, str] | None]) -> bool:
    """Send one request and compare; whether it reached a model."""
    status, seen = await rig.ask(request.method, request.path, request.host, dict(request.headers))
    text = f"{request} went to {seen or status}, explain says {wanted}"
    if status == 404 or None in wanted:
        assert status == 404, text
        assert set(wanted) == {None}, text
        return False
    assert status == 200, text
    where = f"{seen['service']}.{seen['namespace']}.svc.cluster.local:{seen['port']}"
    branch, path = next(end for end in wanted if end and end[0].backend == where)
    assert (seen["host"], seen["path"]) == (branch.host, path), text
    for name, value in branch.headers.items():
        assert seen["headers"].get(name.lower()) == value, (name, text)
    return True


async def test_envoy_goes_where_explain_says(rig: Rig, request: pytest.FixtureRequest) -> None:
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
        asked_now = list(requests_of(made, table, served))
        wanted = [said(one, table, served) for one in asked_now]
        checks = (check(rig, one, end) for one, end in zip(asked_now, wanted, strict=True))
        results = await asyncio.gather(*checks)
        asked += len(results)
        reached += sum(results)
    assert asked >= min(2000, count * REQUESTS)
    assert reached > asked // 3, "worlds whose requests reach nothing prove nothing"
