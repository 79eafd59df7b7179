"""InferenceGraphs on a real API server: objects, route, status, mounted graph, admission's CRD."""

from __future__ import annotations

import json
from typing import Any

import pytest

from e2e import charts, controllers
from e2e.bed import bed as beds
from e2e.bed.bed import Bed
from e2e.bed.kubectl import Refused
from e2e.controllers import Controller
from e2e.test_controller import FLAGS, VALUES, apply, available, eventually, get
from tests.apiserver.made import condition, config, gateway
from tests.unit.graph import making

PARTS = (beds.CRDS,)
"""Without controllers of Kubernetes: a Deployment says what the tests let it say."""


@pytest.fixture(scope="module")
def controller(bed: Bed) -> Controller:
    charts.need_helm()
    charts.make_namespaces(bed)
    apply(bed, configuration(graphSource="ConfigMap"), gateway())
    return controllers.started(bed, *FLAGS, values=VALUES)


def configuration(**router: Any) -> dict[str, Any]:
    made = config()
    made["data"] = {**made["data"], "router": json.dumps(making.ROUTER | router)}
    return made


def graph(*steps: dict[str, Any], name: str = "pipe", **more: Any) -> dict[str, Any]:
    made = making.graph(*steps, name=name, **more)
    for key in ("uid", "generation", "creationTimestamp"):
        del made["metadata"][key]
    return made


def accepted(bed: Bed, name: str) -> None:
    """What a gateway says of a route that it took."""
    route = get(bed, "httproute", name)
    assert route is not None
    told = [
        {
            "type": kind,
            "status": "True",
            "reason": kind,
            "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
            "observedGeneration": route["metadata"]["generation"],
        }
        for kind in ("Accepted", "ResolvedRefs")
    ]
    parent = {
        "parentRef": route["spec"]["parentRefs"][0],
        "controllerName": "gateway.example/controller",
        "conditions": told,
    }
    patch = json.dumps({"status": {"parents": [parent]}})
    bed.kubectl(
        "patch",
        "httproute",
        name,
        "-n=team-a",
        "--subresource=status",
        "--type=merge",
        f"--patch={patch}",
    )


def ready(bed: Bed, name: str = "pipe") -> dict[str, Any]:
    """The graph once it is ready, its router and gateway having said so."""
    eventually("deployment", lambda: get(bed, "deployment", name))
    available(bed, name)
    eventually("route", lambda: get(bed, "httproute", f"{name}-graph"))
    accepted(bed, f"{name}-graph")
    found: dict[str, Any] = eventually(
        "ready",
        lambda: (
            (obj := get(bed, "inferencegraph", name)) and condition(obj, "Ready") == "True" and obj
        ),
    )
    return found


def test_a_graph_is_made_and_becomes_ready(bed: Bed, controller: Controller) -> None:
    apply(bed, graph({"serviceUrl": "http://model.elsewhere/"}))
    found = ready(bed)
    assert found["status"]["url"].endswith("pipe-team-a.example.com")
    assert found["status"]["address"]["url"] == "http://pipe.team-a.svc.cluster.local"
    assert get(bed, "horizontalpodautoscaler", "pipe") is not None
    shown = bed.kubectl("get", "ig", "-n=team-a")
    assert shown.split()[:3] == ["NAME", "URL", "READY"]


def test_an_edit_of_a_mounted_graph_rolls_nothing(bed: Bed, controller: Controller) -> None:
    before = get(bed, "deployment", "pipe")
    apply(bed, graph({"serviceUrl": "http://another.elsewhere/"}))
    eventually(
        "the mounted graph",
        lambda: "another" in (get(bed, "configmap", "pipe-graph") or {})["data"]["graph.json"],
    )
    after = get(bed, "deployment", "pipe")
    assert before is not None
    assert after is not None
    assert after["metadata"]["generation"] == before["metadata"]["generation"]


def test_a_graph_at_rest_is_not_written_again(bed: Bed, controller: Controller) -> None:
    """Although the API server fills much of an autoscaler in."""
    eventually("quiet", lambda: controller.value("workqueue_depth") == 0)
    versions = [
        (get(bed, kind, name) or {})["metadata"]["resourceVersion"]
        for kind, name in (("horizontalpodautoscaler", "pipe"), ("inferencegraph", "pipe"))
    ]
    label = {"team": "a"}
    apply(bed, graph({"serviceUrl": "http://another.elsewhere/"}, name="other", labels=label))
    eventually("deployment", lambda: get(bed, "deployment", "other"))
    assert versions == [
        (get(bed, kind, name) or {})["metadata"]["resourceVersion"]
        for kind, name in (("horizontalpodautoscaler", "pipe"), ("inferencegraph", "pipe"))
    ]


def test_a_graph_waits_for_another_one(bed: Bed, controller: Controller) -> None:
    apply(bed, graph({"graphName": "late"}, name="over"))
    eventually(
        "told",
        lambda: condition(get(bed, "inferencegraph", "over") or {}, "ServicesResolved") == "False",
    )
    assert get(bed, "deployment", "over") is None
    apply(bed, graph(name="late"))
    ready(bed, "late")
    eventually("deployment", lambda: get(bed, "deployment", "over"))


def test_a_stopped_graph_leaves_nothing(bed: Bed, controller: Controller) -> None:
    annotations = making.STANDARD | {"serving.kserve.io/stop": "true"}
    apply(bed, graph({"serviceUrl": "http://another.elsewhere/"}, annotations=annotations))
    kinds = ("deployment", "service", "horizontalpodautoscaler")
    for kind in kinds:
        eventually(f"no {kind}", lambda kind=kind: get(bed, kind, "pipe") is None)
    eventually("no route", lambda: get(bed, "httproute", "pipe-graph") is None)
    eventually("no map", lambda: get(bed, "configmap", "pipe-graph") is None)


def test_the_schema_refuses_what_a_graph_cannot_say(bed: Bed, controller: Controller) -> None:
    wrong = graph(name="wrong")
    wrong["spec"]["nodes"]["root"]["routerType"] = "Fanout"
    with pytest.raises(Refused, match="routerType"):
        apply(bed, wrong)
    wrong = graph(name="wrong", resources={"limits": {"cpu": "lots"}})
    with pytest.raises(Refused, match="limits"):
        apply(bed, wrong)


def test_another_replica_knows_the_mounted_graphs_of_the_first(
    bed: Bed, controller: Controller
) -> None:
    """ConfigMaps of graphs are written and not read: a new replica writes each once."""
    apply(bed, graph({"serviceUrl": "http://one.elsewhere/"}, name="kept"))
    before = eventually("the mounted graph", lambda: get(bed, "configmap", "kept-graph"))
    controller.stop()
    controller.start()
    apply(bed, graph({"serviceUrl": "http://two.elsewhere/"}, name="kept"))
    after = eventually(
        "the edit",
        lambda: (
            (obj := get(bed, "configmap", "kept-graph"))
            and "two.elsewhere" in obj["data"]["graph.json"]
            and obj
        ),
    )
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert "ObjectNotOwned" not in json.dumps(get(bed, "inferencegraph", "kept"))
