"""What stays and what goes while something about a graph fails: nothing private is shown."""

from __future__ import annotations

from typing import Any

import pytest

from ingressctl.api.refs import Raw
from tests.unit.graph.making import (
    DEPLOYMENT,
    GRAPH,
    KNATIVE,
    KSERVICE,
    ROUTE,
    SERVICE,
    Cluster,
    config,
    graph,
    service,
    serving,
)

PRIVATE = {"networking.kserve.io/visibility": "cluster-local"}


def broken(**data: str | None) -> Raw:
    """The configuration with other texts for keys; None takes one out."""
    good = config()
    kept = {key: text for key, text in {**good["data"], **data}.items() if text is not None}
    return {**good, "data": kept}


FAULTS: dict[str, Raw] = {
    "the router key is no JSON": broken(router="{"),
    "there is no router key": broken(router=None),
    "the ingress key is no JSON": broken(ingress="{"),
    "the deploy key has no such mode": broken(deploy='{"defaultDeploymentMode": "Maybe"}'),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_graph_that_becomes_private_loses_its_route_whatever_fails(fault: str) -> None:
    cluster = serving()
    cluster.put(FAULTS[fault], graph(labels=PRIVATE, status=cluster.get(GRAPH)["status"]))
    cluster.look()
    assert cluster.get(ROUTE) is None
    assert cluster.get(DEPLOYMENT) is not None, "nothing else goes after a failure"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_public_graph_keeps_its_route_whatever_fails(fault: str) -> None:
    cluster = serving()
    cluster.put(FAULTS[fault])
    cluster.look()
    assert cluster.get(ROUTE) is not None


def test_a_private_graph_that_waits_tells_no_address_outside() -> None:
    cluster = serving()
    status = cluster.get(GRAPH)["status"]
    cluster.put(graph({"serviceName": "nobody"}, labels=PRIVATE, status=status))
    cluster.look()
    assert cluster.get(ROUTE) is None
    assert not cluster.url()


def test_a_private_graph_whose_spec_cannot_be_read_loses_its_route() -> None:
    cluster = serving()
    unreadable = graph(labels=PRIVATE, status=cluster.get(GRAPH)["status"])
    cluster.put({**unreadable, "spec": {"nodes": 5}})
    cluster.look()
    assert cluster.get(ROUTE) is None


def test_in_knative_mode_the_label_follows_while_the_graph_waits() -> None:
    """What shows it outside is Knative's, by the label of the Service; all else stays."""
    cluster = Cluster.of(config(), service(), graph({"serviceName": "iris"}, annotations=KNATIVE))
    cluster.look()
    before = cluster.get(KSERVICE)
    private = {"networking.knative.dev/visibility": "cluster-local"}
    waiting = graph({"serviceName": "nobody"}, annotations=KNATIVE, labels=private)
    cluster.put({**waiting, "status": cluster.get(GRAPH).get("status") or {}})
    cluster.look()
    after = cluster.get(KSERVICE)
    assert after["metadata"]["labels"] == private
    assert after["spec"]["template"] == before["spec"]["template"]
    assert cluster.look().settlement.quiet


@pytest.mark.parametrize(("compat", "label"), [("better", "cluster-local"), ("better,-Q46", None)])
def test_in_knative_mode_the_label_of_standard_mode_hides_too(
    compat: str, label: str | None
) -> None:
    """Knative reads its own label alone, so its Service has that one (Q46)."""
    private = graph(annotations=KNATIVE, labels=PRIVATE)
    cluster = Cluster.of(config(), private, compat=compat)
    cluster.look()
    labels = cluster.get(KSERVICE)["metadata"]["labels"]
    assert labels.get("networking.knative.dev/visibility") == label


@pytest.mark.parametrize("address", ["ftp://iris.team-a.svc", "nothing", "http://"])
def test_an_address_that_cannot_be_called_is_told(address: str) -> None:
    cluster = Cluster.of(config(), service(address=address), graph({"serviceName": "iris"}))
    cluster.look()
    assert cluster.condition("ServicesResolved")[:2] == ("False", "AddressUnusable")
    assert cluster.get(DEPLOYMENT) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"spec": 5},
        {"spec": {"predictor": "x"}},
        {"spec": {"predictor": {"containers": ["x"]}}},
        {"status": {"address": "x"}},
    ],
)
def test_a_service_that_cannot_be_read_is_waited_for(changed: dict[str, Any]) -> None:
    cluster = Cluster.of(config(), {**service(), **changed}, graph({"serviceName": "iris"}))
    cluster.look()
    assert cluster.condition("ServicesResolved")[:2] == ("False", "ServiceUnreadable")


def test_somebody_elses_deployment_says_nothing_of_the_router() -> None:
    cluster = serving()
    foreign = {**cluster.get(DEPLOYMENT)}
    foreign["metadata"] = {**foreign["metadata"], "ownerReferences": []}
    cluster.put(foreign)
    cluster.look()
    assert cluster.condition("RouterReady")[0] != "True"


def test_an_alias_of_the_graphs_name_is_not_taken_for_a_router() -> None:
    """An ExternalName Service of ours is a route, which the mode switch does not delete."""
    cluster = serving()
    alias = {**cluster.get(SERVICE)}
    alias["spec"] = {"type": "ExternalName", "externalName": "elsewhere"}
    cluster.put(alias, graph(annotations={"serving.kserve.io/deploymentMode": "Knative"}))
    step = cluster.look()
    assert SERVICE not in step.outcome.gone


def test_the_url_of_a_host_that_is_lost_goes() -> None:
    cluster = serving()
    assert cluster.url()
    older: dict[str, Any] = dict(service("pipe"))
    older["metadata"] = dict(older["metadata"])
    older["metadata"]["creationTimestamp"] = "2020-01-01T00:00:00Z"
    older["status"] = {"url": "https://pipe-team-a.example.com", "address": {"url": "http://x"}}
    cluster.put(older, {**cluster.get(GRAPH), "status": {}})
    cluster.look()
    assert cluster.condition("RouteReady")[:2] == ("False", "HostInUse")
    assert not cluster.url()
