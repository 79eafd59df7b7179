"""Who keeps a host, and what a model learns of it: rules that no case of one service shows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ingressctl.api.refs import Raw, Ref
from ingressctl.core.differences import BETTER, Compat
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import cascade
from ingressctl.sources.kserve import reconcile as kserve
from tests.unit.findings.objects import Obj, config, knative, standard

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SOURCES = {("serving.kserve.io", "InferenceService"): kserve.reconcile_routes}
HOST = "a-b-c.example.com"
OLD, NEW = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


def run(*objects: Obj, compat: Compat = BETTER) -> World:
    settings = Settings(compat=compat, assume="ready")
    return cascade.run(World.of(objects), settings, now=NOW, sources=SOURCES).world


def service(world: World, namespace: str, name: str) -> Raw:
    found = world.get(Ref("serving.kserve.io", "InferenceService", namespace, name))
    assert found is not None
    return found


def condition(obj: Raw) -> dict[str, Any]:
    conditions = obj["status"]["conditions"]
    return next(item for item in conditions if item["type"] == "IngressReady")


def hosts(world: World, namespace: str, name: str) -> list[str]:
    obj = world.get(Ref("networking.k8s.io", "Ingress", namespace, name))
    return [rule["host"] for rule in (obj or {"spec": {"rules": []}})["spec"]["rules"]]


def two(first: str, second: str, **parts: Any) -> tuple[Obj, Obj]:
    """Two services of one host, created at these times; `parts` are the second's."""
    return (standard("a-b", "c", created=first), standard("a", "b-c", created=second, **parts))


def test_the_older_service_keeps_the_host() -> None:
    world = run(config(), *two(OLD, NEW))
    assert HOST in hosts(world, "c", "a-b")
    assert hosts(world, "b-c", "a") == ["a-predictor-b-c.example.com"]
    lost = condition(service(world, "b-c", "a"))
    assert (lost["status"], lost["reason"]) == ("False", "HostInUse")
    assert "InferenceService c/a-b, which is older" in lost["message"]
    assert "url" not in service(world, "b-c", "a")["status"]


def test_who_serves_it_keeps_it_from_an_older_one() -> None:
    """An older service that asks for the host later does not take it away."""
    world = run(config(), *two(OLD, NEW, status={"url": f"http://{HOST}"}))
    assert HOST in hosts(world, "b-c", "a")
    assert HOST not in hosts(world, "c", "a-b")


def test_names_decide_where_nothing_else_does() -> None:
    world = run(config(), *two(OLD, OLD))
    assert HOST in hosts(world, "b-c", "a")


def test_a_stopped_service_lets_the_host_go() -> None:
    first, second = two(OLD, NEW)
    first["metadata"]["annotations"]["serving.kserve.io/stop"] = "true"
    world = run(config(), first, second)
    assert HOST in hosts(world, "b-c", "a")
    assert condition(service(world, "b-c", "a"))["status"] == "True"


def test_the_shared_host_of_path_rules_belongs_to_nobody() -> None:
    template = "/serving/{{ .Namespace }}/{{ .Name }}"
    world = run(config(pathTemplate=template), knative("a"), knative("b"))
    for name in ("a", "b"):
        obj = world.get(Ref("networking.istio.io", "VirtualService", "team-a", name))
        assert obj is not None
        assert "example.com" in obj["spec"]["hosts"]


def test_without_the_difference_both_are_routed() -> None:
    world = run(config(), *two(OLD, NEW), compat=Compat.parse("better,-Q15"))
    assert HOST in hosts(world, "c", "a-b")
    assert HOST in hosts(world, "b-c", "a")


def test_a_transition_keeps_its_time_when_nothing_changes() -> None:
    """A condition that is set to and fro within one pass did not change (F110)."""
    world = run(config(), *two(OLD, NEW))
    lost = service(world, "b-c", "a")
    stamped = [{**item, "lastTransitionTime": OLD} for item in lost["status"]["conditions"]]
    lost = {**lost, "status": {**lost["status"], "conditions": stamped}}
    again = cascade.run(world.overlay([lost]), Settings(assume="ready"), now=NOW, sources=SOURCES)
    assert service(again.world, "b-c", "a")["status"]["conditions"] == stamped


@pytest.mark.parametrize(("compat", "told"), [("better", True), ("better,-F119", False)])
def test_a_model_learns_its_public_host(compat: str, told: bool) -> None:
    """Only requests from outside have one, and each additional host is its own."""
    extra = config(additionalIngressDomains=["models.example.org"])
    maps = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"example.com": ""}}
    domains = {**maps, "metadata": {"name": "config-domain", "namespace": "knative-serving"}}
    world = run(extra, domains, knative(), compat=Compat.parse(compat))
    obj = world.get(Ref("networking.istio.io", "VirtualService", "team-a", "iris"))
    assert obj is not None
    seen = {
        http["headers"]["request"]["set"].get("X-Forwarded-Host") for http in obj["spec"]["http"]
    }
    public = {"iris.team-a.example.com", "iris.team-a.models.example.org"}
    assert seen == ({None} | public if told else {None})
