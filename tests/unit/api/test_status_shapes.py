"""A status of another shape than rules take for granted, as a CRD without schema keeps it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import cascade, intake

STATUSES: list[Any] = [
    [],
    {"conditions": {}},
    {"conditions": ["x"]},
    {"components": []},
    {"components": {"predictor": "x"}},
    {"address": "x"},
    {"url": {}},
]


@pytest.mark.parametrize("status", STATUSES)
def test_a_status_of_another_shape_is_made_anew(status: Any) -> None:
    """The reconcile comes to its end, and what it writes has the right shape."""
    obj = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": "iris", "namespace": "a", "uid": "1"},
        "spec": {"predictor": {"containers": [{"name": "kserve-container", "image": "m"}]}},
        "status": status,
    }
    world = World.of([obj])
    done = cascade.run(world, Settings(), now=datetime(2026, 1, 1, tzinfo=UTC))
    (step,) = done.steps
    assert step.status is not None
    assert all(isinstance(item, dict) for item in step.status["conditions"])


def test_a_status_that_is_no_object_is_none() -> None:
    obj = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": "iris", "namespace": "a"},
        "status": "x",
    }
    taken = intake.take(obj, None, Settings())
    assert taken.obj == {key: value for key, value in obj.items() if key != "status"}
