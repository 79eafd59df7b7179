"""Measure 4: a rollout under 200 requests a second, with controllers that die of their writes.

Whatever dies: the same objects after each step, no failed request, nothing doubled or lost, and
streams that were opened on the way live to the end (e2e/load/rollout.py tells the steps). With
INGRESSCTL_EVERY_WRITE a controller dies at every single write in a rollout of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from e2e import doors
from e2e.bed import bed as beds
from e2e.bed.bed import Bed
from e2e.load import pictures, runs, ways
from e2e.load.loop import Loop
from e2e.load.rollout import Told
from e2e.load.runs import Pace, Runs
from e2e.pods.running import Pods

EVERY_WRITE = bool(os.environ.get("INGRESSCTL_EVERY_WRITE"))
STEP = 1 if EVERY_WRITE else 13
ORDERS = (True, False) if EVERY_WRITE else (True,)
"""Whether the first to die has no answer to its write, and the second one has; or otherwise."""


@pytest.fixture(scope="module")
def loop() -> Iterator[Loop]:
    with Loop() as loop:
        yield loop


@pytest.fixture(scope="module")
def bed(make_bed: Callable[..., Bed]) -> Bed:
    bed = make_bed((beds.GATEWAY,), envoy=doors.settings())
    runs.prepare(bed)
    return bed


@pytest.fixture(scope="module")
def gateway_api(bed: Bed, pods: Pods, loop: Loop) -> Runs:
    return Runs(bed, loop, ways.over_istiod(bed, "gateway_api"), Pace())


@pytest.fixture(scope="module")
def undisturbed(gateway_api: Runs) -> Told:
    return gateway_api.run()


def assert_unnoticed(told: Told) -> None:
    assert told.failures == []
    assert told.cut == []
    assert told.sent == told.answered > 0


def assert_same(told: Told, undisturbed: Told) -> None:
    """After each step, whoever died on the way to it."""
    found = pictures.differences(undisturbed.objects, told.objects)
    assert "\n".join(found) == ""


def test_nobody_notices_a_rollout(undisturbed: Told) -> None:
    assert_unnoticed(undisturbed)


def test_nobody_notices_a_predictor_that_becomes_what_the_canary_was(gateway_api: Runs) -> None:
    """Its own pods are replaced before the canary goes: nobody meets the old version again."""
    assert_unnoticed(gateway_api.run(stable=""))


@pytest.mark.usefixtures("pods")
def test_nobody_notices_a_rollout_over_virtual_services(bed: Bed, loop: Loop) -> None:
    assert_unnoticed(Runs(bed, loop, ways.over_istiod(bed, "istio"), Pace()).run())


@pytest.mark.parametrize("before", ORDERS)
def test_nobody_notices_controllers_that_die_of_each_write(
    gateway_api: Runs, undisturbed: Told, *, before: bool
) -> None:
    """Each lives for one write; two in a row differ in whether they have learnt of it."""
    told = gateway_api.run(lambda _: True, before=before)
    assert_unnoticed(told)
    assert_same(told, undisturbed)
    assert told.kills >= len(undisturbed.writes) // 2


def test_nobody_notices_a_controller_that_dies_once(gateway_api: Runs, undisturbed: Told) -> None:
    """At one write of all that a rollout has, in a rollout of its own for each."""
    for place in range(1, len(undisturbed.writes) + 1, STEP):
        for before in ORDERS if EVERY_WRITE else (place % 2 == 0,):
            told = gateway_api.run(lambda write, place=place: write == place, before=before)
            assert_unnoticed(told)
            assert_same(told, undisturbed)
            assert told.kills == 1
