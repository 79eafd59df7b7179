"""Which ports a component Service shows (spec/kserve-runtimes.md 8)."""

from __future__ import annotations

from typing import Any

import pytest

from ingressctl.api.refs import Raw
from ingressctl.core.outcome import Outcome
from tests.unit.kserve.components import making


def custom(*containers: dict[str, Any], **predictor: Any) -> Raw:
    spec = {"predictor": {"containers": list(containers), **predictor}}
    return making.service(spec)


def container(*ports: dict[str, Any], name: str = "kserve-container") -> dict[str, Any]:
    return {"name": name, "image": "example/server:1", "ports": list(ports)}


def shown(obj: Raw, compat: str = "better") -> list[tuple[Any, ...]]:
    outcome = making.reconcile(obj, chosen=making.settings(compat))
    return ports_of(outcome)


def ports_of(outcome: Outcome) -> list[tuple[Any, ...]]:
    assert not outcome.faults
    ports = making.child(outcome, "/Service", "iris-predictor")["spec"]["ports"]
    return [
        (port.get("name"), port["port"], port["targetPort"], port.get("appProtocol"))
        for port in ports
    ]


H2C = "kubernetes.io/h2c"


@pytest.mark.parametrize(
    ("ports", "expected"),
    [
        ([], [("iris-predictor", 80, 8080, None)]),
        ([{"containerPort": 7070}], [(None, 80, 7070, None)]),
        ([{"containerPort": 7070, "name": "h2c"}], [("h2c", 80, 7070, H2C)]),
        (
            [{"containerPort": 9000, "name": "grpc"}, {"containerPort": 8080, "name": "http1"}],
            [("grpc", 9000, 9000, H2C), ("http1", 80, 8080, None)],
        ),
    ],
)
def test_the_first_port_is_80_and_the_others_keep_their_number(
    ports: list[dict[str, Any]], expected: list[tuple[Any, ...]]
) -> None:
    """F25: the first that is not gRPC, if there is any."""
    assert shown(custom(container(*ports))) == expected


def test_kserve_gives_port_80_to_the_first_port_whatever_it_speaks() -> None:
    ports = ({"containerPort": 9000, "name": "grpc"}, {"containerPort": 8080, "name": "http1"})
    expected = [("grpc", 80, 9000, H2C), ("http1", 8080, 8080, None)]
    assert shown(custom(container(*ports)), "kserve") == expected


def test_a_transformer_in_the_pod_shows_its_ports() -> None:
    server = container({"containerPort": 8085, "name": "http1"})
    beside = container({"containerPort": 8090, "name": "t"}, name="transformer-container")
    assert shown(custom(server, beside)) == [("t", 80, 8090, None)]
    assert shown(custom(server, container(name="transformer-container"))) == [
        ("iris-predictor", 80, 8080, None)
    ]


def test_an_agent_takes_the_first_port_alone() -> None:
    ports = ({"containerPort": 8085, "name": "http1"}, {"containerPort": 9000, "name": "h2c"})
    obj = custom(container(*ports), logger={"mode": "all"})
    assert shown(obj) == [("http1", 80, 9081, None), ("h2c", 9000, 9000, H2C)]


def test_names_are_made_up_where_the_api_server_wants_them() -> None:
    """R7: only a lone port may be without a name."""
    obj = custom(container({"containerPort": 8085}, {"containerPort": 9000, "name": "grpc"}))
    assert [port[0] for port in shown(obj)] == ["port-8085", "grpc"]
    refused = making.reconcile(obj, chosen=making.settings("kserve"))
    assert "spec.ports[0].name: Required value" in refused.faults[0].message
    assert making.condition(refused, "PredictorReady")["reason"] == "ReconcileFailed"


def test_the_order_of_containers_does_not_matter() -> None:
    """R8: kserve-container is found wherever it stands."""
    side = container({"containerPort": 7072, "name": "side"}, name="side")
    server = container({"containerPort": 7070, "name": "http1"})
    assert shown(custom(side, server)) == shown(custom(server, side)) == [("http1", 80, 7070, None)]


def test_ports_of_runtime_and_service_are_merged_by_number() -> None:
    runtime = making.runtime("rt", making.SKLEARN)
    runtime["spec"]["containers"][0]["ports"] = [{"containerPort": 8085, "name": "http1"}]
    model = making.model(
        ports=[{"containerPort": 9000, "name": "grpc"}, {"containerPort": 8085, "name": "web"}]
    )
    outcome = making.reconcile(making.service({"predictor": {"model": model}}), runtime)
    assert ports_of(outcome) == [("grpc", 9000, 9000, H2C), ("web", 80, 8085, None)]
