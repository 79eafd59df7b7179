"""A request that nothing takes: what comes close, what waits, and entries that nobody has."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ingressctl.api.refs import Raw
from ingressctl.core.outcome import Origin
from ingressctl.core.settings import Settings
from ingressctl.core.table import Request
from ingressctl.core.world import World
from ingressctl.plan import explain, missing, overlay, registry
from ingressctl.plan.explanation import Explanation, leaves
from ingressctl.plan.manifests import Document
from tests.unit.findings.objects import (
    config,
    gateway,
    http_route,
    runtime,
    service,
    standard,
    virtual_service,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PUBLIC = "knative-serving/knative-ingress-gateway"


def hints(host: str, *objects: Raw) -> tuple[str, ...]:
    given = (config(enableGatewayApi=True), gateway(), runtime(), *objects)
    documents = [Document(obj, Origin("x.yaml", 1)) for obj in given]
    laid = overlay.lay(World({}), documents, namespace="team-a", named=True)
    return missing.hints(
        Request("GET", host, "/"), laid, Settings(), now=NOW, providers=registry.providers()
    )


def test_the_nearest_served_hosts_are_named() -> None:
    objects = (standard(), service("iris-predictor"), standard("wholly-different"))
    assert hints("iriss-team-a.example.com", *objects) == (
        "hosts that are served: iris-team-a.example.com, iris-predictor-team-a.example.com",
    )
    assert hints("nowhere.test", *objects) == ()


def test_a_service_that_waits_is_named_with_its_reason() -> None:
    condition = {"type": "PredictorReady", "status": "False", "message": "no image"}
    waiting = standard(status={"conditions": [condition]})
    assert hints("iris-team-a.example.com", waiting)[0] == (
        "InferenceService team-a/iris has no route yet: PredictorReady is False (no image); "
        "ask again with --assume ready"
    )
    assert not any("no route" in text for text in hints("x-team-a.example.com", waiting))


def test_a_stopped_service_is_told_so_and_no_assumption_is_advised() -> None:
    condition = {"type": "PredictorReady", "status": "False", "reason": "Stopped"}
    stopped = standard(status={"conditions": [condition]})
    stopped["metadata"]["annotations"] = {
        **stopped["metadata"].get("annotations", {}),
        "serving.kserve.io/stop": "true",
    }
    assert hints("iris-team-a.example.com", stopped)[0] == (
        "InferenceService team-a/iris is stopped by its annotation serving.kserve.io/stop: "
        "it has no route"
    )


REFUSING = [
    ({"hostname": "*.other.org"}, "listener http of Gateway {} admits only *.other.org"),
    (
        {"allowedRoutes": {"namespaces": {"from": "Same"}}},
        "listener http of Gateway {} allows only routes of namespace kserve",
    ),
]


@pytest.mark.parametrize(("listener", "reason"), REFUSING)
def test_a_refused_host_has_its_refusal_as_reason_and_is_not_advised(
    listener: Raw, reason: str
) -> None:
    host = "shop.example.com"
    edge = gateway(**listener)
    meta = edge["metadata"]
    route = http_route("shop", "shop", host)
    route["spec"]["parentRefs"] = [{"name": meta["name"], "namespace": meta["namespace"]}]
    text = explain.render_text(ask(host, "", edge, route))
    assert f"404: {reason.format(meta['namespace'] + '/' + meta['name'])}" in text
    assert "no route has this host" not in text
    assert not any(host in hint for hint in hints(host, route))


def ask(host: str, via: str, *objects: Raw) -> Explanation:
    world = World.of((config(), *objects))
    return explain.explain(Request("GET", host, "/"), world, Settings(), via=via)


def test_an_entry_that_nobody_has_is_refused_with_those_that_are_known() -> None:
    theirs = virtual_service("shop", "shop", "shop.example.com")
    with pytest.raises(explain.UnknownEntry, match=f"'nope'; known are: .*{PUBLIC}"):
        ask("shop.example.com", "nope", theirs)
    assert ask("other.example.com", PUBLIC, theirs).missed
    assert not ask("shop.example.com", PUBLIC, theirs).missed


@pytest.mark.parametrize("via", ["mesh", ""])
@pytest.mark.parametrize("end", ["", ".svc", ".svc.cluster.local", ".svc.cluster.local:80"])
def test_a_service_answers_for_itself_inside_the_cluster(end: str, via: str) -> None:
    found = ask(f"iris-predictor.team-a{end}", via, gateway(), service("iris-predictor"))
    assert found.private == (not via)
    assert ("Only from inside the cluster" in explain.render_text(found)) == (not via)
    (leaf,) = leaves(found.attempts[0])
    assert leaf.branch is not None
    assert leaf.branch.backend == "iris-predictor.team-a.svc.cluster.local:80"
    missing_one = ask(f"absent.team-a{end}", via, gateway(), service("iris-predictor"))
    assert missing_one.missed
    assert not missing_one.private
