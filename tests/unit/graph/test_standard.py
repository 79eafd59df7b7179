"""A graph in Standard mode: objects, readiness, route, URL, stop."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ingressctl.api.refs import ref_of
from tests.unit.graph import making
from tests.unit.graph.making import (
    DEPLOYMENT,
    GRAPH,
    HPA,
    KSERVICE,
    MOUNTED,
    ROUTE,
    ROUTES,
    SCALED,
    SERVICE,
    STANDARD,
    Cluster,
    config,
    graph,
    serving,
)


def test_it_becomes_ready_step_by_step() -> None:
    cluster = Cluster.of(config(), graph())
    cluster.look()
    assert cluster.condition("RouterReady")[:2] == ("Unknown", "RouterStarting")
    assert cluster.condition("RouteReady")[:2] == ("Unknown", "RouterNotReady")
    assert cluster.get(ROUTE) is None, "nobody is sent to a router that does not serve"
    assert not cluster.url()
    cluster.available()
    cluster.look()
    assert cluster.get(ROUTE) is not None
    assert cluster.condition("Ready")[0] != "True", "the gateway has said nothing yet"
    assert not cluster.url()
    cluster.accepted()
    step = cluster.look()
    assert cluster.condition("Ready")[0] == "True"
    assert cluster.url() == "https://pipe-team-a.example.com"
    status = cluster.get(GRAPH)["status"]
    assert status["address"] == {"url": "http://pipe.team-a.svc.cluster.local"}
    assert (status["observedGeneration"], status["deploymentMode"]) == (3, "Standard")
    assert [event.reason for event in step.outcome.events] == ["InferenceGraphReady"]
    again = cluster.look()
    assert again.settlement.quiet
    assert again.outcome.events == ()


def test_what_is_not_available_is_not_ready_and_keeps_its_url() -> None:
    cluster = serving()
    cluster.available("False", "MinimumReplicasUnavailable")
    step = cluster.look()
    assert cluster.condition("Ready")[:2] == ("False", "MinimumReplicasUnavailable")
    assert cluster.get(ROUTE) is not None, "the route stays while the router is away"
    assert cluster.url()
    assert [event.reason for event in step.outcome.events] == ["InferenceGraphNotReady"]


def test_a_stopped_graph_leaves_nothing() -> None:
    cluster = serving()
    stopped = graph(annotations=STANDARD | {"serving.kserve.io/stop": "True"})
    cluster.put(stopped | {"status": cluster.get(GRAPH)["status"]})
    cluster.look()
    assert [ref_of(obj) for obj in cluster.world if obj["kind"] not in ("ConfigMap",)] == [GRAPH]
    assert cluster.condition("Ready")[:2] == ("False", "Stopped")
    assert cluster.condition("Stopped")[0] == "True"
    assert not cluster.url()


@pytest.mark.parametrize(
    ("labels", "ingress"),
    [
        ({"networking.kserve.io/visibility": "cluster-local"}, {}),
        ({"networking.knative.dev/visibility": "cluster-local"}, {}),
        ({}, {"ingressDomain": "svc.cluster.local"}),
        ({}, {"disableIngressCreation": True}),
    ],
)
def test_a_private_graph_has_no_route(labels: dict[str, str], ingress: dict[str, Any]) -> None:
    cluster = Cluster.of(config(**ingress), graph(labels=labels))
    cluster.look()
    cluster.available()
    cluster.look()
    assert cluster.get(ROUTE) is None
    assert cluster.condition("RouteReady")[:2] == ("True", "ClusterLocal")
    assert cluster.condition("Ready")[0] == "True"
    assert cluster.url() == "http://pipe.team-a.svc.cluster.local"


def test_a_graph_that_becomes_private_loses_its_route() -> None:
    cluster = serving()
    private = {"networking.kserve.io/visibility": "cluster-local"}
    cluster.put(graph(labels=private, status=cluster.get(GRAPH)["status"]))
    step = cluster.look()
    assert cluster.get(ROUTE) is None
    assert step.outcome.keep.hidden, "it goes even while lists are not whole"
    assert cluster.url() == "http://pipe.team-a.svc.cluster.local"


def limits(**spec: Any) -> str:
    rules = serving(config(), graph(**spec)).get(ROUTE)["spec"]["rules"]
    return str(rules[0]["timeouts"]["request"])


def test_the_route_waits_as_long_as_the_router() -> None:
    assert limits() == "60s"
    assert limits(timeout=300) == "300s"
    assert limits(routerTimeouts={"serverWrite": 90}) == "90s"
    assert limits(timeout=100_000) == "27h46m40s", "a number may have five digits there"


def test_a_headless_router_is_called_at_its_own_port() -> None:
    headless = config()
    headless = {
        **headless,
        "data": {**headless["data"], "service": '{"serviceClusterIPNone":true}'},
    }
    cluster = serving(headless, graph())
    address = cluster.get(GRAPH)["status"]["address"]["url"]
    assert address == "http://pipe.team-a.svc.cluster.local:8080"


def test_a_mounted_graph_changes_without_rolling_the_pods() -> None:
    mounted = config({"graphSource": "ConfigMap", "command": ["ingressctl", "router"]})
    cluster = serving(mounted, graph({"serviceUrl": "http://a/"}))
    (router,) = cluster.get(DEPLOYMENT)["spec"]["template"]["spec"]["containers"]
    assert router["command"] == ["ingressctl", "router"]
    assert router["args"] == ["--graph-file", "/etc/ingressctl/graph/graph.json"]
    assert router["volumeMounts"][0]["mountPath"] == "/etc/ingressctl/graph"
    assert "http://a/" in cluster.get(MOUNTED)["data"]["graph.json"]
    cluster.put(graph({"serviceUrl": "http://b/"}, status=cluster.get(GRAPH)["status"]))
    step = cluster.look()
    assert [ref_of(obj) for obj in step.settlement.changed] == [MOUNTED]
    assert "http://b/" in cluster.get(MOUNTED)["data"]["graph.json"]


def test_a_graph_that_is_mounted_no_more_leaves_no_map_behind() -> None:
    cluster = serving(config({"graphSource": "ConfigMap"}), graph())
    cluster.put(config())
    cluster.look()
    assert cluster.get(MOUNTED) is None


def test_the_router_gets_the_compat_of_a_mounted_graph() -> None:
    mounted = config({"graphSource": "ConfigMap"})
    cluster = Cluster.of(mounted, graph(), compat="better,-IG-D9")
    cluster.look()
    (router,) = cluster.get(DEPLOYMENT)["spec"]["template"]["spec"]["containers"]
    assert router["args"][2:] == ["--compat", "better,-IG-D9"]


def test_the_other_modes_objects_go() -> None:
    """A graph that KServe switched from one mode to the other."""
    knative = Cluster.of(config(), graph(annotations=making.KNATIVE))
    knative.look()
    orphan = knative.get(KSERVICE)
    cluster = Cluster.of(config(), graph(), orphan)
    cluster.look()
    assert cluster.get(KSERVICE) is None
    kept = Cluster.of(config(), graph(), orphan, compat="kserve")
    kept.look()
    assert kept.get(KSERVICE) == orphan


def test_the_mode_stays() -> None:
    cluster = serving()
    cluster.put(graph(annotations=making.KNATIVE, status=cluster.get(GRAPH)["status"]))
    step = cluster.look()
    assert cluster.get(KSERVICE) is None
    assert cluster.get(DEPLOYMENT) is not None
    assert "IC1601" in [finding.code for finding in step.findings]


def test_autoscalers_follow_their_class() -> None:
    def of_class(name: str) -> dict[str, Any]:
        return graph(
            annotations=STANDARD | {"serving.kserve.io/autoscalerClass": name},
            minReplicas=2,
            maxReplicas=5,
            scaleMetric="memory",
            scaleTarget=70,
        )

    cluster = Cluster.of(config(), of_class("hpa"))
    cluster.look()
    assert cluster.get(HPA)["spec"]["maxReplicas"] == 5
    cluster.put(of_class("keda"))
    cluster.look()
    assert cluster.get(HPA) is None
    scaled = cluster.get(SCALED)["spec"]
    assert (scaled["minReplicaCount"], scaled["maxReplicaCount"]) == (2, 5)
    assert [trigger["type"] for trigger in scaled["triggers"]] == ["memory"]
    cluster.put(of_class("none"))
    cluster.look()
    assert cluster.get(SCALED) is None
    assert cluster.get(DEPLOYMENT)["spec"]["replicas"] == 2


def test_an_autoscaler_that_was_filled_in_is_left_alone() -> None:
    """An API server fills `behavior` in."""
    cluster = serving()
    stored = copy.deepcopy(dict(cluster.get(HPA)))
    stored["spec"]["behavior"] = {"scaleUp": {"stabilizationWindowSeconds": 0}}
    cluster.put(stored)
    assert cluster.look().settlement.quiet
    stored["spec"]["maxReplicas"] = 9
    cluster.put(stored)
    cluster.look()
    assert cluster.get(HPA)["spec"]["maxReplicas"] == 1


def test_somebody_elses_objects_stay_and_are_told() -> None:
    foreign = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "pipe", "namespace": "team-a"},
        "spec": {"ports": [{"port": 80}]},
    }
    cluster = Cluster.of(config(), graph(), foreign)
    cluster.look()
    assert cluster.get(SERVICE) == foreign
    assert cluster.condition("Ready")[:2] == ("False", "ObjectNotOwned")


def test_beside_kserve_only_the_route_is_ours() -> None:
    """The status is that of KServe's controller, which would write it again for ever."""
    there = serving()
    told = {"conditions": [{"type": "Ready", "status": "True"}], "url": "http://x"}
    objects = (there.get(SERVICE), there.get(DEPLOYMENT), graph(status=told))
    cluster = Cluster.of(config(), *objects, write=ROUTES)
    step = cluster.look()
    assert [ref_of(obj) for obj in step.settlement.created] == [ROUTE]
    assert step.settlement.changed == ()
    assert step.status is None


