"""What an engine tells of a request to one who asks how it went."""

from __future__ import annotations

from ingressctl.dataplane.router.walks import Event, Walk
from tests.unit.dataplane.stand_in import StandIn, failing, graph, made, request, step, unreachable


async def test_a_walk_tells_what_each_step_got_and_gave_and_why() -> None:
    walk = Walk()
    spec = graph(
        "Sequence",
        step(nodeName="choice", name="first"),
        step("c", name="last", condition='[@this].#(kind=="dog")'),
        choice=(
            "Switch",
            [step("a", name="a", condition="x"), step("b", name="b", condition="y")],
        ),
    )
    upstream = StandIn(a=1, b={"kind": "cat"}, c=1)
    await made(spec, upstream, telling=walk).run(request({"y": 1}))
    assert walk.events == [
        Event("asked", "root", "first", body=b'{"y":1}'),
        Event("skipped", "choice", "a", "condition x"),
        Event("taken", "choice", "b", "condition y"),
        Event("asked", "choice", "b", body=b'{"y":1}'),
        Event("answered", "choice", "b", status=200, body=b'{"kind":"cat"}'),
        Event("answered", "root", "first", status=200, body=b'{"kind":"cat"}'),
        Event("skipped", "root", "last", 'condition [@this].#(kind=="dog")'),
    ]


async def test_a_walk_tells_of_failures_and_of_what_decides() -> None:
    walk = Walk()
    spec = graph(
        "Ensemble", step("a", name="a"), step("b", name="b", dependency="Hard"), step("c", name="c")
    )
    upstream = StandIn(a=unreachable(), b=failing(503), c=(30.0, 1))
    await made(spec, upstream, telling=walk).run(request())
    told = [(event.kind, event.step) for event in walk.events if event.kind != "asked"]
    assert told == [("failed", "a"), ("answered", "b"), ("taken", "b")]


async def test_a_walk_tells_of_a_share_and_of_a_default() -> None:
    walk = Walk()
    inner = ("Switch", [step("b", name="b"), step("a", name="a", condition="x")])
    spec = graph("Splitter", step(nodeName="n", weight=3), n=inner)
    await made(spec, StandIn(b=1), telling=walk).run(request({}))
    whys = [(event.node, event.step, event.why) for event in walk.events if event.why]
    assert whys == [
        ("root", "0", "weight 3 of 3"),
        ("n", "a", "condition x"),
        ("n", "b", "no condition held"),
    ]
