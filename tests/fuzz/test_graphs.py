"""Graphs, requests, answers and conditions that nobody checked: an engine always answers.

Every run ends in an answer (under kserve alone a connection may end without one), and none
leaves a call behind. INGRESSCTL_FUZZ=N runs N instead of the default.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import os
import random
from typing import Any

from ingressctl.api import gjson, inferencegraphs
from ingressctl.core.differences import Compat
from ingressctl.dataplane.router import engine
from ingressctl.dataplane.router.ports import Answer, NoAnswer, Request, StepFailed
from tests.unit.dataplane.stand_in import Pieces, StandIn

RUNS = int(os.environ.get("INGRESSCTL_FUZZ", "40000"))
COMPATS = tuple(
    map(Compat.parse, ("better", "kserve", "better,-IG-D9", "kserve,+IG-D13,+IG-D10,+IG-D35"))
)
KINDS = ("Sequence", "Switch", "Splitter", "Ensemble")
NODES = ("root", "n1", "n2", "n3")
HOSTS = ("a", "b", "c")
CONDITIONS = (
    *("", "@this", "a", "a.b", '[@this].#(k=="v")', "a.#(b>1)", "#(", "[a", "{a}", "@keys"),
    *("!true", "a.#(b==1)#", "..0", "a|@dig:b", "x" * 300, "é.#(ü%*)"),
)
BODIES = (
    *(b"", b"null", b"1", b'"t"', b"[]", b"{}", b"no json", b"\xff\x00", b'{"a":1,"a":{"b":2}}'),
    *(b'{"predictions":[1]}', b'{"predictions":[],"instances":[1]}', b'{"k":"v"}', b" [1, 2] "),
    *(gzip.compress(b'{"k":"v"}'), b"[" * 3000, b'{"predictions":' + b"[" * 3000, b"NaN", b"1e999"),
    *(b'{"a":[{"b":2}]}', b"9" * 5000, b'{"\xc3\xa9":[{"\xc3\xbc":""}]}', b'"\\ud800"'),
)
FIELDS = (
    *((b"content-type", b"application/json"), (b"content-encoding", b"gzip")),
    *((b"content-encoding", b"br"), (b"accept-encoding", b"gzip"), (b"traceparent", b"00-x")),
    *((b"location", b"http://b/"), (b"location", b"::bad"), (b"x-a", b"\xff"), (b"te", b"x")),
)


def one_of(rnd: random.Random, *values: Any) -> Any:
    return rnd.choice(values)


def a_step(rnd: random.Random) -> dict[str, Any]:
    step: dict[str, Any] = {"name": one_of(rnd, "", "x", "0", 'é"')}
    if rnd.random() < 0.35:
        step["nodeName"] = one_of(rnd, *NODES, "none")
    else:
        host = rnd.choice(HOSTS)
        step["serviceUrl"] = one_of(rnd, *(3 * [f"http://{host}/p"]), "ftp://x", "", "http://[")
    optional: dict[str, Any] = {
        "condition": rnd.choice(CONDITIONS),
        "data": one_of(rnd, "$response", "$request", "x"),
        "mapPredictionsToInstances": True,
        "weight": one_of(rnd, 0, 1, 100, -5),
        "dependency": one_of(rnd, "Hard", "Soft"),
        "timeout": one_of(rnd, "1ms", "1h", "x"),
        "retries": {"attempts": 1, "backoff": "0ms", "statuses": [503]},
        "fallback": one_of(rnd, {"serviceUrl": "http://c/"}, {"nodeName": "n3"}, {}),
        "concurrency": 1,
        "requestHeaders": one_of(rnd, ["x-.*"], ["("]),
        "responseHeaders": ["x-.*"],
    }
    chosen = rnd.sample(sorted(optional), rnd.randint(0, 4))
    return {**step, **{name: optional[name] for name in chosen}}


def a_graph(rnd: random.Random) -> dict[str, Any]:
    names = ["root", *rnd.sample(NODES[1:], rnd.randint(0, 3))]
    return {
        "nodes": {
            name: {
                "routerType": rnd.choice(KINDS),
                "steps": [a_step(rnd) for _ in range(rnd.randint(0, 3))],
            }
            for name in names
        }
    }


def an_answer(rnd: random.Random) -> Any:
    failures = ("unreachable", "lost", "late", "unusable")
    if rnd.random() < 0.2:
        return StepFailed(rnd.choice(failures), "it failed", sent=rnd.random() < 0.5)
    status = one_of(rnd, 200, 200, 200, 204, 302, 307, 404, 500, 503)
    headers = rnd.sample(FIELDS, rnd.randint(0, 3))
    return Answer(status, headers, rnd.choice(BODIES))


class Odd(StandIn):
    """Answers anything, as a stream where that is allowed."""

    def __init__(self, rnd: random.Random) -> None:
        super().__init__(**{host: [an_answer(rnd) for _ in range(2)] for host in HOSTS})
        self.rnd = rnd
        self.streams: list[Pieces] = []

    async def call(self, *args: Any, **options: Any) -> Answer:
        if len(self.calls) > 2000:
            raise AssertionError("a graph calls without end")
        answer = await super().call(*args, **options)
        if options["stream"] and self.rnd.random() < 0.5:
            answer.stream, answer.body = Pieces(answer.body, b"x"), b""
            self.streams.append(answer.stream)
        return answer


async def run_one(rnd: random.Random) -> None:
    graph, upstream = a_graph(rnd), Odd(rnd)
    spec = inferencegraphs.of_raw(graph)
    compat = rnd.choice(COMPATS)
    made = engine.build(
        spec, propagate=one_of(rnd, None, [""], ["x-.*", "["]), upstream=upstream, compat=compat
    )
    headers = [(b"host", b"g"), *rnd.sample(FIELDS, rnd.randint(0, 3))]
    until = one_of(rnd, None, None, asyncio.get_running_loop().time() + 10)
    request = Request(b"POST", b"/", headers, rnd.choice(BODIES), until)
    try:
        answer = await made.run(request)
    except NoAnswer:
        assert compat.text != "better" or not graph_is_admitted(graph), graph
        return
    finally:
        assert upstream.open == 0
    assert 200 <= answer.status < 600
    assert b"host" not in {name for name, _ in answer.headers}
    if answer.stream is not None:
        with contextlib.suppress(StepFailed):  # what is packed badly breaks off, as is documented
            async for _ in answer.stream:
                pass
    assert all(not stream.pieces or stream.closed for stream in upstream.streams)


def graph_is_admitted(graph: dict[str, Any]) -> bool:
    from ingressctl.api.admission import graphs  # noqa: PLC0415 - only a failure asks

    spec = inferencegraphs.of_raw(graph)
    return not graphs.refusals(spec, differs=Compat.parse("better").differs)


async def test_every_request_through_every_graph_is_answered() -> None:
    for seed in range(RUNS // 2):
        try:
            async with asyncio.timeout(20):
                await run_one(random.Random(seed))
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
    for _ in range(500):  # nodes in nodes are cancelled one after the other
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_an_ensemble_answers_json_whatever_its_members_say() -> None:
    for seed in range(RUNS // 10):
        rnd = random.Random(seed)
        answers = {
            f"h{number}": Answer(200, rnd.sample(FIELDS[:3], 1), rnd.choice(BODIES))
            for number in range(3)
        }
        steps = [{"serviceUrl": f"http://{host}/", "name": host} for host in answers]
        spec = inferencegraphs.of_raw(
            {"nodes": {"root": {"routerType": "Ensemble", "steps": steps}}}
        )
        upstream = StandIn(**answers)
        made = engine.build(spec, propagate=None, upstream=upstream, compat=Compat.parse("better"))
        answer = await made.run(Request(b"POST", b"/", [], b"{}"))
        if answer.status == 200:
            assert set(json.loads(answer.body, parse_int=float)) == set(answers), answer.body
        else:
            assert answer.status == 502


ALPHABET = (
    *'ab01.|#()[]{}@!"\\*?=<>~%:, é\x00',
    *("@keys", "@dig:a", "@flatten", "@group", "@tostr", "@fromstr", "#(", ")#", "[@this]", "..#"),
    *("==", "!%", "~true", "&&"),
)
VALUES = (0, 1, -1.5, "", "a", "true", None, True, False, 10**30, "é", [], {})


def a_value(rnd: random.Random, depth: int = 0) -> Any:
    if depth > 3 or rnd.random() < 0.4:
        return rnd.choice(VALUES)
    if rnd.random() < 0.5:
        return {rnd.choice("ab01é"): a_value(rnd, depth + 1) for _ in range(rnd.randint(0, 3))}
    return [a_value(rnd, depth + 1) for _ in range(rnd.randint(0, 3))]


def test_any_text_is_a_condition_of_any_document() -> None:
    for seed in range(RUNS):
        rnd = random.Random(seed)
        text = "".join(rnd.choice(ALPHABET) for _ in range(rnd.randint(0, 16)))
        condition = gjson.parse(text, typed=rnd.random() < 0.5, lenient=True)
        raw = json.dumps(a_value(rnd), ensure_ascii=rnd.random() < 0.5)
        document = gjson.Document(raw.encode())
        assert condition.holds(document) == condition.looks(document), (seed, text)


def test_documents_of_any_bytes_are_json_or_told_apart() -> None:
    conditions = [gjson.parse(text) for text in ("a", "@this", '[@this].#(a=="b")', "@keys")]
    for seed in range(RUNS):
        rnd = random.Random(seed)
        document = bytearray(json.dumps(a_value(rnd)).encode())
        for _ in range(rnd.randint(1, 3)):
            place = rnd.randint(0, len(document))
            document[place : place + rnd.randint(0, 1)] = bytes([rnd.randint(0, 255)])
        found = {holds_json(condition, bytes(document)) for condition in conditions}
        assert found == {gjson.is_json(bytes(document))}, (seed, bytes(document))


def holds_json(condition: gjson.Condition, document: bytes) -> bool:
    try:
        condition.exists(document)
    except gjson.NotJson:
        return False
    return True
