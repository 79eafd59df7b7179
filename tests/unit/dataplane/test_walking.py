"""A walk tells what the router itself would do: it is the same engine, with stubs behind it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import orjson

from ingressctl.api import inferencegraphs
from ingressctl.core.differences import Compat
from ingressctl.dataplane.router import walking
from ingressctl.dataplane.router.ports import Request
from ingressctl.dataplane.router.walking import Event, Graph, Stub, Walk

V1 = "http://{0}.team-a.svc.cluster.local/v1/models/{0}:predict"


def walked(
    nodes: dict[str, Any],
    body: Any,
    *,
    compat: str = "better",
    chance: float = 0.0,
    inner: Mapping[str, Graph | Stub] = MappingProxyType({}),
    **stubs: Stub,
) -> Walk:
    return walking.walk(
        graph("graph", nodes),
        Request(b"POST", b"/", (), orjson.dumps(body)),
        {name.replace("__", "."): stub for name, stub in stubs.items()},
        compat=Compat.parse(compat),
        chance=lambda: chance,
        behind=lambda target: inner.get(target.host.partition(".")[0]),
    )


def graph(name: str, nodes: dict[str, Any]) -> Graph:
    return Graph(name, inferencegraphs.of_raw({"nodes": nodes}), None)


def node(kind: str, *steps: dict[str, Any]) -> dict[str, Any]:
    return {"routerType": kind, "steps": list(steps)}


def model(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "serviceUrl": V1.format(name), **more}


def calls(walk: Walk) -> list[Event]:
    return [event for event in walk.events if event.kind == "called"]


def test_each_step_tells_what_it_got_and_gave() -> None:
    nodes = {"root": node("Sequence", model("one"), model("two", data="$response"))}
    walk = walked(nodes, {"instances": [1, 2]})
    first, second = calls(walk)
    assert (first.given, first.got) == (b'{"instances":[1,2]}', b'{"predictions":[1,2]}')
    assert second.given == first.got
    assert (second.node, second.step, second.text) == ("root", "two", V1.format("two"))
    assert (walk.status, walk.body) == (200, second.got)


def test_a_switch_tells_why() -> None:
    nodes = {
        "root": node(
            "Switch", model("cat", condition="cats"), model("dog", condition="dogs"), model("rest")
        )
    }
    walk = walked(nodes, {"dogs": 1})
    assert [(event.kind, event.step, event.text) for event in walk.events[:2]] == [
        ("skipped", "cat", "condition cats"),
        ("taken", "dog", "condition dogs"),
    ]
    assert walked(nodes, {}).events[2].text == "no condition held"


def test_a_sequence_tells_what_its_end_leaves_out() -> None:
    def left_out(body: Any, *, hard: bool = True, **stubs: Stub) -> list[tuple[str, str]]:
        first = model("one", **({"dependency": "Hard"} if hard else {}))
        steps = (first, model("two", condition="predictions"), model("three"))
        walk = walked({"root": node("Sequence", *steps)}, body, **stubs)
        return [(event.step, event.text) for event in walk.events if event.kind == "skipped"]

    failed = [("two", "one before it failed"), ("three", "one before it failed")]
    assert left_out({"instances": [1]}, one=Stub(503, b"{}")) == failed
    assert left_out({"instances": [1]}, one=Stub(0)) == failed
    unmet = [("two", "condition predictions"), ("three", "two before it was not taken")]
    assert left_out({"messages": []}) == unmet
    assert left_out({"instances": [1]}, hard=False) == []


def test_the_point_of_a_splitter_is_chosen() -> None:
    nodes = {"root": node("Splitter", model("a", weight=30), model("b", weight=70))}
    assert calls(walked(nodes, {}, chance=0.29))[0].step == "a"
    assert calls(walked(nodes, {}, chance=0.31))[0].step == "b"


def test_stubs_answer_as_they_are_told_by_any_of_their_names() -> None:
    nodes = {"root": node("Sequence", model("one"))}
    for name in ("one", "root__one"):
        walk = walked(nodes, {}, **{name: Stub(418, b"{}")})
        assert (walk.status, walk.body) == (418, b"{}")


def test_a_step_that_nothing_serves_falls_back() -> None:
    step = model("one", fallback={"serviceUrl": V1.format("spare")})
    walk = walked({"root": node("Sequence", step)}, {"instances": []}, one=Stub(0))
    assert [(event.status, event.text) for event in calls(walk)] == [
        (0, V1.format("one")),
        (200, V1.format("spare")),
    ]
    assert walk.status == 200


def test_a_repeated_call_is_written_down_as_often() -> None:
    step = model("one", retries={"attempts": 2, "backoff": "1ms"})
    walk = walked({"root": node("Sequence", step)}, {}, one=Stub(0))
    assert len(calls(walk)) == 3
    assert walk.status == 502


def test_v2_models_and_others_answer_in_kind() -> None:
    nodes = {"root": node("Sequence", model("one"))}
    answer = orjson.loads(walked(nodes, {"inputs": [{"name": "x"}]}).body)
    assert answer == {"model_name": "one", "outputs": [{"name": "x"}]}
    assert orjson.loads(walked(nodes, {"messages": []}).body) == {"service": "one"}


def test_all_that_a_step_may_be_called_is_known() -> None:
    step = model("one", fallback={"serviceUrl": V1.format("spare-predictor")})
    made = graph("g", {"root": node("Sequence", step)})
    names = {"one", "root.one", "g/root.one", "spare", "spare-predictor"}
    assert names <= set(walking.known(made, lambda _: None))


INNER = {"root": node("Switch", model("cat", condition="cats"), model("dog", condition="dogs"))}


def test_a_step_that_is_a_graph_is_walked_through() -> None:
    nodes = {"root": node("Sequence", model("one"), model("two"))}
    inner = {"two": graph("inner", INNER)}
    walk = walked(nodes, {"dogs": 1}, inner=inner)
    one, two = calls(walk)
    assert (one.graph, two.graph) == ("", "inner")
    assert [(event.kind, event.step) for event in two.within] == [
        ("skipped", "cat"),
        ("taken", "dog"),
        ("called", "dog"),
    ]
    assert two.got == two.within[2].got == walk.body == b'{"service":"dog"}'
    failed = walked(nodes, {"dogs": 1}, inner=inner, dog=Stub(0))
    assert (failed.status, calls(failed)[1].status) == (502, 502)
    told = walked(nodes, {"dogs": 1}, inner=inner, **{"inner/root__dog": Stub(418, b"{}")})
    assert (told.status, told.body) == (418, b"{}")
    assert calls(walked(nodes, {"dogs": 1}, inner=inner, two=Stub(201)))[1].within == ()
    made = graph("outer", nodes)
    assert "inner/root.dog" in walking.known(made, lambda target: inner.get(target.host[:3]))


def test_graphs_that_call_each_other_come_to_an_end() -> None:
    """Where one is met again nobody would ever answer."""
    nodes = {"root": node("Sequence", model("one"))}
    inner = {"one": graph("inner", {"root": node("Sequence", model("two"))})}
    walk = walked(nodes, {}, inner=inner | {"two": graph("graph", nodes)})
    (event,) = calls(walk)[0].within
    assert (event.status, event.within) == (0, ())
    assert event.text.endswith("(graph again: that never ends)")
    assert walk.status == 502
    assert set(walking.known(graph("graph", nodes), lambda _: graph("graph", nodes)))


def test_what_the_reference_leaves_without_an_answer_has_no_status() -> None:
    walk = walked({"root": node("Sequence")}, {}, compat="kserve")
    assert (walk.status, walk.body, walk.events) == (0, b"", ())


def test_graphs_of_graphs_are_walked_through_so_many_times() -> None:
    def below(depth: int) -> dict[str, Any]:
        return {"root": node("Ensemble", *(model(f"{name}{depth + 1}") for name in "abcd"))}

    places = [(f"{name}{depth}", depth) for name in "abcd" for depth in range(1, 9)]
    inner = {name: graph(name, below(depth)) for name, depth in places}
    walk = walked(below(0), {}, inner=inner)
    waiting, walks = list(walk.events), 0
    while waiting:
        event = waiting.pop()
        walks += bool(event.graph)
        waiting += event.within
    assert walks == walking.MOST_CALLS


def test_a_graph_within_says_first_what_its_router_says_itself() -> None:
    small = Graph("small", inferencegraphs.of_raw({"nodes": INNER, "maxRequestBytes": 3}), None)
    nodes = {"root": node("Sequence", model("two"))}
    walk = walked(nodes, {"dogs": 1}, inner={"two": small})
    assert (calls(walk)[0].status, calls(walk)[0].within) == (413, ())


def test_what_is_known_to_stand_there_answers() -> None:
    nodes = {"root": node("Sequence", model("two"))}
    assert walked(nodes, {}, inner={"two": Stub(0)}).status == 502
