"""What came back of a router, and what its services saw, held to what a case expects."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from tests.cases.router.asking import Answered
from tests.cases.router.stubs import Called, Services
from tests.cases.router.wires import Head

OF_ANSWER = frozenset("status noResponse minSeconds maxSeconds".split())
OF_MESSAGE = frozenset("headers headersAbsent body bodySubset match text length gzipped".split())
OF_CALLS = frozenset("settleSeconds calls order parallel".split())
KEYS = OF_ANSWER | OF_MESSAGE | OF_CALLS | {"distribution"}


def faults(expect: dict[str, Any], answered: Answered, services: Services) -> list[str]:
    """Every expectation that does not hold."""
    unknown = set(expect) - KEYS
    assert not unknown, f"expect: unknown keys {sorted(unknown)}"
    return [*_of_answer(expect, answered), *_of_calls(expect, services)]


def _of_answer(expect: dict[str, Any], answered: Answered) -> Iterator[str]:
    head = answered.head
    if expect.get("noResponse"):
        if head is not None:
            yield f"there is an answer: {head.line}"
        return
    if head is None:
        yield "the connection ended without an answer"
        return
    if "status" in expect and head.status != expect["status"]:
        yield f"status {head.status}, not {expect['status']}: {answered.body[:300]!r}"
    yield from message("answer", expect, head, answered.body)
    if answered.seconds < expect.get("minSeconds", 0):
        yield f"answered after {answered.seconds:.2f} s already"
    if answered.seconds > expect.get("maxSeconds", 1e9):
        yield f"answered only after {answered.seconds:.2f} s"


def message(what: str, expect: dict[str, Any], head: Head, body: bytes) -> Iterator[str]:
    """Fields and body of an answer or of a call."""
    for name, value in (expect.get("headers") or {}).items():
        wanted = value if isinstance(value, list) else [value]
        if head.all(name) != wanted:
            yield f"{what}: {name} is {head.all(name)}, not {wanted}"
    for name in expect.get("headersAbsent") or ():
        if head.all(name):
            yield f"{what}: has {name}: {head.all(name)}"
    if "text" in expect and body != str(expect["text"]).encode():
        yield f"{what}: body {body[:300]!r}, not {expect['text']!r}"
    if "length" in expect and len(body) != expect["length"]:
        yield f"{what}: a body of {len(body)} bytes, not {expect['length']}"
    yield from _as_json(what, expect, body)


def _as_json(what: str, expect: dict[str, Any], body: bytes) -> Iterator[str]:
    if not {"body", "bodySubset", "match", "gzipped"} & set(expect):
        return
    try:
        found = json.loads(gzip.decompress(body) if "gzipped" in expect else body)
    except (ValueError, OSError) as error:
        yield f"{what}: body {body[:300]!r} cannot be read: {error}"
        return
    for key in ("body", "gzipped"):
        if key in expect and found != expect[key]:
            yield f"{what}: body {found}, not {expect[key]}"
    for name, value in (expect.get("bodySubset") or {}).items():
        if found.get(name) != value:
            yield f"{what}: {name} is {found.get(name)!r}, not {value!r}"
    for name, pattern in (expect.get("match") or {}).items():
        if not re.search(pattern, str(found.get(name))):
            yield f"{what}: {name} is {found.get(name)!r}, which {pattern!r} does not match"


def _of_calls(expect: dict[str, Any], services: Services) -> Iterator[str]:
    for name, wanted in (expect.get("calls") or {}).items():
        calls = services.of(name)
        if len(calls) != len(wanted):
            yield f"{name} was called {len(calls)} times, not {len(wanted)}"
            continue
        for called, one in zip(calls, wanted, strict=True):
            yield from _of_call(called, one)
    order = [called.service for called in services.calls]
    if "order" in expect and order != expect["order"]:
        yield f"calls came in the order {order}, not {expect['order']}"
    if "parallel" in expect:
        yield from _overlap([services.of(name)[0] for name in expect["parallel"]])


def _of_call(called: Called, wanted: dict[str, Any]) -> Iterator[str]:
    unknown = set(wanted) - OF_MESSAGE - {"method", "path"}
    assert not unknown, f"call: unknown keys {sorted(unknown)}"
    for key, found in (("method", called.head.method), ("path", called.head.path)):
        if key in wanted and found != wanted[key]:
            yield f"{called.service}: {key} {found!r}, not {wanted[key]!r}"
    yield from message(called.service, wanted, called.head, called.body)


def _overlap(calls: list[Called]) -> Iterator[str]:
    for one, other in pairwise(sorted(calls, key=lambda called: called.began)):
        if one.ended is None or other.began >= one.ended:
            yield f"{other.service} was called after {one.service} had answered"


def shares(expect: dict[str, Any], services: Services) -> list[str]:
    """The shares of the services in percent."""
    total = len(services.calls)
    found = {name: 100 * len(services.of(name)) / total for name in expect["services"]}
    return [
        f"{name} got {found[name]:.1f} percent, not {wanted}"
        for name, wanted in expect["services"].items()
        if abs(found[name] - wanted) > expect.get("tolerance", 0)
    ]
