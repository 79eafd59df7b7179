"""What a graph does with a request, beside what the cases of graph-router tell."""

from __future__ import annotations

import asyncio
import gzip
import random
from collections import Counter
from typing import Any

import orjson
import pytest

from ingressctl.dataplane.router import bodies, packing
from ingressctl.dataplane.router.ports import Answer, NoAnswer, Request, StepFailed
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

SWITCH_ON_KIND = ("Switch", [step("b", condition="kind")])

REFUSED = pytest.mark.parametrize(
    ("failed", "status"),
    [
        (unreachable(), 502),
        (lost(), 502),
        (StepFailed("unusable", "it is no HTTP", sent=True), 502),
        (StepFailed("late", "the step did not answer in time", sent=True), 504),
    ],
    ids=lambda item: getattr(item, "failure", item),
)


@REFUSED
async def test_a_hard_step_without_an_answer_decides_the_status(
    failed: StepFailed, status: int
) -> None:
    upstream = StandIn(a=failed, b=1)
    spec = graph("Sequence", step("a", name="first", dependency="Hard"), step("b"))
    answer = await ask(spec, upstream)
    assert answer.status == status
    assert value(answer) == {
        "error": "Failed to process request",
        "cause": f'step "first" of node "root": {failed.text}',
    }
    assert upstream.order == ["a"]


@REFUSED
async def test_a_soft_step_without_an_answer_lets_the_rest_go_on(
    failed: StepFailed, status: int
) -> None:
    upstream = StandIn(a=failed, b=lambda called: orjson.loads(called.body))
    spec = graph("Sequence", step("a"), step("b", data="$response"))
    assert "cause" in value(await ask(spec, upstream))
    last = await ask(graph("Sequence", step("b"), step("a")), StandIn(a=failed, b=1))
    assert last.status == status


async def test_a_redirect_reaches_the_client_with_its_location() -> None:
    moved = failing(307, None, (b"location", b"/moved"), (b"x-other", b"1"))
    answer = await ask(graph("Sequence", step("a")), StandIn(a=moved))
    assert (answer.status, dict(answer.headers)) == (
        307,
        dict([JSON, (b"location", b"/moved")]),
    )
    made = failing(201, None, (b"location", b"/made"))
    answer = await ask(graph("Sequence", step("a")), StandIn(a=made))
    assert b"location" not in dict(answer.headers)


async def test_a_redirect_that_is_not_that_of_the_graph_sends_nobody_anywhere() -> None:
    """Its place is one within the cluster."""
    moved = failing(302, {"moved": 1}, (b"location", b"http://b.ns.svc.cluster.local/"))
    merging = graph("Ensemble", step("a", name="a"), step("b", name="b"))
    ending = graph("Sequence", step("a"), step("b", condition="kind"))
    for spec, compat in ((merging, "better"), (ending, "better,-IG-D10")):
        answer = await ask(spec, StandIn(a=moved, b=1), compat=compat)
        assert (answer.status, dict(answer.headers)) == (200, dict([JSON]))


@pytest.mark.parametrize("condition", ["kind", "[@this].#(kind==1)"])
async def test_a_body_nested_too_deeply_is_told_of_as_such(condition: str) -> None:
    deep = b'{"kind": %b}' % (b"[" * 10_000 + b"]" * 10_000)
    spec = graph("Switch", step("a", condition=condition))
    for body, why in ((deep, "nested deeper than 10000 levels"), (b'{"kind": [', "not JSON")):
        answer = await ask(spec, StandIn(a=1), body)
        assert answer.status == 400
        assert f"the request is {why}, and" in value(answer)["cause"]
    after = graph("Sequence", step("a"), step("b", condition=condition))
    answer = await ask(after, StandIn(a=deep, b=1))
    assert answer.status == 502
    assert value(answer)["cause"].endswith("is nested deeper than 10000 levels")
    assert (await ask(spec, StandIn(a=1), deep, compat="kserve")).status == 404


LATIN = b'{"k": "J\xf6rg"}'


