"""Where steps lead: services, other graphs, and what is in the way."""

from __future__ import annotations

from typing import Any

import pytest

from ingressctl.api.refs import Ref
from ingressctl.core.world import Lookup
from tests.unit.graph.making import (
    DEPLOYMENT,
    GRAPH,
    KSERVICE,
    ROUTE,
    Cluster,
    argument,
    config,
    graph,
    service,
    serving,
)

ISVC = ("serving.kserve.io", "InferenceService", "team-a", "iris")
PREDICT = "http://iris.team-a.svc/v1/models/iris:predict"


def steps(cluster: Cluster) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = argument(cluster.get(DEPLOYMENT))["nodes"]["root"]["steps"]
    return found


def test_a_service_that_changes_is_resolved_again() -> None:
    cluster = serving(config(), service(), graph({"serviceName": "iris"}))
    assert steps(cluster)[0]["serviceUrl"] == PREDICT
    step = cluster.look()
    assert Lookup("get", Ref(*ISVC), True) in step.lookups
    cluster.put(service(address="http://moved.team-a.svc", protocolVersion="v2"))
    cluster.look()
    assert steps(cluster)[0]["serviceUrl"] == "http://moved.team-a.svc/v2/models/iris/infer"


def test_a_graph_waits_for_its_services_and_says_for_which() -> None:
    cluster = Cluster.of(config(), graph({"serviceName": "iris"}))
    first, second = cluster.look(), cluster.look()
    status, reason, message = cluster.condition("ServicesResolved")
    assert (status, reason) == ("False", "ServiceNotFound")
    assert message.startswith("spec.nodes.root.steps[0].serviceName: inferenceservices")
    assert '"iris" not found' in message
    assert cluster.condition("Ready")[0] == "False"
    assert cluster.get(DEPLOYMENT) is None
    assert first.faults == (), "a change of the service wakes it: there is nothing to try again"
    assert first.outcome.events == second.outcome.events == (), "the plan tells of conditions"
    assert Lookup("get", Ref(*ISVC), False) in second.lookups
    cluster.put(service(address=""))
    cluster.look()
    assert cluster.condition("ServicesResolved")[1] == "ServiceNotReady"
    cluster.put(service())
    cluster.look()
    assert cluster.condition("ServicesResolved")[0] == "True"


def test_a_lost_service_leaves_the_running_router_alone() -> None:
    cluster = serving(config(), service(), graph({"serviceName": "iris"}))
    before = cluster.get(DEPLOYMENT)
    cluster.world = cluster.world.overlay((), without=[Ref(*ISVC)])
    cluster.look()
    assert cluster.get(DEPLOYMENT) == before
    assert cluster.condition("RouterReady")[0] == "True"
    assert cluster.condition("Ready")[:2] == ("False", "ServiceNotFound")
    assert cluster.url()


def test_a_private_graph_is_not_shown_while_it_waits() -> None:
    cluster = serving(config(), service(), graph({"serviceName": "iris"}))
    assert cluster.get(ROUTE) is not None
    status = cluster.get(GRAPH)["status"]
    cluster.world = cluster.world.overlay((), without=[Ref(*ISVC)])
    private = {"networking.kserve.io/visibility": "cluster-local"}
    cluster.put(graph({"serviceName": "iris"}, labels=private, status=status))
    cluster.look()
    assert cluster.condition("ServicesResolved")[0] == "False"
    assert cluster.get(ROUTE) is None


def test_a_step_may_choose_its_path_and_a_fallback_is_resolved_as_well() -> None:
    chat = {
        "serviceName": "iris",
        "path": "/v1/chat/completions",
        "fallback": {"serviceName": "iris"},
    }
    cluster = serving(config(), service(), graph(chat))
    (step,) = steps(cluster)
    assert step["serviceUrl"] == "http://iris.team-a.svc/v1/chat/completions"
    assert step["fallback"]["serviceUrl"] == PREDICT
    assert "path" not in step


def test_another_graph_is_called_at_its_router() -> None:
    other = graph(name="other")
    cluster = Cluster.of(config(), other, graph({"graphName": "other"}))
    cluster.look()
    assert cluster.condition("ServicesResolved")[1] == "GraphNotReady"
    address = {"url": "http://other.team-a.svc.cluster.local"}
    cluster.put({**other, "status": {"address": address}})
    cluster.look()
    assert steps(cluster)[0]["serviceUrl"] == "http://other.team-a.svc.cluster.local/"


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_loop_of_graphs_is_not_run(length: int) -> None:
    names = ["pipe", "b", "c"][:length]
    ready = {"address": {"url": "http://x"}}
    made = [
        graph({"graphName": target}, name=name, status=ready)
        for name, target in zip(names, [*names[1:], names[0]], strict=True)
    ]
    cluster = Cluster.of(config(), *made)
    step = cluster.look()
    status, reason, message = cluster.condition("GraphValid")
    assert (status, reason) == ("False", "InvalidGraph")
    assert "closes a loop" in message
    assert cluster.get(DEPLOYMENT) is None
    assert [fault.where for fault in step.faults] == ["admission"]


