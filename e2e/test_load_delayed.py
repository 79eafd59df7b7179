"""Measure 4 once more, while istiod takes five seconds for every push to its Envoy."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from e2e import doors
from e2e.bed import bed as beds
from e2e.bed.bed import Bed
from e2e.load import runs, ways
from e2e.load.loop import Loop
from e2e.load.runs import Pace, Runs
from e2e.pods.running import Pods

DELAY = 5
PUSHES = {"PILOT_DEBOUNCE_AFTER": f"{DELAY}s", "PILOT_DEBOUNCE_MAX": f"{DELAY}s"}
PACE = Pace(settle=2.0 * DELAY, drain=3.0 * DELAY)
"""A change that comes while a push is under way waits for the one after it."""


@pytest.fixture(scope="module")
def bed(make_bed: Callable[..., Bed]) -> Bed:
    bed = make_bed((beds.GATEWAY,), envoy=doors.settings(), istiod_environment=PUSHES)
    runs.prepare(bed)
    return bed


def test_nobody_notices_a_rollout_before_a_slow_gateway(bed: Bed, pods: Pods) -> None:
    """The objects say what is to be long before Envoy does: nothing that it leads to may go."""
    with Loop() as loop:
        told = Runs(bed, loop, ways.over_istiod(bed, "gateway_api"), PACE).run()
    assert told.failures == []
    assert told.cut == []
    assert told.sent == told.answered > 0