def test_a_stored_argument_that_says_the_same_stays_as_it_is() -> None:
    """KServe writes the fields of an affinity in another order than the user."""
    affinity = {"nodeAffinity": {}, "podAffinity": {}}
    cluster = serving(config(), graph(affinity=affinity))
    stored = copy.deepcopy(dict(cluster.get(DEPLOYMENT)))
    (router,) = stored["spec"]["template"]["spec"]["containers"]
    there = '"nodeAffinity":{},"podAffinity":{}'
    assert there in router["args"][1]
    router["args"][1] = router["args"][1].replace(there, '"podAffinity":{},"nodeAffinity":{}')
    cluster.put(stored)
    assert cluster.look().settlement.quiet


@pytest.mark.parametrize(
    ("propagate", "variable"),
    [
        (None, None),
        ([], None),
        ([""], None),
        (["A", "", "B"], "A,B"),
        (["A{1,2}", "B"], '["A{1,2}","B"]'),
    ],
)
def test_headers_that_every_step_gets(propagate: list[str] | None, variable: str | None) -> None:
    router = {} if propagate is None else {"headers": {"propagate": propagate}}
    cluster = Cluster.of(config(router), graph())
    cluster.look()
    (made,) = cluster.get(DEPLOYMENT)["spec"]["template"]["spec"]["containers"]
    found = {entry["name"]: entry["value"] for entry in made.get("env", ())}
    assert found.get("PROPAGATE_HEADERS") == variable


@pytest.mark.parametrize("headers", [{"propagate": []}, {"propagate": None}])
@pytest.mark.parametrize(("compat", "names"), [("kserve", ["PROPAGATE_HEADERS"]), ("better", [])])
def test_a_list_of_headers_that_is_null_is_an_empty_one(
    headers: dict[str, Any], compat: str, names: list[str]
) -> None:
    """The variable is there whenever the key is, as Go has a map of lists there."""
    cluster = Cluster.of(config({"headers": headers}), graph(), compat=compat)
    cluster.look()
    (made,) = cluster.get(DEPLOYMENT)["spec"]["template"]["spec"]["containers"]
    assert [entry["name"] for entry in made.get("env", ())] == names
