"""Which graphs a request comes to, what they call, and with which URLs their routers run."""

from __future__ import annotations

from typing import Any

import pytest

from ingressctl.api.refs import Ref
from ingressctl.core.differences import Compat
from ingressctl.core.model import Service
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import graphs
from tests.unit.graph import making

IG = ("serving.kserve.io", "InferenceGraph")


def graph(name: str, *steps: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "InferenceGraph",
        "metadata": {"name": name, "namespace": "a"},
        "spec": {"nodes": {"root": {"routerType": "Sequence", "steps": list(steps)}}},
    }


def owned(name: str, owner: str) -> dict[str, Any]:
    reference = {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "InferenceGraph",
        "name": owner,
        "controller": True,
    }
    metadata = {"name": name, "namespace": "a", "ownerReferences": [reference]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata}


def test_a_service_leads_to_the_graph_that_owns_it() -> None:
    world = World.of([graph("g", {"serviceName": "x"}), owned("anything", "g")])
    found = graphs.of_service(Service("a", "anything"), world)
    assert found is not None
    assert found["metadata"]["name"] == "g"


def test_a_revision_leads_to_the_graph_of_its_name() -> None:
    world = World.of([graph("g", {"serviceName": "x"})])
    assert graphs.of_service(Service("a", "g-00001"), world) is not None
    assert graphs.of_service(Service("a", "g-1"), world) is None
    assert graphs.of_service(Service("b", "g"), world) is None


def test_what_is_not_ready_is_called_by_its_name() -> None:
    world = World.of([graph("g", {"serviceName": "x"}, {"serviceUrl": "http://out/p"})])
    obj = world.get(Ref(*IG, "a", "g"))
    assert obj is not None
    ready = graphs.runnable(obj, world, Settings(), {})
    assert list(graphs.urls(ready.spec)) == ["http://x.a.svc.cluster.local/", "http://out/p"]


def test_urls_are_replaced_where_they_are() -> None:
    world = World.of([graph("g", {"nodeName": "root"}, {"serviceUrl": "http://out/p"})])
    obj = world.get(Ref(*IG, "a", "g"))
    assert obj is not None
    spec = graphs.runnable(obj, world, Settings(), {}).spec
    changed = graphs.with_urls(spec, lambda url: url.replace("out", "in"))
    assert list(graphs.urls(changed)) == ["http://in/p"]


def configured(compat: str, names: list[str]) -> str | None:
    """PROPAGATE_HEADERS of the router of a graph where the configuration has these names."""
    obj = making.graph()
    world = World.of([making.config({"headers": {"propagate": names}}), obj])
    return graphs.runnable(obj, world, Settings(compat=Compat.parse(compat)), {}).propagate


@pytest.mark.parametrize(
    ("compat", "names", "text"),
    [
        ("better", ["x-a", "x-b"], "x-a,x-b"),
        ("better", ["x-(a,b)"], '["x-(a,b)"]'),
        ("better", [], None),
        ("kserve", [], ""),
        ("kserve", ["x-(a,b)"], "x-(a,b)"),
    ],
)
def test_headers_are_those_that_the_router_has_in_a_cluster(
    compat: str, names: list[str], text: str | None
) -> None:
    """Under kserve an empty list hands on everything, and a list is never JSON."""
    assert configured(compat, names) == text
    cluster = making.Cluster.of(
        making.config({"headers": {"propagate": names}}), making.graph(), compat=compat
    )
    cluster.look()
    template = cluster.get(making.DEPLOYMENT)["spec"]["template"]
    (container,) = template["spec"]["containers"]
    told = {item["name"]: item.get("value", "") for item in container.get("env") or ()}
    assert told.get("PROPAGATE_HEADERS") == text
