"""Which headers reach a step, and how traces go on."""

from __future__ import annotations

from typing import Any

import pytest

from ingressctl.core.differences import Compat
from ingressctl.dataplane.router import propagation, traces
from tests.unit.dataplane.stand_in import StandIn, ask, graph, step

CLIENT = (
    (b"authorization", b"Bearer t"),
    (b"proxy-authorization", b"Basic s"),
    (b"x-authorization-debug", b"1"),
    (b"x-b3-traceid", b"abc"),
    (b"x-tenant-blue", b"7"),
    (b"x-other", b"no"),
    (b"accept-encoding", b"gzip"),
    (b"content-encoding", b"identity"),
    (b"x-request-id", b"r"),
    (b"expect", b"100-continue"),
)


async def sent(
    *, compat: str = "better", propagate: list[str] | None = None, **fields: Any
) -> dict[str, bytes]:
    upstream = StandIn(a=1)
    spec = graph("Sequence", step("a", **fields.pop("step", {})), spec=fields)
    await ask(spec, upstream, None, *CLIENT, compat=compat, propagate=propagate)
    return {name.decode(): value for name, value in upstream.calls[0].headers.items()}


async def test_patterns_take_whole_names_in_any_case() -> None:
    headers = await sent(propagate=["Authorization", "x-b3-.*", "X-Tenant-[a-z]{1,8}"])
    assert headers == {
        "content-type": b"application/json",
        "content-encoding": b"identity",
        "authorization": b"Bearer t",
        "x-b3-traceid": b"abc",
        "x-tenant-blue": b"7",
        "x-request-id": b"r",
        "user-agent": b"ingressctl-router",
    }


async def test_a_star_in_a_name_is_any_text() -> None:
    headers = await sent(propagate=["Auth*", "X-Tenant-*", "*traceid*", "X-Other*"])
    assert {"authorization", "x-tenant-blue", "x-b3-traceid", "x-other"} <= set(headers)
    assert not {"proxy-authorization", "x-authorization-debug"} & set(headers)


async def test_nothing_but_the_body_and_the_trace_goes_without_patterns() -> None:
    for propagate in (None, [], [""], [" "]):
        headers = await sent(propagate=propagate)
        assert set(headers) == {"content-type", "content-encoding", "x-request-id", "user-agent"}


async def test_the_reference_takes_parts_of_names_and_an_empty_pattern_takes_all() -> None:
    headers = await sent(compat="kserve", propagate=["Auth", "x-b3-.*"])
    assert set(headers) == {
        *("authorization", "proxy-authorization", "x-authorization-debug"),
        *("content-type", "accept-encoding", "user-agent"),
    }
    everything = await sent(compat="kserve", propagate=[""])
    assert {"x-other", "accept-encoding", "x-tenant-blue"} <= set(everything)
    assert not {"host", "expect"} & set(everything)


async def test_graph_and_step_have_patterns_of_their_own() -> None:
    headers = await sent(
        propagate=["authorization"],
        requestHeaders=["x-other"],
        step={"requestHeaders": ["X-Tenant-.*"]},
    )
    assert {"authorization", "x-other", "x-tenant-blue"} <= set(headers)
    assert "x-b3-traceid" not in headers


@pytest.mark.parametrize(
    ("text", "better", "kserve"),
    [
        (None, None, None),
        ("", [""], [""]),
        ("A,b", ["A", "b"], ["A", "b"]),
        ('["X-[a-z]{1,8}","b"]', ["X-[a-z]{1,8}", "b"], ['["X-[a-z]{1', '8}"', '"b"]']),
        ("[Xx]-A", ["[Xx]-A"], ["[Xx]-A"]),
        ("[1]", ["[1]"], ["[1]"]),
        ("[]", [], ["[]"]),
    ],
)
def test_the_environment_is_a_comma_list_or_json(
    text: str | None, better: list[str] | None, kserve: list[str] | None
) -> None:
    assert propagation.of_environment(text, Compat.parse("better")) == better
    assert propagation.of_environment(text, Compat.parse("kserve")) == kserve


