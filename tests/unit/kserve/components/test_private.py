"""A component that is asked to be private is so for Knative too, by whichever label (Q46, F23)."""

from __future__ import annotations

import pytest

from ingressctl.api.inferenceservices import (
    CLUSTER_LOCAL,
    KNATIVE_VISIBILITY,
    KSERVE_VISIBILITY,
)
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