@pytest.mark.parametrize("compat", ["better", "kserve"])
@pytest.mark.parametrize("body", [LATIN, b'{"k": %b}' % (b"[" * 5000 + b"]" * 5000)], ids=len)
async def test_what_go_takes_for_json_meets_conditions(body: bytes, compat: str) -> None:
    switch = graph("Switch", step("a", condition="k"))
    upstream = StandIn(a=1)
    assert (await ask(switch, upstream, body, compat=compat)).status == 200
    assert upstream.calls[0].body == body
    after = graph("Sequence", step("a"), step("b", condition="k", data="$response"))
    upstream = StandIn(a=body, b=Answer(200, [], body))
    answer = await ask(after, upstream, compat=compat)
    assert upstream.calls[1].body == body
    assert (answer.status, answer.body, list(answer.headers)) == (200, body, [JSON])


async def test_an_ensemble_of_a_member_that_is_no_utf8_is_json_for_everybody() -> None:
    spec = graph("Ensemble", step("a", name="a"), step("b", name="b"))
    for compat in ("better", "kserve"):
        answer = await ask(spec, StandIn(a=LATIN, b={}), compat=compat)
        assert value(answer) == {"a": {"k": "J\ufffdrg"}, "b": {}}


@pytest.mark.parametrize(
    ("member", "again"),
    [
        (rb'{"k":"\ud800","\udc00":"\ud83d\ude00"}', '{"k":"\ufffd","\ufffd":"\U0001f600"}'),
        (rb'{"k":"\\ud800\ud83d\ud83d\ude00x"}', r'{"k":"\\ud800' + '\ufffd\U0001f600x"}'),
        (b'{"k":"\xe2\x82 \xed\xa0\x80"}', '{"k":"\ufffd\ufffd \ufffd\ufffd\ufffd"}'),
        (b'{"b":[],"a":{"c":[1,[true,null],{}]}}', '{"a":{"c":[1,[true,null],{}]},"b":[]}'),
        (b'{"a":' * 800 + b"1" + b"}" * 800, '{"a":' * 800 + "1" + "}" * 800),
    ],
    ids=range(5),
)
async def test_members_are_encoded_again_as_go_does(member: bytes, again: str) -> None:
    spec = graph("Ensemble", step("a", name="a"))
    answer = await ask(spec, StandIn(a=member), compat="kserve")
    assert (answer.status, answer.body.decode()) == (200, f'{{"a":{again}}}')


@pytest.mark.parametrize("number", [b"1e999", b"-1e999", b"1" * 400], ids=range(3))
async def test_a_number_that_no_float_holds_is_none_to_go(number: bytes) -> None:
    merging = graph("Ensemble", step("a", name="a"))
    answer = await ask(merging, StandIn(a=b'{"x": %b}' % number), compat="kserve")
    assert answer.status == 500
    assert "cannot decode" in value(answer)["cause"]
    mapping = graph("Sequence", step("a", mapPredictionsToInstances=True))
    upstream, body = StandIn(a=1), b'{"predictions": [%b]}' % number
    await ask(mapping, upstream, body, compat="kserve")
    assert upstream.calls[0].body == body


async def test_a_member_that_is_nested_too_deeply_fails_the_graph() -> None:
    spec = graph("Ensemble", step("a", name="a"))
    for levels in range(900, 1100, 5):
        body = b'{"a":' * levels + b"1" + b"}" * levels
        answer = await ask(spec, StandIn(a=body), compat="kserve")
        assert answer.status in (200, 500)
    assert "cannot decode" in value(answer)["cause"]


async def test_an_unmet_condition_ends_with_the_answer_and_status_before() -> None:
    upstream = StandIn(a=failing(503, {"kind": "x"}), b=1)
    spec = graph("Sequence", step("a"), step("b", condition='[@this].#(kind=="y")'))
    for compat, status in (("better", 503), ("kserve", 200)):
        answer = await ask(spec, upstream, compat=compat)
        assert (answer.status, value(answer)) == (status, {"kind": "x"})
    assert upstream.order == ["a", "a"]


