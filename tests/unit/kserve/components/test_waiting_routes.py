"""Routes of a component that is not ready: they stay, and their status counts (10.1, 10.6)."""

from __future__ import annotations

from typing import Any

import pytest

from ingressctl.api.refs import Raw
from tests.unit.kserve.components import making

PREDICTOR = {"predictor": {"model": making.model()}}
UNAVAILABLE = {"conditions": [{"type": "Available", "status": "False", "reason": "None"}]}
RUNTIME = making.runtime("rt", making.SKLEARN)


def route(name: str, status: dict[str, Any]) -> Raw:
    deployment = making.owned("Deployment", name)
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": deployment["metadata"],
        "spec": {},
        "status": status,
    }


def parents(status: str, reason: str) -> dict[str, Any]:
    told = {"type": "Accepted", "status": status, "reason": reason, "message": "so it is"}
    gateway = {"namespace": "kserve", "name": "kserve-gateway"}
    return {"parents": [{"parentRef": gateway, "conditions": [told]}]}


@pytest.mark.parametrize(
    ("status", "reason", "message"),
    [
        (parents("False", "NotAllowed"), "NotAllowed", "Predictor so it is"),
        ({"parents": []}, "ParentStatusNotAvailable", "Predictor HttpRouteNotReady"),
    ],
)
def test_a_route_that_stays_is_asked_like_any_other(
    status: dict[str, Any], reason: str, message: str
) -> None:
    """KServe looks at all routes that exist, whether it wrote them in this pass or not."""
    outcome = making.reconcile(
        making.service(PREDICTOR),
        RUNTIME,
        making.owned("Deployment", "iris-predictor", UNAVAILABLE),
        route("iris-predictor", status),
        route("iris", parents("True", "Accepted")),
        chosen=making.settings("kserve"),
    )
    ready = making.condition(outcome, "IngressReady")
    assert (ready["status"], ready["reason"], ready["message"]) == ("False", reason, message)


@pytest.mark.parametrize("provider", ["envoy", "ingress", "istio"])
def test_a_provider_without_objects_waits_as_well(provider: str) -> None:
    """Envoy has no kinds: there is no object that could have stayed."""
    outcome = making.reconcile(
        making.service(PREDICTOR),
        RUNTIME,
        making.owned("Deployment", "iris-predictor", UNAVAILABLE),
        chosen=making.settings("kserve", provider=provider),
    )
    assert making.condition(outcome, "IngressReady")["status"] == "False"
    assert outcome.routes == ()
