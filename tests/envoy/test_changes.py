"""Changes while requests run: none of them may fail."""

from __future__ import annotations

import asyncio
from collections import Counter

from ingressctl.core.model import Route
from tests.envoy import makers
from tests.envoy.rig import Rig

CHANGES = 1000
HOST = "m.example.com"


async def test_a_thousand_changes_fail_no_request(rig: Rig) -> None:
    """Weights move and backends come and go, under requests all the time."""
    answers: Counter[int] = Counter()
    changing = True

    async def ask() -> None:
        while changing:
            answers[(await rig.get("/", HOST))[0]] += 1

    def wanted(number: int) -> Route:
        canary = f"c{number // 20 % 5}"
        weight = 5 + number % 90
        rule = makers.rule("m", makers.split("m", 100 - weight), makers.split(canary, weight))
        return makers.route("m", makers.group(HOST, rule))

    await rig.serve(wanted(0))
    clients = [asyncio.create_task(ask()) for _ in range(8)]
    for number in range(CHANGES):
        await rig.serve(wanted(number))
    changing = False
    await asyncio.gather(*clients)
    assert not rig.refusals
    assert set(answers) == {200}, answers
    assert sum(answers.values()) > CHANGES // 4


async def test_a_split_is_served_as_wanted(rig: Rig) -> None:
    """Of 2,000 requests each backend gets its share within five standard deviations."""
    shares = {"stable": 70, "blue": 20, "green": 10}
    rule = makers.rule("m", *(makers.split(name, share) for name, share in shares.items()))
    await rig.serve(makers.route("m", makers.group(HOST, rule)))
    seen = Counter([(await rig.get("/", HOST))[1]["service"] for _ in range(2000)])
    for name, share in shares.items():
        expected, spread = 20 * share, (2000 * share / 100 * (1 - share / 100)) ** 0.5
        assert abs(seen[name] - expected) < 5 * spread, seen


async def test_a_zero_weight_gets_nothing(rig: Rig) -> None:
    rule = makers.rule("m", makers.split("m", 100), makers.split("canary", 0))
    await rig.serve(makers.route("m", makers.group(HOST, rule)))
    seen = Counter([(await rig.get("/", HOST))[1]["service"] for _ in range(50)])
    assert set(seen) == {"m"}


async def test_a_host_belongs_to_the_older_owner(rig: Rig) -> None:
    """Two owners of one host: the older one is served, also when it comes later."""
    young = makers.route("young", makers.group(HOST, makers.to("young")), created="2026-02-01")
    old = makers.route("old", makers.group(HOST, makers.to("old")), created="2026-01-01")
    await rig.serve(young)
    assert (await rig.get("/", HOST))[1]["service"] == "young"
    await rig.serve(young, old)
    assert (await rig.get("/", HOST))[1]["service"] == "old"
    await rig.serve(young)
    assert (await rig.get("/", HOST))[1]["service"] == "young"
