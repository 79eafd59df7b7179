"""An InferenceService and an InferenceGraph of one name in Knative mode (F4, IG-R12)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ingressctl.api.refs import Raw, Ref
from ingressctl.core.differences import Compat
from ingressctl.core.outcome import Finding
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import cascade, findings
from tests.unit.findings.objects import config_map, knative
from tests.unit.graph.making import KNATIVE, config
from tests.unit.graph.making import graph as graph_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OLD, NEW = "2025-01-01T00:00:00Z", "2025-06-01T00:00:00Z"
PRIVATE = {"networking.knative.dev/visibility": "cluster-local"}
ISTIO = {
    "enableGatewayApi": False,
    "localGateway": "knative-serving/knative-local-gateway",
    "localGatewayService": "knative-local-gateway.istio-system.svc.cluster.local",
}
HOST = "iris.team-a.example.com"
SERVICE = Ref("serving.kserve.io", "InferenceService", "team-a", "iris")
GRAPH = Ref("serving.kserve.io", "InferenceGraph", "team-a", "iris")
ROUTER = Ref("serving.knative.dev", "Service", "team-a", "iris")


def model(**parts: Any) -> Raw:
    made = knative("iris", annotations=KNATIVE, **parts)
    return {key: value for key, value in made.items() if key != "status"}


def pipe(name: str = "iris", **parts: Any) -> Raw:
    return graph_of(name=name, annotations=KNATIVE, **parts)


def run(*objects: Raw, compat: str = "better") -> tuple[cascade.Cascade, tuple[Finding, ...]]:
    domain = config_map("config-domain", {"example.com": ""})
    world = World.of((config(**ISTIO), domain, *objects))
    settings = Settings(
        compat=Compat.parse(compat), assume="ready", write=frozenset({"routes", "workloads"})
    )
    done = cascade.run(world, settings, now=NOW)
    return done, findings.find(done, base=world, settings=settings)


def told(found: tuple[Finding, ...]) -> list[tuple[Ref, Ref]]:
    return [(item.refs[0], item.refs[1]) for item in found if item.code == "IC2101"]


def conditions(done: cascade.Cascade, ref: Ref) -> dict[str, tuple[str, str]]:
    status = (done.world.get(ref) or {})["status"]
    return {item["type"]: (item["status"], item.get("reason", "")) for item in status["conditions"]}


def test_the_older_service_keeps_the_host_and_no_router_is_made_beside_it() -> None:
    done, found = run(model(created=OLD), pipe(created=NEW))
    assert told(found) == [(GRAPH, SERVICE)]
    assert conditions(done, GRAPH)["RouteReady"] == ("False", "HostInUse")
    assert conditions(done, GRAPH)["Ready"][0] == "False"
    assert "url" not in done.world.get(GRAPH)["status"]  # type: ignore[index]
    assert done.world.get(ROUTER) is None


def test_the_older_graph_keeps_the_host_and_the_service_says_so() -> None:
    done, found = run(model(created=NEW), pipe(created=OLD))
    assert told(found) == [(SERVICE, GRAPH)]
    assert conditions(done, SERVICE)["IngressReady"] == ("False", "HostInUse")
    assert conditions(done, GRAPH)["Ready"][0] == "True"
    assert done.world.get(GRAPH)["status"]["url"] == f"http://{HOST}"  # type: ignore[index]
    assert done.world.get(ROUTER) is not None


def test_two_new_ones_do_not_wait_for_each_other() -> None:
    done, found = run(model(), pipe(created=""))
    assert told(found) == [(GRAPH, SERVICE)]
    assert done.passes < cascade.MAX_PASSES


def test_a_router_that_is_there_stays_while_its_graph_has_lost_the_host() -> None:
    before, _ = run(pipe(created=NEW))
    router = before.world.get(ROUTER)
    assert router is not None
    after, found = run(model(created=OLD), pipe(created=NEW), router)
    assert told(found) == [(GRAPH, SERVICE)]
    assert after.world.get(ROUTER) is not None


def test_a_private_graph_wants_no_host_but_the_same_service() -> None:
    done, found = run(model(created=OLD), pipe(created=NEW, labels=PRIVATE))
    assert told(found) == []
    assert conditions(done, GRAPH)["Ready"][0] == "True"
    clashes = [item for item in found if item.code == "IC2004"]
    assert {(item.refs, dict(item.args)["kind"]) for item in clashes} == {
        ((GRAPH, SERVICE), "Service")
    }


@pytest.mark.parametrize(
    ("objects", "compat"),
    [
        ((model(created=OLD), pipe("other", created=NEW)), "better"),
        ((model(created=OLD), pipe(created=NEW)), "better,-Q15"),
    ],
)
def test_nothing_is_told_of_other_hosts_or_where_nobody_owns_one(
    objects: tuple[Raw, ...], compat: str
) -> None:
    _, found = run(*objects, compat=compat)
    assert told(found) == []