@pytest.mark.parametrize("text", ['["x-a"', ' [ "x-a", 1]', '["x-a"],b'])
def test_a_json_list_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(propagation.NoList):
        propagation.of_environment(text, Compat.parse("better"))
    assert propagation.of_environment(text, Compat.parse("kserve")) == text.split(",")


def test_patterns_that_do_not_compile_are_told_of() -> None:
    for compat in ("better", "kserve"):
        given = ["x-a", "", "x-(", "[Xx]-b"]
        found = list(propagation.faults(given, Compat.parse(compat)))
        assert [pattern for pattern, _ in found] == ["x-("]
    starred = list(propagation.faults(["*trace-id*"], Compat.parse("better")))
    assert starred == [], "KServe's documentation has such, and here they mean something"


async def test_a_pattern_that_does_not_compile_takes_nothing() -> None:
    assert "x-other" not in await sent(propagate=["x-(", "x-o[", "(?=x)x-other"])


@pytest.mark.parametrize("compat", ["better", "kserve"])
def test_patterns_are_not_asked_about_names_that_are_too_long(compat: str) -> None:
    names = propagation.inwards(["X-.*"], Compat.parse(compat))
    long = [(b"x-" + b"a" * (size - 2), b"") for size in (128, 129)]
    assert names.pick(long) == long[:1]


@pytest.mark.parametrize("compat", ["better", "kserve"])
async def test_a_pattern_that_would_not_end_takes_nothing(compat: str) -> None:
    assert "x-other" not in await sent(compat=compat, propagate=["X-(O|t|h|e|r|he)+"])


def test_names_of_clients_do_not_fill_the_memory() -> None:
    names = propagation.inwards(["x-.*"], Compat.parse("better"))
    headers = [(b"x-%d" % number, b"") for number in range(3 * propagation.MAX_NAMES)]
    assert names.pick(headers) == headers
    assert len(names._known) == propagation.MAX_NAMES


TRACE = b"00-" + b"a" * 32 + b"-" + b"b" * 16 + b"-01"


async def test_each_call_is_a_span_of_its_own_in_the_client_s_trace() -> None:
    upstream = StandIn(a=1, b=1)
    spec = graph("Sequence", step("a"), step("b"))
    state = (b"tracestate", b"v=1")
    await ask(spec, upstream, None, (b"traceparent", TRACE), state)
    parents = [called.headers[b"traceparent"] for called in upstream.calls]
    assert len(set(parents)) == 2
    for parent in parents:
        assert parent.startswith(TRACE[:36])
        assert parent.endswith(b"-01")
        assert parent[36:52] != TRACE[36:52]
    assert all(called.headers[b"tracestate"] == b"v=1" for called in upstream.calls)


async def test_a_trace_is_made_only_when_that_is_asked_for() -> None:
    spec = graph("Sequence", step("a"), step("a"))
    upstream = StandIn(a=1)
    await ask(spec, upstream)
    await ask(spec, upstream, makes_traces=True)
    await ask(spec, upstream, makes_traces=True, compat="kserve")
    found = [called.headers.get(b"traceparent") for called in upstream.calls]
    assert found[:2] == found[4:] == [None, None]
    assert found[2] is not None
    assert found[3] is not None
    assert found[2] != found[3]
    assert found[2][:36] == found[3][:36]


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"00-" + b"0" * 32 + b"-" + b"b" * 16 + b"-01",
        b"00-" + b"a" * 32 + b"-" + b"0" * 16 + b"-01",
        b"ff" + TRACE[2:],
        TRACE + b"-x",
        TRACE.upper(),
    ],
)
def test_a_trace_that_must_not_be_continued_is_not(value: bytes) -> None:
    assert traces.parent(value) is None


def test_a_later_version_of_the_header_is_read_as_far_as_it_is_known() -> None:
    assert traces.parent(b"01" + TRACE[2:] + b"-more") == (TRACE[:36], b"-01")
