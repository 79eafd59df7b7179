"""Repeats, fallbacks, calls at a time: what an author asks for beside a call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ingressctl.dataplane.router.limits import Gate
from ingressctl.dataplane.router.ports import Answer
from tests.unit.dataplane.stand_in import (
    JSON,
    Pieces,
    StandIn,
    ask,
    failing,
    graph,
    lost,
    made,
    request,
    step,
    unreachable,
    value,
)


class Counted:
    """Keeps what the engine tells of its steps."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def step(self, node: str, step: str) -> Counted:
        self.seen.append((node, step))
        return self

    def begin(self) -> None:
        self.seen.append("begin")

    def end(self, outcome: Any, seconds: float) -> None:
        assert seconds >= 0
        self.seen.append(outcome)

    def retried(self) -> None:
        self.seen.append("retried")

    def fell_back(self) -> None:
        self.seen.append("fell back")


def once(attempts: int = 1, **more: Any) -> dict[str, Any]:
    return {"attempts": attempts, "backoff": "1ms", **more}


@pytest.mark.parametrize(
    ("script", "retries", "status", "calls"),
    [
        ([unreachable(), 1], once(), 200, 2),
        ([unreachable(), unreachable(), 1], once(), 502, 2),
        ([unreachable(), unreachable(), 1], once(2), 200, 3),
        ([lost(), 1], once(3), 502, 1),
        ([failing(503), 1], once(), 503, 1),
        ([failing(503), 1], once(statuses=[503]), 200, 2),
        ([failing(503), failing(503), 1], once(statuses=[503]), 503, 2),
        ([failing(503), unreachable(), 1], once(2, statuses=[503]), 200, 3),
        ([unreachable(), 1], once(0), 502, 1),
        ([unreachable(), 1], None, 502, 1),
    ],
)
@pytest.mark.parametrize("compat", ["better", "kserve,+IG-D10"])
async def test_only_what_did_not_run_is_tried_again_or_what_the_author_lists(
    script: list[Any], retries: Any, status: int, calls: int, compat: str
) -> None:
    upstream = StandIn(a=list(script))
    fields = {} if retries is None else {"retries": retries}
    answer = await ask(graph("Sequence", step("a", **fields)), upstream, compat=compat)
    assert (answer.status, len(upstream.calls)) == (status, calls)


async def test_no_repeat_begins_after_the_time_of_the_request() -> None:
    loop = asyncio.get_running_loop()
    retries = {"attempts": 10, "backoff": "1h"}
    upstream = StandIn(a=unreachable())
    spec = graph("Sequence", step("a", retries=retries))
    async with asyncio.timeout(5):
        answer = await ask(spec, upstream, until=loop.time() + 60)
    assert (answer.status, len(upstream.calls)) == (502, 1)


async def test_each_pause_is_twice_as_long_as_the_one_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    retries = {"attempts": 3, "backoff": "10ms"}
    answer = await ask(graph("Sequence", step("a", retries=retries)), StandIn(a=unreachable()))
    assert (answer.status, pauses) == (502, [0.01, 0.02, 0.04])


async def test_a_stream_that_is_not_taken_is_closed() -> None:
    pieces = Pieces(b"x")
    upstream = StandIn(a=[Answer(503, [JSON], b"", pieces), 1], b="b")
    spec = graph("Sequence", step("a", retries=once(statuses=[503])))
    assert value(await ask(spec, upstream)) == 1
    assert pieces.closed
    pieces = Pieces(b"x")
    upstream = StandIn(a=Answer(500, [JSON], b"", pieces), b="b")
    spec = graph("Sequence", step("a", fallback={"serviceUrl": "http://b/"}))
    assert value(await ask(spec, upstream)) == "b"
    assert pieces.closed


@pytest.mark.parametrize(
    ("script", "falls"),
    [(unreachable(), True), (failing(500), True), (failing(404), False), (1, False)],
    ids=["unreachable", "500", "404", "200"],
)
@pytest.mark.parametrize("other", ["service", "node"])
async def test_the_fallback_is_asked_when_a_step_has_failed(
    script: Any, other: str, *, falls: bool
) -> None:
    upstream = StandIn(a=script, b="b")
    target = {"serviceUrl": "http://b/v2"} if other == "service" else {"nodeName": "n"}
    spec = graph(
        "Sequence",
        step("a", name="a", fallback=target, dependency="Hard"),
        n=("Sequence", [step("b")]),
    )
    answer = await ask(spec, upstream)
    assert upstream.order == (["a", "b"] if falls else ["a"])
    assert (answer.body == b'"b"') == falls


async def test_a_fallback_that_fails_too_is_the_failure() -> None:
    spec = graph("Sequence", step("a", name="x", fallback={"serviceUrl": "http://b/"}))
    answer = await ask(spec, StandIn(a=failing(500), b=unreachable()))
    assert (answer.status, 'step "x"' in value(answer)["cause"]) == (502, True)


async def test_a_request_that_cannot_be_read_is_not_asked_again_elsewhere() -> None:
    """Whoever sent it is at fault; where no branch matches, the fallback is asked."""
    inner = ("Switch", [step("a", condition="kind")])
    spec = graph("Sequence", step(nodeName="n", fallback={"serviceUrl": "http://b/"}), n=inner)
    upstream = StandIn(a=1, b="b")
    assert (await ask(spec, upstream, b"no json")).status == 400
    assert upstream.order == []
    assert value(await ask(spec, upstream, {"other": 1})) == "b"


