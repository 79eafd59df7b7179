"""A component that is asked to be private is so for Knative too, by whichever label (Q46, F23)."""

from __future__ import annotations

from typing import Any

import pytest

from ingressctl.api.inferenceservices import (
    CLUSTER_LOCAL,
    KNATIVE_VISIBILITY,
    KSERVE_VISIBILITY,
)
from ingressctl.core.kserve import visibility
from ingressctl.core.outcome import Keep
from tests.unit.kserve.components import making


@pytest.mark.parametrize(
    ("label", "compat", "private"),
    [
        (KNATIVE_VISIBILITY, "better", True),
        (KSERVE_VISIBILITY, "better", True),
        (KNATIVE_VISIBILITY, "kserve", True),
        (KSERVE_VISIBILITY, "kserve", False),
        ("stage", "better", False),
    ],
)
def test_knative_is_told_by_its_own_label(label: str, compat: str, private: bool) -> None:
    """It gives each of its Services a host of its own, and a public one without that label."""
    service = making.service(
        {"predictor": {"model": making.model()}}, labels={label: CLUSTER_LOCAL}
    )
    runtime = making.runtime("rt", making.SKLEARN)
    chosen = making.settings(compat)
    scaling = making.configmap("config-autoscaler", "knative-serving", {})
    outcome = making.reconcile(service, runtime, scaling, mode="Knative", chosen=chosen)
    made = making.child(outcome, "serving.knative.dev/Service", "iris-predictor")
    assert (made["metadata"]["labels"].get(KNATIVE_VISIBILITY) == CLUSTER_LOCAL) is private


@pytest.mark.parametrize("label", [KNATIVE_VISIBILITY, KSERVE_VISIBILITY])
@pytest.mark.parametrize(("compat", "hidden"), [("better", True), ("kserve", False)])
@pytest.mark.parametrize("broken", [{"predictor": 7}, {"predictor": {"minReplicas": 2**31}}])
def test_what_cannot_be_read_is_hidden_all_the_same(
    label: str, compat: str, hidden: bool, broken: dict[str, Any]
) -> None:
    """Q7: an edit that asks to be private and has a fault leaves nothing public."""
    service = making.service(broken, labels={label: CLUSTER_LOCAL})
    outcome = making.reconcile(service, chosen=making.settings(compat))
    assert outcome.keep == Keep(everything=True, hidden=hidden)


@pytest.mark.parametrize("metadata", [None, {"labels": ["x"]}, {"labels": {}}])
def test_labels_of_any_shape_ask_for_nothing(metadata: object) -> None:
    assert not visibility.asks_to_be_private({"metadata": metadata})