async def test_a_condition_on_what_is_no_json_fails_the_graph() -> None:
    spec = graph("Sequence", step("a"), step("b", condition="kind"))
    assert (await ask(spec, StandIn(a=b"plain", b=1))).status == 502
    assert (await ask(spec, StandIn(a=b"plain", b=1), compat="kserve")).status == 500


async def test_the_answer_before_is_sent_on_with_its_own_type() -> None:
    upstream = StandIn(a=Answer(200, [(b"content-type", b"text/csv")], b"1,2"), b=1, c=1)
    spec = graph("Sequence", step("a"), step("b", data="$response"), step("c"))
    await ask(spec, upstream, {"x": 1})
    assert [called.headers[b"content-type"] for called in upstream.calls] == [
        b"application/json",
        b"text/csv",
        b"application/json",
    ]
    assert [called.body for called in upstream.calls] == [b'{"x":1}', b"1,2", b'{"x":1}']


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        (
            b'{"model_name":"m", "predictions": [9007199254740993, 1.0] ,"instances":[0]}',
            b'{"model_name":"m","instances":[9007199254740993, 1.0]}',
        ),
        (b'{"predictions":[]}', None),
        (b'{"predictions":[ ]}', None),
        (b'{"predictions":{"a":1}}', None),
        (b'{"Predictions":[1]}', None),
        (b"[1]", None),
        (b"no json", None),
        (b"", None),
    ],
)
async def test_only_filled_predictions_become_instances(body: bytes, sent: bytes | None) -> None:
    upstream = StandIn(a=1)
    await ask(graph("Sequence", step("a", mapPredictionsToInstances=True)), upstream, body)
    assert upstream.calls[0].body == (body if sent is None else sent)


async def test_a_mapped_body_keeps_its_type() -> None:
    spec = graph("Sequence", step("a", mapPredictionsToInstances=True))
    upstream = StandIn(a=1)
    kind = (b"content-type", b"application/vnd.tensor+json")
    given = Request(b"POST", b"/", [(b"host", b"g"), kind], b'{"predictions":[1]}', None)
    await made(spec, upstream).run(given)
    assert upstream.calls[0].body == b'{"instances":[1]}'
    assert upstream.calls[0].headers[b"content-type"] == kind[1]


async def test_packed_bodies_are_unpacked_where_they_are_read_and_only_there() -> None:
    packed = gzip.compress(b'{"kind":"x","predictions":[1]}')
    coding = (b"content-encoding", b"gzip")
    upstream = StandIn(a=Answer(200, [JSON, coding], packed), b=1)
    await ask(graph("Switch", step("a", condition="kind")), upstream, packed, coding)
    assert upstream.calls[0].body == packed
    assert upstream.calls[0].headers[b"content-encoding"] == b"gzip"
    spec = graph("Sequence", step("b", mapPredictionsToInstances=True))
    await ask(spec, upstream, packed, coding)
    assert orjson.loads(upstream.calls[1].body) == {"kind": "x", "instances": [1]}
    assert b"content-encoding" not in upstream.calls[1].headers
    spec = graph("Ensemble", step("a", name="a"))
    assert value(await ask(spec, upstream)) == {"a": {"kind": "x", "predictions": [1]}}


GZIP = (b"content-encoding", b"gzip")
LOOKING = pytest.mark.parametrize(
    "spec",
    [
        graph("Switch", step("a", condition="kind"), step("a")),
        graph("Sequence", step("a", mapPredictionsToInstances=True)),
    ],
    ids=["condition", "mapping"],
)


def packed_object(size: int) -> bytes:
    """An object of so many bytes."""
    return gzip.compress(b'{"kind":"%b"}' % (b"x" * (size - 11)))


@LOOKING
async def test_a_packed_request_keeps_to_the_limit_of_requests(spec: dict[str, Any]) -> None:
    upstream = StandIn(a=1)
    for size, status in ((1000, 200), (1001, 413)):
        given = request(packed_object(size), GZIP)
        given.largest = 1000
        assert (await made(spec, upstream).run(given)).status == status