@pytest.mark.parametrize("other", ["service", "node"])
async def test_the_fallback_has_as_much_time_as_the_step(other: str) -> None:
    target = {"serviceUrl": "http://b/v2"} if other == "service" else {"nodeName": "n"}
    upstream = StandIn(a=unreachable(), b=(30.0, 1))
    spec = graph(
        "Sequence",
        step("a", timeout="20ms", fallback=target, dependency="Hard"),
        n=("Sequence", [step("b")]),
    )
    async with asyncio.timeout(10):
        answer = await ask(spec, upstream)
    assert (answer.status, upstream.order) == (504, ["a", "b"])


async def test_calls_beyond_the_limit_wait_in_their_order() -> None:
    upstream = StandIn(a=lambda called: called.body.decode())
    running: list[int] = []
    most = 0

    async def slow(called: Any) -> Answer:
        nonlocal most
        running.append(1)
        most = max(most, len(running))
        await asyncio.sleep(0.002)
        running.pop()
        return Answer(200, [JSON], called.body)

    engine = made(graph("Sequence", step("a", concurrency=2)), _Async(slow))
    answers = await asyncio.gather(*(engine.run(request(number)) for number in range(12)))
    assert [value(answer) for answer in answers] == list(range(12))
    assert most == 2
    assert upstream.calls == []


class _Async(StandIn):
    def __init__(self, serve: Any) -> None:
        super().__init__()
        self.serve = serve

    async def call(self, target: Any, headers: Any, body: bytes, **options: Any) -> Answer:
        return await self.serve(request(body))


async def test_who_waits_too_long_for_a_place_gets_504_and_no_place_is_lost() -> None:
    loop = asyncio.get_running_loop()
    engine = made(graph("Sequence", step("a", concurrency=1)), StandIn(a=(0.05, 1)))
    first = loop.create_task(engine.run(request()))
    await asyncio.sleep(0)
    late = await engine.run(request(until=loop.time() + 0.005))
    leaving = loop.create_task(engine.run(request()))
    await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.wait([leaving])
    assert (late.status, leaving.cancelled(), (await first).status) == (504, True, 200)
    async with asyncio.timeout(5):
        assert (await engine.run(request())).status == 200


async def test_a_stream_keeps_its_place_until_it_ends() -> None:
    answered = [
        Answer(200, [JSON], b"", Pieces(b"x")),
        Answer(200, [JSON], b"", Pieces(b"y", b"z")),
        1,
    ]
    engine = made(graph("Sequence", step("a", concurrency=1)), StandIn(a=answered))
    first = await engine.run(request())
    second = asyncio.get_running_loop().create_task(engine.run(request()))
    await asyncio.sleep(0.01)
    assert not second.done()
    assert first.stream is not None
    assert [piece async for piece in first.stream] == [b"x"]
    stream = (await second).stream
    assert stream is not None
    await stream.aclose()  # type: ignore[attr-defined]
    async with asyncio.timeout(5):
        assert value(await engine.run(request())) == 1


async def test_a_gate_serves_in_order_and_forgets_who_left() -> None:
    gate = Gate(1)
    assert await gate.enter(None)
    loop = asyncio.get_running_loop()
    waiting = [loop.create_task(gate.enter(None)) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    await asyncio.sleep(0)
    gate.leave()
    assert await waiting[1]
    assert not waiting[2].done()
    gate.leave()
    assert await waiting[2]
    gate.leave()
    assert (gate.free, gate.waiting) == (1, 0)


async def test_who_is_let_in_while_leaving_gives_the_place_back() -> None:
    gate = Gate(1)
    assert await gate.enter(None)
    waiting = asyncio.get_running_loop().create_task(gate.enter(None))
    await asyncio.sleep(0)
    gate.leave()
    waiting.cancel()
    await asyncio.wait([waiting])
    assert gate.free + (0 if waiting.cancelled() else 1) == 1


async def test_steps_tell_how_each_call_ended() -> None:
    seen = Counted()
    spec = graph(
        "Sequence",
        step("a", name="first", retries=once(statuses=[503])),
        step("b", fallback={"serviceUrl": "http://c/"}),
    )
    upstream = StandIn(a=[failing(503), unreachable()], b=lost(), c=1)
    await made(spec, upstream, observe=seen).run(request())
    assert seen.seen == [
        *(("root", "first"), ("root", "1")),
        *("begin", 503, "retried", "begin", "unreachable"),
        *("begin", "lost", "fell back"),
    ]
    slow = made(graph("Sequence", step("a")), StandIn(a=(30.0, 1)), observe=seen)
    task = asyncio.get_running_loop().create_task(slow.run(request()))
    await asyncio.sleep(0.001)
    task.cancel()
    await asyncio.wait([task])
    assert seen.seen[-2:] == ["begin", "cancelled"]


async def test_redirects_are_followed_under_kserve_alone() -> None:
    moved = Answer(307, [JSON, (b"location", b"http://b/moved")], b"")
    upstream = StandIn(a=moved, b=lambda called: called.method.decode())
    spec = graph("Sequence", step("a", concurrency=1))
    assert (await ask(spec, upstream)).status == 307
    assert value(await ask(spec, upstream, compat="kserve")) == "POST"
    upstream.hosts["a"] = Answer(302, [JSON, (b"location", b"//b/moved")], b"")
    assert value(await ask(spec, upstream, compat="kserve")) == "GET"
    assert (upstream.calls[-1].path, upstream.calls[-1].body) == (b"/moved", b"")
    upstream.hosts["b"] = Answer(302, [JSON, (b"location", b"/again")], b"")
    answer = await ask(spec, upstream, compat="kserve")
    assert (answer.status, "more than 10" in value(answer)["cause"]) == (500, True)
