"""Answers of a router and calls of its steps, held to a field case."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from tests.cases.router.field_stubs import StepCall, Stubs, payload
from tests.cases.router.wires import Head

KEYS = frozenset(
    "status noStatus headers body bodyBase64 bodyContains jsonEquals jsonHas called notCalled "
    "calls share stream".split()
)
OF_CALL = frozenset(
    "url headers headersAbsent body bodyBase64 jsonEquals contentLengthMatchesBody".split()
)


class Seen(NamedTuple):
    """One answer; `moments` are those of the pieces of a streamed one."""

    head: Head
    body: bytes
    moments: list[float]


def faults(expect: Mapping[str, Any], answers: list[Seen], steps: Stubs) -> Iterator[str]:
    """Every expectation that does not hold."""
    _known(expect, KEYS, "expect")
    statuses = {answer.head.status for answer in answers}
    if "status" in expect and statuses != {expect["status"]}:
        yield f"status {sorted(statuses)}, not {expect['status']}: {answers[0].body[:200]!r}"
    for status in statuses & set(expect.get("noStatus") or ()):
        yield f"there is an answer {status}"
    for answer in answers:
        yield from _message("answer", expect, answer.head, answer.body)
        if "stream" in expect:
            yield from _stream(expect["stream"], answer, steps)
    yield from _called(expect, steps, len(answers))


def _known(written: Mapping[str, Any], keys: frozenset[str], what: str) -> None:
    unknown = set(written) - keys
    if unknown:
        raise ValueError(f"{what} has no field {sorted(unknown)}")


def _message(what: str, expect: Mapping[str, Any], head: Head, body: bytes) -> Iterator[str]:
    for name, value in (expect.get("headers") or {}).items():
        if head.all(name) != [value]:
            yield f"{what}: {name} is {head.all(name)}, not {value!r}"
    for name in expect.get("headersAbsent") or ():
        if head.all(name):
            yield f"{what}: has {name}"
    if {"body", "bodyBase64"} & set(expect) and body != payload(expect):
        yield f"{what}: body {body[:200]!r}, not {payload(expect)!r}"
    if expect.get("bodyContains", "").encode() not in body:
        yield f"{what}: body {body[:200]!r} does not contain {expect['bodyContains']!r}"
    if "jsonEquals" in expect and json.loads(body) != json.loads(expect["jsonEquals"]):
        yield f"{what}: body {body[:200]!r}, not {expect['jsonEquals']}"
    missing = set(expect.get("jsonHas") or ()) - set(
        json.loads(body) if "jsonHas" in expect else ()
    )
    if missing:
        yield f"{what}: body {body[:200]!r} has no {sorted(missing)}"


def _stream(wanted: Mapping[str, Any], answer: Seen, steps: Stubs) -> Iterator[str]:
    _known(wanted, frozenset(("events", "firstByteSeconds", "maxGapSeconds")), "stream")
    events = answer.body.count(b"data: ")
    if events != wanted["events"]:
        yield f"{events} events, not {wanted['events']}"
    if not answer.moments:
        yield "the answer did not come in pieces"
        return
    first = answer.moments[0] - steps.sent[0]
    if first > wanted.get("firstByteSeconds", first):
        yield f"the first byte came {first:.2f} s after the first event"
    gap = max((after - before for before, after in pairwise(answer.moments)), default=0.0)
    if gap > wanted.get("maxGapSeconds", gap):
        yield f"a gap of {gap:.2f} s between pieces"


def _called(expect: Mapping[str, Any], steps: Stubs, requests: int) -> Iterator[str]:
    labels = [call.label for call in steps.calls]
    for label in expect.get("called") or ():
        if label not in labels:
            yield f"{label} was not called"
    for label in expect.get("notCalled") or ():
        if label in labels:
            yield f"{label} was called"
    for label, (low, high) in (expect.get("share") or {}).items():
        share = labels.count(label) / requests
        if not low <= share <= high:
            yield f"{label} got {share:.4f} of the requests"
    for wanted in expect.get("calls") or ():
        _known(wanted, OF_CALL, "call")
        found = [list(_call(wanted, call)) for call in steps.calls if call.url == wanted["url"]]
        if not found:
            yield f"{wanted['url']} was not called, only {[call.url for call in steps.calls]}"
        elif all(found):
            yield from found[0]


def _call(wanted: Mapping[str, Any], call: StepCall) -> Iterator[str]:
    yield from _message(call.label, wanted, call.head, call.body)
    length = call.head.one("Content-Length")
    if wanted.get("contentLengthMatchesBody") and length not in (None, str(len(call.body))):
        yield f"{call.label}: Content-Length {length} of a body of {len(call.body)} bytes"
