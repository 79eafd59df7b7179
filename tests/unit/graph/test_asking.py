"""Questions about graphs: what a request meets, and what stands in a configuration."""

from __future__ import annotations

from ingressctl.api import configchecks
from ingressctl.api.refs import Ref, ref_of
from ingressctl.core.settings import Settings
from ingressctl.core.table import Request
from ingressctl.core.world import World
from ingressctl.plan import host_tables
from tests.unit.graph.making import GRAPH, Cluster, config, graph, service, serving


def relevant(host: str, *objects: object) -> set[str]:
    world = World.of([config(), *objects])  # type: ignore[list-item]
    found = host_tables.relevant(map(ref_of, world), Request("POST", host, "/"), world, Settings())
    return {ref.name for ref in found if ref.kind != "ConfigMap"}


def test_with_a_graph_stays_all_that_it_leads_to() -> None:
    over = graph({"graphName": "pipe", "fallback": {"serviceName": "spare"}}, name="over")
    pipe = graph({"serviceName": "iris"})
    others = (service("iris"), service("spare"), service("idle"), graph(name="alone"))
    assert relevant("over-team-a.example.com", over, pipe, *others) == {
        "over",
        "pipe",
        "iris",
        "spare",
    }
    assert relevant("iris-team-a.example.com", over, pipe, *others) == {"iris"}
    assert relevant("alone-team-a.example.com", over, pipe, *others) == {"alone"}


def test_a_loop_of_graphs_ends_the_search() -> None:
    one, two = graph({"graphName": "b"}, name="a"), graph({"graphName": "a"}, name="b")
    assert relevant("b.example.com", one, two) == {"a", "b"}


def test_a_configuration_that_graphs_cannot_use_is_found_where_it_stands() -> None:
    cluster = serving()
    cluster.put(config({"cpuLimit": "lots"}))
    (finding,) = cluster.look().findings
    assert (finding.code, finding.path) == ("IC1102", "data.router")
    assert finding.refs[0] == Ref("", "ConfigMap", "kserve", "inferenceservice-config")


def test_a_configuration_without_the_key_router_is_found_where_a_graph_needs_it() -> None:
    """Services alone do without it, so it is no fault of the ConfigMap by itself."""
    without = config()
    without = {**without, "data": {k: v for k, v in without["data"].items() if k != "router"}}
    step = Cluster.of(without, graph()).look(GRAPH)
    assert [fault.where for fault in step.faults] == ["config"]
    (finding,) = step.findings
    assert (finding.code, finding.path) == ("IC1102", "data.router")
    assert configchecks.faults(without["data"], gateway_optional=True) == ()