@LOOKING
async def test_no_packed_request_becomes_larger_than_what_can_be_looked_into(
    spec: dict[str, Any],
) -> None:
    upstream = StandIn(a=1)
    answer = await ask(spec, upstream, packed_object(bodies.LARGEST + 1), GZIP)
    assert answer.status == 413
    assert value(answer)["cause"] == (
        f"the request is larger than {bodies.LARGEST} bytes when it is unpacked"
    )
    assert upstream.calls == []


@pytest.mark.parametrize(
    "spec",
    [
        graph("Sequence", step("a"), step("b", condition="kind")),
        graph("Sequence", step("a"), step("b", data="$response", mapPredictionsToInstances=True)),
        graph("Sequence", step("a"), step(nodeName="n", data="$response"), n=SWITCH_ON_KIND),
        graph("Ensemble", step("a", dependency="Hard"), step("b")),
    ],
    ids=["condition", "mapping", "switch", "ensemble"],
)
async def test_an_answer_that_becomes_too_large_is_the_fault_of_its_step(
    spec: dict[str, Any],
) -> None:
    for size, status in ((bodies.LARGEST, 200), (bodies.LARGEST + 1, 502)):
        upstream = StandIn(a=Answer(200, [JSON, GZIP], packed_object(size)), b=1)
        given = request()
        given.largest = 1000
        answer = await made(spec, upstream).run(given)
        assert answer.status == status
        assert (b"when it is unpacked" in answer.body) == (status == 502)


async def test_all_members_of_a_gzip_are_read_and_nothing_behind_them() -> None:
    spec = graph("Switch", step("a", condition="b"))
    members = gzip.compress(b'{"a":1') + gzip.compress(b',"b":1}')
    many = gzip.compress(b"") * packing.MEMBERS
    for body, status in (
        (members, 200),
        (members + b"junk", 400),
        (members[:-1], 400),
        (b"", 400),
        (gzip.compress(b'{"b":1}') + many[20:], 200),
        (gzip.compress(b'{"b":1}') + many, 400),
    ):
        assert (await ask(spec, StandIn(a=1), body, GZIP)).status == status


async def test_a_packed_answer_is_unpacked_for_a_client_that_does_not_take_it() -> None:
    packed = gzip.compress(b"1")
    upstream = StandIn(a=Answer(200, [JSON, (b"content-encoding", b"gzip")], packed))
    spec = graph("Sequence", step("a"))
    plain = await ask(spec, upstream)
    assert plain.body == b"1"
    assert list(plain.headers) == [JSON]
    kept = await ask(spec, upstream, None, (b"accept-encoding", b"br, gzip"))
    assert kept.body == packed
    assert (b"content-encoding", b"gzip") in kept.headers
    broken = StandIn(a=Answer(200, [JSON, (b"content-encoding", b"gzip")], packed[:-4]))
    assert (await ask(spec, broken)).status == 502


