"""The first Ready waits for gateways: by what they say, else by time."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from ingressctl.api.refs import Raw
from ingressctl.cli import plugins
from ingressctl.core import conditions
from ingressctl.core.settings import Settings
from ingressctl.core.values import replace
from ingressctl.core.world import World
from ingressctl.plan import cascade, probing, settling
from ingressctl.plan.cascade import Step
from ingressctl.plan.probing import Answer, Question
from ingressctl.plan.settling import Bearings

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GATEWAY, LOCAL = "kserve/public", "knative-serving/knative-local-gateway"
YES, NO, NOTHING = Answer("yes", follows=True), Answer("no", follows=False), Answer("nothing")
SERVICE: dict[str, Any] = {
    "apiVersion": "serving.kserve.io/v1beta1",
    "kind": "InferenceService",
    "metadata": {"name": "iris", "namespace": "team-a", "uid": "1"},
    "spec": {"predictor": {"containers": [{"name": "kserve-container", "image": "m"}]}},
}


def world(**status: Any) -> World:
    """A service, its configuration and the public Gateway with this status."""
    ingress = {
        "enableGatewayApi": True,
        "kserveIngressGateway": GATEWAY,
        "ingressGateway": GATEWAY,
        "localGateway": LOCAL,
        "localGatewayService": "local.istio-system.svc.cluster.local",
        "ingressDomain": "example.com",
        "pathTemplate": "/serving/{{ .Namespace }}/{{ .Name }}",
    }
    data = {"ingress": json.dumps(ingress), "deploy": '{"defaultDeploymentMode": "Standard"}'}
    place = {"name": "inferenceservice-config", "namespace": "kserve"}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": place, "data": data}
    gateway = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {"name": "public", "namespace": "kserve"},
        "spec": {
            "listeners": [
                {"name": "tls", "port": 443, "protocol": "HTTPS"},
                {"name": "http", "port": 8080, "protocol": "HTTP"},
            ]
        },
        "status": status,
    }
    return World.of([SERVICE, config, gateway])


def reconciled(provider: str = "gateway_api") -> Step:
    settings = Settings(provider=provider, assume="ready")
    ran = cascade.run(world(), settings, now=NOW, providers=plugins.providers())
    return ran.steps[0]


def asked(provider: str, probes: dict[str, str], **status: Any) -> tuple[Question, ...]:
    return probing.questions(reconciled(provider), world(**status), probes)


@pytest.mark.parametrize("provider", ["gateway_api", "istio"])
def test_public_gateways_are_asked_for_the_owners_public_hosts(provider: str) -> None:
    """No private name, and not the shared host of paths, which others answer at already."""
    probes = {GATEWAY: "10.0.0.1:80", LOCAL: "10.0.0.2:80", "other/one": "10.0.0.3:80"}
    found = asked(provider, probes)
    assert {question.address for question in found} == {"10.0.0.1:80"}
    hosts = {question.host for question in found}
    assert hosts
    assert all("iris" in host and "svc" not in host for host in hosts)


@pytest.mark.parametrize(
    ("address", "wanted"), [("10.0.0.9", "10.0.0.9:8080"), ("fd00::9", "[fd00::9]:8080")]
)
def test_an_address_may_come_from_the_gateways_status(address: str, wanted: str) -> None:
    """With the port of its plain listener. Without one nobody is asked."""
    found = asked("gateway_api", {GATEWAY: ""}, addresses=[{"value": address}])
    assert {question.address for question in found} == {wanted}
    assert asked("gateway_api", {GATEWAY: ""}) == ()


@pytest.mark.parametrize(
    ("probed", "quiet", "waits"),
    [
        (None, 5.0, True),
        (None, 0.0, False),
        (NOTHING, 5.0, True),
        (NOTHING, 0.0, False),
        (YES, 5.0, False),
        (NO, 5.0, True),
        (NO, 0.0, True),
    ],
)
def test_what_a_gateway_says_comes_before_time(
    probed: Answer | None, quiet: float, waits: bool
) -> None:
    assert waiting(SERVICE, Bearings(settle=5.0, probed=probed), quiet) == waits


def test_an_answer_is_about_the_routes_that_were_there() -> None:
    bearings = Bearings(settle=5.0, probed=YES)
    assert waiting(SERVICE, bearings, 5.0, routed=True)


def test_our_own_proxies_are_believed_alone() -> None:
    """A gateway that says yes may not be the one that has to follow."""
    bearings = Bearings(settle=5.0, probed=YES, unacknowledged=frozenset({reconciled().ref}))
    assert waiting(SERVICE, bearings, 5.0)


def test_who_is_ready_stays_ready() -> None:
    ready = {**SERVICE, "status": {"conditions": [{"type": "IngressReady", "status": "True"}]}}
    assert not waiting(ready, Bearings(settle=5.0, probed=NO), 5.0)


def waiting(obj: Raw, bearings: Bearings, quiet: float, *, routed: bool = False) -> bool:
    return settling.waits(obj, reconciled(), Settings(), bearings, quiet, routed=routed)


def test_the_condition_names_who_was_asked_and_what_came_back() -> None:
    question = Question(GATEWAY, "10.0.0.1:80", "iris.team-a.example.com")
    bearings = Bearings(settle=5.0, probed=probing.judged(question, 404, by_model=False))
    status = settling.held_back(reconciled().status or {}, reconciled(), bearings)
    found = {item["type"]: item for item in status["conditions"]}
    for kind in ("IngressReady", "Ready"):
        assert (found[kind]["status"], found[kind]["reason"]) == ("Unknown", "GatewaySettling")
        for part in (GATEWAY, "10.0.0.1:80", "iris.team-a.example.com", "404"):
            assert part in found[kind]["message"]


def outdated(*, stored: str) -> tuple[dict[str, Any], Step]:
    """A service whose gateway speaks of an earlier generation of its routes."""
    step = reconciled()
    ready = {"type": "IngressReady", "status": "Unknown", "reason": settling.OUTDATED}
    outcome = replace(step.outcome, status={"conditions": [ready]})
    obj = {**SERVICE, "status": {"conditions": [{"type": "IngressReady", "status": stored}]}}
    return obj, replace(step, outcome=outcome)


def test_an_edit_does_not_turn_ready_off_while_the_gateway_reads_it() -> None:
    obj, step = outdated(stored="True")
    assert settling.lags(obj, step, 3.0)
    kept = settling.still_ready(step.status or {}, step)
    assert conditions.stored_status(kept, "IngressReady") == "True"
    assert conditions.stored_status(kept, "Ready") == "True"


@pytest.mark.parametrize(("stored", "quiet"), [("True", 0.0), ("False", 3.0), ("Unknown", 3.0)])
def test_a_late_gateway_is_told_and_the_first_ready_is_earned(stored: str, quiet: float) -> None:
    obj, step = outdated(stored=stored)
    assert not settling.lags(obj, step, quiet)


def test_no_settle_time_is_none() -> None:
    """Also for the second that times in objects do not tell."""
    assert (
        settling.quiet_in(SERVICE, reconciled(), world(), Bearings(settle=0.0), NOW, routed=False)
        == 0.0
    )
