"""Measure 4 with our own Envoy: its controller is its only source of routes, and dies.

The Envoy outlives every controller; the next one has to pick up where the last one was killed,
by what is in the cluster alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from e2e.bed import bed as beds
from e2e.bed.bed import Bed
from e2e.load import runs, ways
from e2e.load.loop import Loop
from e2e.load.rollout import Told
from e2e.load.runs import Pace, Runs
from e2e.pods.running import Pods
from e2e.test_load import EVERY_WRITE, assert_same, assert_unnoticed

STEP = 1 if EVERY_WRITE else 17


def lasting(told: Told) -> Told:
    """Without what is only kept for streams: that a killed controller held something back for
    them is not known to the next one, which lets its pods end by their grace."""
    stays = told.objects["drained"].keys()
    left = {
        step: {key: _settled(obj) for key, obj in objects.items() if key in stays}
        for step, objects in told.objects.items()
    }
    return replace(told, objects=left)


def _settled(obj: dict[str, Any]) -> dict[str, Any]:
    conditions = (obj.get("status") or {}).get("conditions")
    if conditions is None:
        return obj
    kept = [item for item in conditions if item["type"] != "TrafficSettled"]
    return {**obj, "status": {**obj["status"], "conditions": kept}}


@pytest.fixture(scope="module")
def bed(make_bed: Callable[..., Bed]) -> Bed:
    bed = make_bed((beds.CRDS, beds.CONTROLLERS))
    runs.prepare(bed)
    return bed


@pytest.fixture(scope="module")
def envoy(bed: Bed, pods: Pods) -> Iterator[Runs]:
    with Loop() as loop:
        yield Runs(bed, loop, ways.over_own_envoy(bed), Pace())


@pytest.fixture(scope="module")
def undisturbed(envoy: Runs) -> Told:
    return envoy.run()


def test_nobody_notices_a_rollout(undisturbed: Told) -> None:
    assert_unnoticed(undisturbed)


def test_nobody_notices_controllers_that_die_of_each_write(envoy: Runs, undisturbed: Told) -> None:
    told = envoy.run(lambda _: True)
    assert_unnoticed(told)
    assert_same(lasting(told), lasting(undisturbed))
    assert told.kills >= len(undisturbed.writes) // 2


def test_nobody_notices_a_controller_that_dies_once(envoy: Runs, undisturbed: Told) -> None:
    for place in range(1, len(undisturbed.writes) + 1, STEP):
        told = envoy.run(lambda write, place=place: write == place, before=place % 2 == 0)
        assert_unnoticed(told)
        assert_same(lasting(told), lasting(undisturbed))
        assert told.kills == 1
