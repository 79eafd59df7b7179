"""What ends a wait early, and what does not."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import describing, registry, waiting
from ingressctl.plan.waiting import Outlook, Wish
from tests.unit.plan import chains
from tests.unit.plan.chains import held, ready

NOW = datetime(2026, 5, 1, 12, 5, tzinfo=UTC)
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap",
          "metadata": {"name": "inferenceservice-config", "namespace": "kserve"}}  # fmt: skip


def look(*objects: dict[str, Any], settings: Settings = Settings()) -> Outlook:  # noqa: B008
    told = describing.describe(
        objects[0],
        World.of([*objects, chains.RUNTIME]),
        settings,
        now=NOW,
        providers=registry.providers(),
    )
    return waiting.look(told, Wish(), settings)


def deployment(name: str, reason: str, owner: dict[str, Any]) -> dict[str, Any]:
    status = ready("False", reason, kind="Progressing")
    return held("apps/v1", "Deployment", name, owner=owner, status=status)


def says(outlook: Outlook) -> str:
    assert outlook.cause is not None
    return outlook.cause.text


def test_ready_is_met() -> None:
    assert look(chains.service(**ready("True"))) == Outlook(True)


def test_the_generation_of_the_deployment_does_not_hold_up_a_ready_service() -> None:
    """KServe writes it into observedGeneration: after a route's edit it lags for good."""
    obj = chains.service(**ready("True"), observedGeneration=1)
    obj["metadata"]["generation"] = 2
    assert look(obj).met


def test_an_image_that_may_still_come_is_waited_for() -> None:
    outlook = look(*chains.stuck())
    assert (outlook.met, outlook.over) == (False, False)
    assert "ImagePullBackOff" in says(outlook)


def test_a_deployment_that_gave_up_is_over() -> None:
    isvc = chains.service(**ready("False", "x"))
    outlook = look(isvc, deployment("m-predictor", "ProgressDeadlineExceeded", isvc))
    assert outlook.over
    assert "Deployment a/m-predictor: ProgressDeadlineExceeded" in says(outlook)


def test_a_canary_that_gave_up_is_not() -> None:
    """The service becomes ready without it."""
    isvc = chains.service(**ready("False", "x"))
    assert not look(isvc, deployment("m-two-predictor", "ProgressDeadlineExceeded", isvc)).over


def test_an_image_name_that_is_none_is_over() -> None:
    isvc = chains.service(**ready("False", "x"))
    predictor = deployment("m-predictor", "Slow", isvc)
    replicas = held("apps/v1", "ReplicaSet", "r", owner=predictor, spec={"replicas": 1})
    outlook = look(isvc, predictor, replicas, chains.waiting_pod(replicas, "InvalidImageName"))
    assert outlook.over
    assert "InvalidImageName" in says(outlook)


def test_a_foreign_object_is_over() -> None:
    isvc = chains.service(**ready("Unknown"))
    fine = [
        held("apps/v1", "Deployment", name, owner=isvc, status=ready("True", kind="Available"))
        for name in ("m-predictor", "m-two-predictor")
    ]
    outlook = look(isvc, held("networking.k8s.io/v1", "Ingress", "m", spec={}), *fine)
    assert outlook.over
    assert "IC5101" in says(outlook)


def test_a_configuration_that_cannot_be_read_is_over() -> None:
    outlook = look(chains.service(**ready("Unknown")), {**CONFIG, "data": {"ingress": "{"}})
    assert outlook.over


def test_an_object_that_admission_refuses_is_over() -> None:
    isvc = chains.service(**ready("Unknown"))
    isvc["spec"]["canary"][0]["trafficPercent"] = 200
    del isvc["metadata"]["uid"]
    outlook = look(isvc)
    assert outlook.over
    assert "IC1302" in says(outlook)


def test_routes_of_a_kind_that_is_not_served_are_over() -> None:
    isvc = chains.service(**ready("Unknown"))
    fine = [
        held("apps/v1", "Deployment", name, owner=isvc, status=ready("True", kind="Available"))
        for name in ("m-predictor", "m-two-predictor")
    ]
    kind = ("gateway.networking.k8s.io", "HTTPRoute")
    settings = Settings(provider="gateway_api", absent=frozenset((kind,)))
    outlook = look(isvc, *fine, settings=settings)
    assert outlook.over
    assert "httproutes.gateway.networking.k8s.io" in says(outlook)


def test_a_host_that_somebody_holds_is_over() -> None:
    isvc = chains.service(
        conditions=[
            {"type": "Ready", "status": "False", "reason": "HostInUse", "message": "of x"},
        ]
    )
    assert look(isvc).over


def test_a_model_that_will_not_load_is_over() -> None:
    isvc = chains.service(
        **ready("False", "x"),
        modelStatus={
            "transitionStatus": "InvalidSpec",
            "lastFailureInfo": {"reason": "ModelLoadFailed", "message": "no such file"},
        },
    )
    outlook = look(isvc)
    assert outlook.over
    assert "ModelLoadFailed: no such file" in says(outlook)


def test_a_runtime_may_still_come() -> None:
    """What is told of a missing one stays in the status when it has come."""
    info = {"reason": "NoSupportingRuntime", "message": "none fits"}
    told = {"transitionStatus": "InvalidSpec", "lastFailureInfo": info}
    assert not look(chains.service(**ready("False", "x"), modelStatus=told)).over


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("condition=Ready", Wish("Ready", "True")),
        ("condition=Available=False", Wish("Available", "False")),
        ("condition=x.io/Done=Unknown", Wish("x.io/Done", "Unknown")),
    ],
)
def test_wishes(text: str, wish: Wish) -> None:
    assert waiting.parse(text) == wish


@pytest.mark.parametrize("text", ["", "Ready", "delete", "condition=", "condition=A=Maybe"])
def test_no_wishes(text: str) -> None:
    with pytest.raises(waiting.WishFault):
        waiting.parse(text)