@pytest.mark.parametrize(
    ("accept", "takes"),
    [
        (b"gzip", True),
        (b"br, GZIP", True),
        (b"x-gzip", True),
        (b"*", True),
        (b"identity;q=1, *;q=0.1", True),
        (b"gzip;q=0.001", True),
        (b"gzip;q=0", False),
        (b"*, gzip ; Q=0.000", False),
        (b"*;q=0", False),
        (b"x-gzip2, gzi", False),
        (b"identity", False),
        (b"", False),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
async def test_what_a_client_takes_is_read_and_not_searched(
    accept: bytes, takes: bool, streamed: bool
) -> None:
    packed = gzip.compress(b"text")
    stream = Pieces(*(bytes([byte]) for byte in packed)) if streamed else None
    given = Answer(200, [JSON, GZIP], b"" if streamed else packed, stream)
    answer = await ask(
        graph("Sequence", step("a")), StandIn(a=given), None, (b"accept-encoding", accept)
    )
    assert await whole(answer) == (packed if takes else b"text")
    assert (GZIP in answer.headers) is takes


async def whole(answer: Answer) -> bytes:
    """The body, however it comes."""
    if answer.stream is None:
        return answer.body
    return b"".join([piece async for piece in answer.stream])


async def test_an_answer_of_any_size_is_unpacked_for_a_client() -> None:
    packed = packed_object(bodies.LARGEST + 1)
    for given in (
        Answer(200, [JSON, GZIP], packed),
        Answer(200, [JSON, GZIP], b"", Pieces(packed[:9], packed[9:])),
    ):
        answer = await ask(graph("Sequence", step("a")), StandIn(a=given))
        assert answer.stream is not None
        sizes = [len(piece) async for piece in answer.stream]
        assert sum(sizes) == bodies.LARGEST + 1
        assert max(sizes) <= packing.PIECE, "it never is in memory as a whole"


@pytest.mark.parametrize("cut", [1, 9])
async def test_a_stream_that_cannot_be_unpacked_breaks_off(cut: int) -> None:
    pieces = Pieces(gzip.compress(b"text")[:-cut])
    answer = await ask(
        graph("Sequence", step("a")), StandIn(a=Answer(200, [JSON, GZIP], b"", pieces))
    )
    with pytest.raises(StepFailed, match="cut off"):
        await whole(answer)
    assert answer.stream is not None
    await answer.stream.aclose()  # type: ignore[attr-defined]
    assert pieces.closed


async def test_a_coding_that_is_not_known_is_a_502_however_it_comes() -> None:
    other = (b"content-encoding", b"br")
    pieces = Pieces(b"x")
    for given in (Answer(200, [JSON, other], b"x"), Answer(200, [JSON, other], b"", pieces)):
        answer = await ask(graph("Sequence", step("a")), StandIn(a=given))
        assert answer.status == 502
    assert pieces.closed


async def test_a_packed_answer_of_nothing_is_nothing() -> None:
    for given in (
        Answer(204, [GZIP], b""),
        Answer(204, [GZIP], b"", Pieces()),
    ):
        answer = await ask(graph("Sequence", step("a")), StandIn(a=given))
        assert (answer.status, await whole(answer)) == (204, b"")


async def test_the_default_branch_is_taken_when_no_condition_holds() -> None:
    spec = graph("Switch", step("d", name="d"), step("a", condition="a"))
    upstream = StandIn(a="a", d="d")
    assert value(await ask(spec, upstream, {"a": 1})) == "a"
    assert value(await ask(spec, upstream, {"b": 1})) == "d"
    assert (await ask(spec, upstream, {"b": 1}, compat="kserve")).status == 404
    refused = await ask(spec, upstream, b"a=1")
    assert refused.status == 400
    assert "not JSON" in value(refused)["cause"]


@pytest.mark.parametrize("outer", ["Sequence", "Ensemble"])
async def test_a_nested_switch_without_a_match_is_a_404_of_its_step(outer: str) -> None:
    inner = ("Switch", [step("a", condition="a")])
    hard = graph(outer, step(nodeName="s", name="s", dependency="Hard"), s=inner)
    assert (await ask(hard, StandIn(a=1))).status == 404
    assert (await ask(hard, StandIn(a=1), compat="kserve")).status == 500
    soft = graph(outer, step(nodeName="s", name="s"), s=inner)
    answer = await ask(soft, StandIn(a=1))
    if outer == "Sequence":
        assert answer.status == 404
    else:
        assert answer.status == 200
        assert value(answer)["s"]["status"] == 404


async def test_an_ensemble_takes_any_answer_and_keeps_its_bytes() -> None:
    upstream = StandIn(
        a=Answer(200, [JSON], b' {"id": 9007199254740993, "t": "<&>"}'),
        b=b"plain \xff",
        c=Answer(204, [], b""),
        d=unreachable(),
        e=Answer(200, [JSON], b"[1,2.50]"),
    )
    spec = graph("Ensemble", *(step(host, name=host) for host in "abcd"), step("e"))
    answer = await ask(spec, upstream)
    assert answer.status == 200
    assert answer.body.startswith(b'{"a": {"id": 9007199254740993, "t": "<&>"},"b":"plain ')
    assert answer.body.endswith(b',"4":[1,2.50]}')
    merged = value(answer)
    assert merged["b"] == "plain �"
    assert merged["c"] is None
    assert (merged["d"]["status"], list(answer.headers)) == (502, [JSON])


async def test_a_hard_failure_in_an_ensemble_ends_the_others() -> None:
    upstream = StandIn(slow=(30.0, 1), fast=failing(503), other=(30.0, 1))
    steps = [step("slow"), step("fast", dependency="Hard"), step("other")]
    async with asyncio.timeout(5):
        answer = await ask(graph("Ensemble", *steps), upstream)
    assert (answer.status, value(answer)) == (503, {"detail": 503})
    await asyncio.sleep(0)
    assert upstream.open == 0


async def test_a_client_that_leaves_cancels_every_call() -> None:
    upstream = StandIn(a=(30.0, 1), b=(30.0, 1), c=1)
    spec = graph("Sequence", step(nodeName="n"), step("c"), n=("Ensemble", [step("a"), step("b")]))
    task = asyncio.get_running_loop().create_task(ask(spec, upstream))
    await asyncio.sleep(0.01)
    assert upstream.open == 2
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (upstream.open, upstream.order) == (0, ["a", "b"])


async def test_a_splitter_shares_by_weight_whatever_the_sum() -> None:
    upstream = StandIn(a="a", b="b", c="c")
    steps = [step("a", weight=1), step("b", weight=3), step("c", weight=0)]
    engine = made(graph("Splitter", *steps), upstream, chance=random.Random(7).random)
    counted = Counter([value(await engine.run(request())) for _ in range(4000)])
    assert set(counted) == {"a", "b"}
    assert 0.22 < counted["a"] / 4000 < 0.28


@pytest.mark.parametrize("point", [0.0, 0.5, 0.999999999999])
async def test_a_splitter_always_finds_a_route(point: float) -> None:
    steps = [step("a", weight=0), step("b", weight=100), step("a", weight=0)]
    upstream = StandIn(a="a", b="b")
    assert value(await ask(graph("Splitter", *steps), upstream, chance=lambda: point)) == "b"


@pytest.mark.parametrize(
    "spec",
    [
        graph("Sequence"),
        graph("Splitter", step("a")),
        graph("Sequence", step(nodeName="root")),
        graph("Ensemble", step(nodeName="n"), n=("Sequence", [step(nodeName="root")])),
    ],
    ids=["no steps", "no weight", "loop", "longer loop"],
)
async def test_where_the_reference_panics_there_is_no_answer(spec: dict[str, Any]) -> None:
    with pytest.raises(NoAnswer):
        await ask(spec, StandIn(a=1), compat="kserve")


@pytest.mark.parametrize("url", ["ftp://a/x", "a:1", "http://", "http://[1", ""])
@pytest.mark.parametrize("compat", ["kserve", "better"])
async def test_a_url_that_cannot_be_called_fails_the_request(url: str, compat: str) -> None:
    answer = await ask(graph("Sequence", {"serviceUrl": url}), StandIn(), compat=compat)
    assert answer.status == 500
    assert "URL" in value(answer)["cause"]


@pytest.mark.parametrize(
    ("compat", "cause"), [("kserve", "invalid route type: "), ("better", 'no node "nope"')]
)
async def test_a_dangling_node_fails_the_request(compat: str, cause: str) -> None:
    answer = await ask(graph("Sequence", step(nodeName="nope")), StandIn(), compat=compat)
    assert (answer.status, cause in value(answer)["cause"]) == (500, True)


async def test_the_last_hop_is_handed_on_unread() -> None:
    """Of a Sequence the last step, of a Switch or Splitter the chosen one, of nodes in nodes."""
    events = (b"content-type", b"text/event-stream")
    for spec in (
        graph("Sequence", step("a"), step("s")),
        graph("Switch", step("s", condition="@this")),
        graph("Splitter", step("s", weight=100)),
        graph("Sequence", step(nodeName="n"), n=("Switch", [step("s", condition="@this")])),
    ):
        pieces = Pieces(b"data: 1\n\n", b"data: 2\n\n")
        upstream = StandIn(a=1, s=Answer(200, [events], b"", pieces))
        answer = await ask(spec, upstream)
        assert answer.stream is not None
        assert list(answer.headers) == [events]
        assert [piece async for piece in answer.stream] == [b"data: 1\n\n", b"data: 2\n\n"]
        assert [called.stream for called in upstream.calls if called.host == "s"] == [True]


async def test_what_is_read_or_followed_is_not_streamed() -> None:
    upstream = StandIn(a={"k": 1}, b=1)
    await ask(graph("Sequence", step("a"), step("b", condition="k")), upstream)
    await ask(graph("Ensemble", step("a")), upstream)
    await ask(graph("Sequence", step("b")), upstream, compat="kserve")
    assert [called.stream for called in upstream.calls] == [False, True, False, False]


async def test_answers_of_the_graph_carry_what_graph_and_step_allow() -> None:
    answered = Answer(
        200,
        [JSON, (b"x-cost", b"1"), (b"x-trace", b"t"), (b"set-cookie", b"s"), (b"server", b"u")],
        b"{}",
    )
    one = step("a", name="a", responseHeaders=["X-Cost"])
    two = step("b", name="b")
    spec = graph("Ensemble", one, two, spec={"responseHeaders": ["x-trace"]})
    answer = await ask(spec, StandIn(a=answered, b=answered))
    assert list(answer.headers) == [
        JSON,
        (b"x-cost", b"1"),
        (b"x-trace", b"t"),
        (b"x-trace", b"t"),
    ]


async def test_an_answer_without_a_type_gets_one_by_its_bytes() -> None:
    spec = graph("Sequence", step("a"))
    for body, kind in ((b"{}", b"application/json"), (b"text", b"text/plain; charset=utf-8")):
        answer = await ask(spec, StandIn(a=Answer(200, [], body)))
        assert list(answer.headers) == [(b"content-type", kind)]
    assert list((await ask(spec, StandIn(a=Answer(204, [], b"")))).headers) == []


async def test_a_request_that_never_ends_is_answered_in_its_time() -> None:
    loop = asyncio.get_running_loop()
    spec = graph("Sequence", step("a"), step("b"))
    answer = await ask(spec, StandIn(a=(30.0, 1), b=1), until=loop.time() + 0.02)
    assert answer.status == 504


async def test_a_step_has_its_own_time_and_the_graph_a_default() -> None:
    upstream = StandIn(a=1, b=1, c=1)
    steps = [step("a", timeout="1500ms"), step("b"), step("c", timeout="1m")]
    spec = graph("Sequence", *steps, spec={"routerTimeouts": {"serviceClient": 5}})
    loop = asyncio.get_running_loop()
    before = loop.time()
    await ask(spec, upstream, until=before + 10)
    after = loop.time() - before
    limits = [called.until - before for called in upstream.calls if called.until]
    for limit, wanted in zip(limits, (1.5, 5.0, 10.0), strict=True):
        assert wanted <= limit <= wanted + after


async def test_a_node_as_a_step_has_its_own_time() -> None:
    upstream = StandIn(a=(30.0, 1))
    inner = ("Sequence", [step("a")])
    answer = await ask(graph("Sequence", step(nodeName="n", timeout="20ms"), n=inner), upstream)
    assert answer.status == 504


async def test_a_url_that_does_not_parse_is_never_called_under_kserve() -> None:
    """Go refuses the escape before it connects; the graph is accepted there (IG-D38)."""
    upstream = StandIn(a={"x": 1})
    spec = graph("Sequence", {"serviceUrl": "http://a/%zz"})
    answer = await ask(spec, upstream, compat="kserve")
    assert (answer.status, upstream.calls) == (500, [])