def test_grpc_is_refused() -> None:
    grpc = service(protocolVersion="grpc-v2")
    cluster = Cluster.of(config(), grpc, graph({"serviceName": "iris"}))
    assert "speaks grpc-v2" in cluster.look().faults[0].message
    assert cluster.condition("ServicesResolved")[1] == "ProtocolNotSupported"


def test_a_configuration_that_cannot_be_used_is_told() -> None:
    cluster = serving()
    cluster.put(config({"cpuLimit": "lots"}))
    cluster.look()
    assert cluster.condition("Ready")[:2] == ("False", "InvalidConfiguration")
    assert cluster.get(DEPLOYMENT) is not None
    cluster.put(config())
    cluster.look()
    assert cluster.condition("Ready")[0] == "True"


def test_an_initial_scale_that_is_not_taken_is_told_once() -> None:
    knative = {
        "serving.kserve.io/deploymentMode": "Knative",
        "autoscaling.knative.dev/initial-scale": "0",
    }
    cluster = Cluster.of(config(), graph(annotations=knative))
    first, second = cluster.look(), cluster.look()
    assert [event.reason for event in first.outcome.events] == ["InitialScaleNotTaken"]
    assert second.outcome.events == ()
    template = cluster.get(KSERVICE)["spec"]["template"]
    assert "autoscaling.knative.dev/initial-scale" not in template["metadata"]["annotations"]


def test_without_knative_a_graph_of_its_mode_says_so() -> None:
    absent = frozenset({("serving.knative.dev", "Service")})
    cluster = Cluster.of(config(), graph(annotations={}), absent=absent)
    cluster.look()
    assert cluster.get(DEPLOYMENT) is not None, "Standard is the default here"
    knative = {"serving.kserve.io/deploymentMode": "Knative"}
    cluster = Cluster.of(config(), graph(annotations=knative), absent=absent)
    cluster.look()
    assert cluster.condition("Ready")[:2] == ("False", "ServerlessModeRejected")


def test_a_graph_that_nothing_can_be_read_of_is_a_fault() -> None:
    broken = graph() | {"spec": {"nodes": {"root": {"routerType": "Sequence", "steps": 7}}}}
    step = Cluster.of(config(), broken).look()
    assert [finding.code for finding in step.findings] == ["IC1301"]
    assert step.faults[0].path.startswith("spec.nodes")


def test_a_graph_that_is_deleted_is_left_alone() -> None:
    leaving = graph()
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    step = Cluster.of(config(), leaving).look()
    assert step.settlement.quiet
    assert step.status is None


def test_a_graph_and_a_service_want_one_host() -> None:
    """The older one has it; the other says so and publishes no URL."""
    older = service("pipe") | {}
    older["metadata"] |= {"uid": "u", "creationTimestamp": "2025-01-01T00:00:00Z"}
    cluster = Cluster.of(config(), older, graph())
    cluster.look()
    cluster.available()
    step = cluster.look()
    assert cluster.condition("RouteReady")[:2] == ("False", "HostInUse")
    assert "IC2101" in [finding.code for finding in step.findings]
    assert not cluster.url()
    younger = {
        **older,
        "metadata": {**older["metadata"], "creationTimestamp": "2027-01-01T00:00:00Z"},
    }
    cluster.put(younger)
    assert "IC2101" not in [finding.code for finding in cluster.look().findings]


def test_a_knative_graph_follows_its_service() -> None:
    knative = {"serving.kserve.io/deploymentMode": "Knative"}
    cluster = Cluster.of(config(), graph(annotations=knative))
    cluster.look()
    assert "traffic" not in cluster.get(KSERVICE)["spec"]
    told = [{"type": kind, "status": "True"} for kind in ("Ready", "RoutesReady")]
    urls = {"url": "http://pipe.x", "address": {"url": "http://pipe.team-a.svc.cluster.local"}}
    cluster.put({**cluster.get(KSERVICE), "status": {"conditions": told, **urls}})
    cluster.look()
    status = cluster.get(GRAPH)["status"]
    assert (status["url"], status["address"]) == (urls["url"], urls["address"])
    assert cluster.condition("Ready")[0] == "True"
    assert cluster.condition("RoutesReady")[0] == "True"
    defaulted = dict(cluster.get(KSERVICE))
    traffic = [{"latestRevision": True, "percent": 100}]
    defaulted["spec"] = {**defaulted["spec"], "traffic": traffic}
    cluster.put(defaulted)
    assert cluster.look().settlement.quiet, "Knative fills the traffic in"
