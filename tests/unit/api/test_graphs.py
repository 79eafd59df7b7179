"""Admission of InferenceGraphs beyond the cases: each fault with its field and a remedy."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingressctl.api import admission, inferencegraphs
from ingressctl.api.admission import graphs
from ingressctl.core.differences import BETTER, KSERVE, Compat
from tests.unit.api.making import refuse

STANDARD = {"serving.kserve.io/deploymentMode": "Standard"}


def node(kind: str, *steps: dict[str, Any]) -> dict[str, Any]:
    return {"routerType": kind, "steps": list(steps)}


def graph(
    nodes: dict[str, Any] | None = None, *, name: str = "g", annotations: Any = None, **spec: Any
) -> dict[str, Any]:
    return {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "InferenceGraph",
        "metadata": {"name": name, "namespace": "team-a", "annotations": annotations},
        "spec": {"nodes": nodes or {"root": node("Sequence", {"serviceName": "a"})}, **spec},
    }


def one(kind: str = "Sequence", **step: Any) -> dict[str, Any]:
    return graph({"root": node(kind, {"serviceName": "a"} | step)})


def falling(count: int) -> dict[str, Any]:
    """`count` nodes below each other: each calls the next one, and once more if that fails."""
    nodes = {}
    for place in range(count):
        target = {"nodeName": f"n{place + 1}"}
        nodes[f"n{place}"] = node("Sequence", target | {"fallback": target})
    nodes[f"n{count}"] = node("Sequence", {"serviceName": "a"})
    nodes["root"] = nodes.pop("n0")
    return graph(nodes)


def deep(count: int, per_node: int = 1) -> dict[str, Any]:
    """`count` nodes below each other, each named so often by the one above."""
    nodes = {
        f"n{place}": node("Ensemble", *[{"nodeName": f"n{place + 1}"} for _ in range(per_node)])
        for place in range(count - 1)
    }
    nodes[f"n{count - 1}"] = node("Sequence", {"serviceName": "a"})
    nodes["root"] = nodes.pop("n0")
    return graph(nodes)


ROOT = "spec.nodes.root.steps[0]"
SECOND = "spec.nodes.root.steps[1]"

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a fallback closes a loop": (one(fallback={"nodeName": "root"}), f"{ROOT}.fallback.nodeName"),
    "a fallback without a node": (one(fallback={"nodeName": "no"}), f"{ROOT}.fallback.nodeName"),
    "a fallback without a target": (one(fallback={}), f"{ROOT}.fallback"),
    "a fallback with two targets": (
        one(fallback={"serviceName": "b", "graphName": "c"}),
        f"{ROOT}.fallback",
    ),
    "a fallback to another scheme": (
        one(fallback={"serviceUrl": "ftp://h/x"}),
        f"{ROOT}.fallback.serviceUrl",
    ),
    "the graph itself by name": (
        graph({"root": node("Sequence", {"graphName": "g"})}),
        f"{ROOT}.graphName",
    ),
    "the graph itself by its address": (
        graph({"root": node("Sequence", {"serviceUrl": "http://g.team-a.svc.cluster.local/"})}),
        f"{ROOT}.serviceUrl",
    ),
    "nodes too deep": (deep(graphs.structure.MAX_DEPTH + 1), "spec.nodes"),
    "too many calls": (deep(20, per_node=2), "spec.nodes"),
    "too many calls of fallbacks": (falling(20), "spec.nodes"),
    "a URL without host": (
        graph({"root": node("Sequence", {"serviceUrl": "http:///x"})}),
        f"{ROOT}.serviceUrl",
    ),
    "a URL with a port that is none": (
        graph({"root": node("Sequence", {"serviceUrl": "http://h:x/"})}),
        f"{ROOT}.serviceUrl",
    ),
    "a URL with a line in it": (
        graph({"root": node("Sequence", {"serviceUrl": "http://h/\r\nX: y"})}),
        f"{ROOT}.serviceUrl",
    ),
    "a URL with port 0": (
        graph({"root": node("Sequence", {"serviceUrl": "http://h:0/"})}),
        f"{ROOT}.serviceUrl",
    ),
    "an escape in the path that is none": (
        graph({"root": node("Sequence", {"serviceUrl": "http://h/%zz"})}),
        f"{ROOT}.serviceUrl",
    ),
    "an escape in the host that is none": (
        graph({"root": node("Sequence", {"serviceUrl": "http://h%/x"})}),
        f"{ROOT}.serviceUrl",
    ),
    "a fraction of a weight": (one("Splitter", weight=100.5), f"{ROOT}.weight"),
    "a host with an empty label": (
        graph({"root": node("Sequence", {"serviceUrl": "http://a..b/ü"})}),
        f"{ROOT}.serviceUrl",
    ),
    "a host that is too long in ASCII": (
        graph({"root": node("Sequence", {"serviceUrl": "http://" + "ü" * 70})}),
        f"{ROOT}.serviceUrl",
    ),
    "a host that has a space in ASCII": (
        graph({"root": node("Sequence", {"serviceUrl": "http://a\u2003b/"})}),
        f"{ROOT}.serviceUrl",
    ),
    "a service that cannot exist": (one(serviceName="Iris"), f"{ROOT}.serviceName"),
    "a condition on the first step": (one(condition="a"), f"{ROOT}.condition"),
    "two defaults of a Switch": (
        graph({"root": node("Switch", {"serviceName": "a"}, {"serviceName": "b"})}),
        f"{SECOND}.condition",
    ),
    "a condition that does not parse": (
        graph({"root": node("Switch", {"serviceName": "a", "condition": "a.#(b==1"})}),
        f"{ROOT}.condition",
    ),
    "a name that is an index": (
        graph({"root": node("Ensemble", {"serviceName": "a"}, {"serviceName": "b", "name": "0"})}),
        f"{SECOND}.name",
    ),
    "a relative path": (one(path="v1"), f"{ROOT}.path"),
    "a path beside a URL": (
        graph({"root": node("Sequence", {"serviceUrl": "http://h/", "path": "/x"})}),
        f"{ROOT}.path",
    ),
    "an unknown protocol": (one(appProtocol="grpc"), f"{ROOT}.appProtocol"),
    "a timeout without unit": (one(timeout="5"), f"{ROOT}.timeout"),
    "a timeout of nothing": (one(timeout="0s"), f"{ROOT}.timeout"),
    "no call at a time": (one(concurrency=0), f"{ROOT}.concurrency"),
    "retries without end": (one(retries={"attempts": 1000}), f"{ROOT}.retries.attempts"),
    "retries of success": (one(retries={"statuses": [200]}), f"{ROOT}.retries.statuses[0]"),
    "retries of a status that is none": (
        one(retries={"statuses": [503, 600]}),
        f"{ROOT}.retries.statuses[1]",
    ),
    "a pause that is none": (one(retries={"backoff": "soon"}), f"{ROOT}.retries.backoff"),
    "a pattern that does not end": (one(requestHeaders=["X-("]), f"{ROOT}.requestHeaders[0]"),
    "an empty pattern": (graph(responseHeaders=[""]), "spec.responseHeaders[0]"),
    "no byte": (graph(maxRequestBytes=0), "spec.maxRequestBytes"),
    "a graph that cannot exist": (
        graph({"root": node("Sequence", {"graphName": "B_"})}),
        f"{ROOT}.graphName",
    ),
    "rps in Standard mode": (graph(annotations=STANDARD, scaleMetric="rps"), "spec.scaleMetric"),
    "memory without a target": (
        graph(annotations=STANDARD, scaleMetric="memory"),
        "spec.scaleTarget",
    ),
    "an unknown class of autoscaler": (
        graph(annotations=STANDARD | {"serving.kserve.io/autoscalerClass": "vpa"}),
        "metadata.annotations[serving.kserve.io/autoscalerClass]",
    ),
    "cpu for the KPA": (
        graph(
            annotations={"autoscaling.knative.dev/class": "kpa.autoscaling.knative.dev"},
            scaleMetric="cpu",
        ),
        "spec.scaleMetric",
    ),
    "a target of nothing": (graph(scaleTarget=0), "spec.scaleTarget"),
    "a type": (one(weight="7"), f"{ROOT}.weight"),
}


@pytest.mark.parametrize(("refused", "path"), REFUSED.values(), ids=REFUSED)
def test_is_refused_at_its_field(refused: dict[str, Any], path: str) -> None:
    assert list(refuse(refused)) == [path]


@pytest.mark.parametrize(
    "accepted",
    [
        graph(),
        one(path="/v1/chat/completions", timeout="1m30s", concurrency=4, appProtocol="http"),
        one(retries={"attempts": 2, "statuses": [503]}, fallback={"graphName": "other"}),
        one(requestHeaders=["X-Tenant", "traceparent|X-B3-.*"]),
        one(retries={"statuses": [400, 599]}),
        graph({"root": node("Sequence", {"serviceUrl": "http://bücher.example.:8080/ü?ü"})}),
        one("Switch", condition="instances.#(kind==a)"),
        deep(graphs.structure.MAX_DEPTH),
        deep(12, per_node=2),
        falling(12),
        graph(annotations=STANDARD, scaleMetric="memory", scaleTarget=70),
        graph(scaleMetric="cpu"),
        graph(minReplicas=0, maxReplicas=0, timeout=0),
        {**graph(), "spec": {**graph()["spec"], "serviceAccountName": None}},
    ],
)
def test_is_accepted(accepted: dict[str, Any]) -> None:
    assert refuse(accepted) == {}


def to(*targets: str, name: str) -> dict[str, Any]:
    return graph(
        {"root": node("Sequence", *({"graphName": target} for target in targets))}, name=name
    )


def test_a_loop_over_several_graphs() -> None:
    peers = (to("x", "c", name="b"), to("a", name="c"))
    assert list(refuse(to("b", name="a"), peers=peers)) == [f"{ROOT}.graphName"]
    assert (
        "team-a/a -> team-a/b -> team-a/c -> team-a/a"
        in (refuse(to("b", name="a"), peers=peers)[f"{ROOT}.graphName"])
    )
    assert refuse(to("b", name="z"), peers=peers) == {}, "it leads into a loop, but is not in it"


def test_a_loop_through_a_fallback() -> None:
    by_fallback = one(fallback={"graphName": "b"})
    assert list(refuse(by_fallback, peers=(to("g", name="b"),))) == [f"{ROOT}.fallback.graphName"]
    back = graph(one(fallback={"serviceUrl": "http://g/"})["spec"]["nodes"], name="b")
    assert list(refuse(by_fallback, peers=(back,))) == [f"{ROOT}.fallback.graphName"]
    back["spec"]["nodes"]["root"]["steps"][0]["fallback"] = {"serviceUrl": "http://h/"}
    assert refuse(by_fallback, peers=(back,)) == {}


@pytest.mark.parametrize(
    "host",
    [
        "g",
        "G",
        "g.",
        "g.team-a",
        "g.team-a.svc.",
        "g.team-a.svc.cluster.local.:80",
        "\uff47.team-a.svc",
    ],
)
def test_a_loop_by_any_spelling_of_the_host(host: str) -> None:
    url = {"serviceUrl": f"http://{host}/x"}
    assert list(refuse(graph({"root": node("Sequence", url)}))) == [f"{ROOT}.serviceUrl"]
    assert refuse(graph({"root": node("Sequence", url)}, name="other")) == {}


def calling(url: str, *, name: str = "g", namespace: str = "team-a") -> dict[str, Any]:
    made = graph({"root": node("Sequence", {"serviceUrl": url})}, name=name)
    return made | {"metadata": {"name": name, "namespace": namespace}}


def test_a_name_alone_is_one_of_the_own_namespace() -> None:
    other = calling("http://g.team-a/", name="b", namespace="team-b")
    assert list(refuse(calling("http://b.team-b/"), peers=(other,))) == [f"{ROOT}.serviceUrl"]
    assert refuse(calling("http://b/"), peers=(other,)) == {}, "no b is in team-a"


def test_a_loop_by_the_published_address() -> None:
    by_url = graph({"root": node("Sequence", {"serviceUrl": "http://public.example.com/"})})
    other = to("g", name="b") | {"status": {"url": "http://public.example.com"}}
    assert list(refuse(by_url, peers=(other,))) == [f"{ROOT}.serviceUrl"]
    other["metadata"]["namespace"] = "team-b"
    assert refuse(by_url, peers=(other,)) == {}, "its graphName is one of its own namespace"


def test_what_is_stored_may_stay() -> None:
    """A graph that the reference stored can still be labelled; a new fault is refused."""
    old = one(data="$response.predictions")
    new = copy.deepcopy(old)
    new["metadata"]["labels"] = {"team": "a"}
    assert refuse(new, old=old) == {}
    new["spec"]["nodes"]["root"]["steps"][0]["condition"] = "a"
    assert list(refuse(new, old=old)) == [f"{ROOT}.condition"]


def warned(obj: dict[str, Any], compat: Compat = BETTER) -> dict[str, str]:
    admitted = admission.admit(obj, operation="create", config={}, differs=compat.differs)
    assert admitted.refusals == ()
    return {warning.path: warning.message for warning in admitted.warnings}


def switch(condition: str) -> dict[str, Any]:
    return graph({"root": node("Switch", {"serviceName": "a", "condition": condition})})


@pytest.mark.parametrize(
    "condition",
    [
        "instances.#(kind==a)#",
        "{ .input.userId == 1 }",
        "[a,b]",
        "@this",
        "!true",
        "instances.#(x>0.5 && y>1)",
        "instances[0].kind",
        "$.instances",
        'kind=="slow"',
        "instances.0.x>0.5",
        "instances.#(x>0.5 and y<2)",
    ],
)
def test_conditions_that_decide_nothing(condition: str) -> None:
    assert list(warned(switch(condition))) == [f"{ROOT}.condition"]
    assert warned(switch(condition), KSERVE) == {}


@pytest.mark.parametrize(
    "condition",
    [
        "a",
        "[@this].#(source==client)",
        "a.#(b==1)",
        "a.#",
        r"a\<\=1",
        "vocab.<s>",
        '@pretty:{"indent":"=>"}',
        "a.#(\nx==1\n)",
        'a.#(b=="x)>=1").c',
        'a.#(b=="cats and dogs")',
        "a.#(b==cats).and",
    ],
)
def test_conditions_that_decide(condition: str) -> None:
    assert warned(switch(condition)) == {}


def test_fields_without_effect() -> None:
    assert list(warned(one(data="$response"))) == [f"{ROOT}.data"]
    (message,) = warned(one("Ensemble", data="$response")).values()
    assert message.endswith("in an Ensemble")
    fields = {"data": "$response", "condition": "a", "mapPredictionsToInstances": True}
    assert set(warned(one("Ensemble", **fields))) == {f"{ROOT}.{field}" for field in fields}
    assert set(warned(one("Switch", condition="a", dependency="Hard"))) == {f"{ROOT}.dependency"}
    inner = {"root": node("Sequence", {"nodeName": "n", "concurrency": 1})}
    inner["n"] = node("Sequence", {"serviceName": "a"})
    assert set(warned(graph(inner))) == {f"{ROOT}.concurrency"}


def test_settings_that_change_nothing() -> None:
    empty = {"requestHeaders": [], "responseHeaders": []}
    assert set(warned(one(**empty))) == {f"{ROOT}.{field}" for field in empty}
    nodes = one()["spec"]["nodes"]
    assert set(warned(graph(nodes, **empty))) == {f"spec.{field}" for field in empty}
    assert warned(graph(nodes, requestHeaders=["x-a"])) == {}
    assert warned(one(**empty), KSERVE) == {}


def test_a_fallback_to_what_has_just_failed() -> None:
    assert set(warned(one(fallback={"serviceName": "a"}))) == {f"{ROOT}.fallback.serviceName"}
    assert warned(one(fallback={"serviceName": "b"})) == {}
    assert warned(one(path="/x", fallback={"serviceName": "a"})) == {}, "another call of it"


def test_a_step_that_may_take_longer_than_the_graph() -> None:
    steps = {"root": node("Sequence", {"serviceName": "a", "timeout": "1m30s"})}
    assert set(warned(graph(steps, timeout=89))) == {f"{ROOT}.timeout"}
    for fits in (90, 0, None):
        assert warned(graph(steps, timeout=fits)) == {}
    assert warned(graph(steps, timeout=89), Compat.parse("better,-IG-D6")) == {}


def started(obj: dict[str, Any], compat: Compat = BETTER) -> list[tuple[str, str]]:
    spec = inferencegraphs.of_raw(obj["spec"])
    refusals = graphs.refusals(spec, differs=compat.differs)
    return [(refusal.path, refusal.difference) for refusal in refusals]


def resolved(kind: str = "Sequence", **step: Any) -> dict[str, Any]:
    """A graph as a router gets it: the name of the service has its URL beside it."""
    return one(kind, **{"serviceUrl": "http://a/"} | step)


def test_a_router_refuses_what_it_cannot_run() -> None:
    assert started(graph({"a": resolved()["spec"]["nodes"]["root"]})) == [("spec.nodes", "IG-D39")]
    assert started(resolved("Splitter")) == [(f"{ROOT}.weight", "IG-D19")]
    assert started(resolved("Splitter", weight=0)) == [("spec.nodes.root.steps", "IG-D19")]
    assert started(resolved(nodeName="root")) == [(f"{ROOT}.nodeName", "IG-D1")]


@pytest.mark.parametrize(
    ("step", "field"),
    [
        ({"serviceName": "x"}, ".serviceName"),
        ({"graphName": "x"}, ".graphName"),
        ({"serviceUrl": "http://a/", "fallback": {"serviceName": "x"}}, ".fallback.serviceName"),
        ({"serviceUrl": "http://a/", "fallback": {"graphName": "x"}}, ".fallback.graphName"),
        ({"name": "nothing"}, ""),
    ],
)
def test_a_router_refuses_names_that_nobody_has_resolved(step: dict[str, Any], field: str) -> None:
    written = graph({"root": node("Sequence", step)})
    assert started(written) == [(f"{ROOT}{field}", "IG-D38")]
    assert started(written, KSERVE) == [], "every request is answered 500, as KServe's does"


def test_a_router_runs_what_only_admission_refuses() -> None:
    assert started(resolved("Splitter", weight=7)) == [], "weights are shares of their sum"
    assert started(resolved(path="/x")) == [], "a resolved step has both"
    assert started(resolved(fallback={"serviceName": "b", "serviceUrl": "http://b/"})) == []
    assert started(graph(resolved()["spec"]["nodes"], timeout=-1)) == []


def test_under_kserve_a_router_runs_all_that_kserves_does() -> None:
    wrong = {"a": node("Splitter", {"nodeName": "a", "serviceUrl": "x y", "data": "z"})}
    assert started(graph(wrong), KSERVE) == []


SHAPES = [
    (one(retries=2), f"{ROOT}.retries", "write retries: {attempts: 2}"),
    (one(retries="often"), f"{ROOT}.retries", "write retries: {attempts: 2}"),
    (one(timeout=7), f"{ROOT}.timeout", "such as timeout: 7s,"),
    (one(timeout="7"), f"{ROOT}.timeout", "such as timeout: 7s,"),
    (one(timeout="soon"), f"{ROOT}.timeout", "such as timeout: 5s,"),
    (one(retries={"backoff": 1}), f"{ROOT}.retries.backoff", "such as backoff: 1s,"),
    (graph(timeout="7s"), "spec.timeout", "write whole seconds without a unit: timeout: 7"),
    (graph(timeout="2m"), "spec.timeout", "timeout: 120"),
    (
        graph(routerTimeouts={"serverRead": "soon"}),
        "spec.routerTimeouts.serverRead",
        "serverRead: 5",
    ),
]


@pytest.mark.parametrize(("refused", "path", "remedy"), SHAPES)
def test_the_right_form_is_named(refused: dict[str, Any], path: str, remedy: str) -> None:
    admitted = admission.admit(refused, operation="create", config={}, differs=BETTER.differs)
    assert {item.path: remedy in item.remedy for item in admitted.refusals} == {path: True}


words = st.sampled_from(["root", "a", "b", "c", ""])
any_steps = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "nodeName": words,
            "serviceName": words,
            "graphName": words,
            "weight": st.integers(-5, 200),
            "condition": st.text(max_size=8),
            "data": words,
            "serviceUrl": st.text(max_size=12),
            "path": st.text(max_size=4),
            "timeout": st.text(max_size=4),
            "requestHeaders": st.lists(st.text(max_size=4), max_size=2),
            "fallback": st.fixed_dictionaries({}, optional={"nodeName": words}),
        },
    ),
    max_size=3,
)
any_nodes = st.dictionaries(
    words,
    st.builds(
        lambda kind, steps: {"routerType": kind, "steps": steps},
        st.sampled_from(["Sequence", "Splitter", "Ensemble", "Switch"]),
        any_steps,
    ),
    max_size=4,
)


@given(any_nodes)
def test_any_graph_is_judged(nodes: dict[str, Any]) -> None:
    """And no loop is ever admitted: a walk over what is accepted comes to an end."""
    whole = graph(nodes) | {"spec": {"nodes": nodes}}
    refusals = admission.validate(whole, operation="create", config={}, differs=BETTER.differs)
    assert all(refusal.path and refusal.remedy for refusal in refusals)
    if not refusals:
        _walk(nodes, "root", ())


def _walk(nodes: dict[str, Any], name: str, way: tuple[str, ...]) -> None:
    assert name not in way
    for step in nodes[name]["steps"]:
        for target in (step.get("nodeName"), step.get("fallback", {}).get("nodeName")):
            if target:
                _walk(nodes, target, (*way, name))


@pytest.mark.parametrize(
    ("field", "most", "kind"),
    [
        ("minReplicas", 2**31 - 1, "int32"),
        ("maxReplicas", 2**31 - 1, "int32"),
        ("scaleTarget", 2**31 - 1, "int32"),
        ("timeout", 2**63 - 1, "int64"),
    ],
)
@pytest.mark.parametrize("compat", [BETTER, KSERVE])
def test_a_number_that_go_has_no_room_for_is_refused(
    field: str, most: int, kind: str, compat: Compat
) -> None:
    """Go cannot decode such an object, be its CRD the minimal one."""
    path = f"spec.{field}"
    told = refuse(graph(**{field: most + 1}), compat=compat)
    assert told.keys() == {path}
    assert f"cannot unmarshal number {most + 1} into Go value of type {kind}" in told[path]
    assert path not in refuse(graph(**{field: most}), compat=compat)
    assert refuse(graph(**{field: -most - 2}), compat=compat).keys() == {path}


@pytest.mark.parametrize("compat", [BETTER, KSERVE])
def test_a_whole_number_may_be_written_as_a_float(compat: Compat) -> None:
    """JSON has one kind of numbers; an API server stores 100.0 as 100."""
    obj = one("Splitter", weight=100.0)
    assert refuse(obj, compat=compat) == {}
    spec = inferencegraphs.loose(obj)
    assert spec is not None
    (step,) = spec.nodes["root"].steps or ()
    assert (step.weight, type(step.weight)) == (100, int)


def test_the_query_of_a_url_may_have_any_percent_sign() -> None:
    """Go does not decode it to call the URL."""
    assert refuse(graph({"root": node("Sequence", {"serviceUrl": "http://h/%2f?a=%zz"})})) == {}
