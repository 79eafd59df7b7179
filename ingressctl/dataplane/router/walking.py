"""A request through a graph step by step, against stubs: what each step got and gave, and why.

The engine is the router's own; only what it calls is a stub, which answers as it is told or as
a model of the step's protocol would. Nothing is sent anywhere. A step that is a graph itself is
walked through as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, Literal

import orjson

from ingressctl.api.inferencegraphs import Spec
from ingressctl.core.differences import Compat
from ingressctl.dataplane.router import addresses, engine, own, settings, wire
from ingressctl.dataplane.router.nodes import Telling
from ingressctl.dataplane.router.ports import (
    Answer,
    Headers,
    NoAnswer,
    Outcome,
    Request,
    StepFailed,
    Target,
)

FALLBACK = " (fallback)"
"""Behind the name of a step whose fallback is called."""

JSON = (b"content-type", b"application/json")

MOST_CALLS = 1000
"""After so many no further graph is walked through: graphs of graphs multiply."""


@dataclass(frozen=True, slots=True)
class Stub:
    """What a step answers. `body` None: what a model of its protocol would; status 0: nothing
    listens there."""

    status: int = 200
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened: a step was called, taken or skipped, in this order.

    `text` is the URL of a call, or why. `given` and `got` are bodies, `headers` those that the
    call carried. `graph` is the one that was called, if it is known, with what happened `within`.
    """

    kind: Literal["called", "taken", "skipped"]
    node: str
    step: str
    text: str
    given: bytes = b""
    got: bytes = b""
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    graph: str = ""
    within: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph as its router runs it. `propagate` are the patterns of PROPAGATE_HEADERS."""

    name: str
    spec: Spec
    propagate: list[str] | None


Behind = Callable[[Target], Graph | Stub | None]
"""The graph whose router answers there, or what is known to be there instead."""


@dataclass(frozen=True, slots=True)
class Walk:
    """What happened, and what the client gets: status 0 is a connection that only ends."""

    events: tuple[Event, ...]
    status: int
    body: bytes


def walk(
    graph: Graph,
    request: Request,
    stubs: Mapping[str, Stub],
    *,
    compat: Compat,
    chance: Callable[[], float],
    behind: Behind,
) -> Walk:
    """Run a request. `stubs` are by the names that `names` gives of a step."""
    return asyncio.run(_walked(graph, request, _Rules(stubs, compat, chance, behind), ()))


async def _walked(graph: Graph, request: Request, rules: _Rules, above: tuple[str, ...]) -> Walk:
    own_one = _own(request, graph.spec, rules.compat)
    if own_one is not None:
        return Walk((), own_one.status, own_one.body)
    book = _Book(graph.name, rules, (*above, graph.name))
    made = engine.build(
        graph.spec,
        propagate=graph.propagate,
        upstream=book,
        compat=rules.compat,
        observe=book,
        telling=book,
        chance=rules.chance,
    )
    answer = await _answered(made, request)
    return Walk(tuple(book.events), answer.status, answer.body)


def _own(request: Request, spec: Spec, compat: Compat) -> Answer | None:
    """What the router itself says before any step; None if the graph is asked."""
    rules = settings.of_graph(spec, compat, max_request_bytes=None)
    limit = rules.limits.body_bytes
    answer = own.answer(request, rules.manner, unready=False)
    if answer is None and limit is not None and len(request.body) > limit:
        text = f"the body is larger than {limit} bytes"
        return Answer(413, (), wire.error_body(text))
    return answer


def names(graph: str, node: str, step: str, target: Target) -> tuple[str, ...]:
    """What a person may call a step: GRAPH/NODE.STEP, NODE.STEP, STEP, its Service, or its
    InferenceService."""
    service = target.host.partition(".")[0]
    component = re.sub("-(predictor|transformer)$", "", service)
    name = graph.rpartition("/")[2]
    return f"{name}/{node}.{step}", f"{node}.{step}", step, service, component


def known(graph: Graph, behind: Behind) -> Iterator[str]:
    """All names that steps may be called by, of a graph and of those below it."""
    waiting, seen = [graph], {graph.name}
    while waiting:
        here = waiting.pop()
        for node, step, target in _steps(here.spec):
            yield from names(here.name, node, step, target)
            inner = behind(target)
            if isinstance(inner, Graph) and inner.name not in seen:
                seen.add(inner.name)
                waiting.append(inner)


def _steps(spec: Spec) -> Iterator[tuple[str, str, Target]]:
    """Node, step and what it calls, fallbacks too; those that can be called."""
    for node, written in spec.nodes.items():
        for index, step in enumerate(written.steps or ()):
            place = step.name or str(index)
            yield from _callable(node, place, step.serviceUrl)
            if step.fallback is not None:
                yield from _callable(node, f"{place}{FALLBACK}", step.fallback.serviceUrl)


def _callable(node: str, step: str, url: str) -> Iterator[tuple[str, str, Target]]:
    with contextlib.suppress(addresses.BadUrl):
        yield node, step, addresses.target(url)


async def _answered(made: engine.GraphEngine, request: Request) -> Answer:
    try:
        answer = await made.run(request)
    except NoAnswer:
        return Answer(0, (), b"")
    if answer.stream is None:
        return answer
    pieces = [piece async for piece in answer.stream]
    return Answer(answer.status, answer.headers, b"".join(pieces))


@dataclass(frozen=True, slots=True)
class _Rules:
    """What is the same for all graphs of a walk."""

    stubs: Mapping[str, Stub]
    compat: Compat
    chance: Callable[[], float]
    behind: Behind
    calls: Iterator[int] = field(default_factory=itertools.count)


@dataclass(slots=True)
class _Book(Telling):
    """Hears what nodes of a graph decide, stands for all services, and writes both down."""

    graph: str
    rules: _Rules
    way: tuple[str, ...]
    events: list[Event] = field(default_factory=list)
    _at: tuple[str, str] = ("", "")

    def step(self, node: str, step: str) -> _Place:
        """As ports.Observer."""
        return _Place(self, (node, step))

    def skipped(self, node: str, step: str, why: str) -> None:
        """As nodes.Telling."""
        self.events.append(Event("skipped", node, step, why))

    def taken(self, node: str, step: str, why: str) -> None:
        """As nodes.Telling."""
        self.events.append(Event("taken", node, step, why))

    def begin(self, place: tuple[str, str]) -> None:
        """A call of a step follows at once, in the same turn of the loop."""
        self._at = place

    async def call(
        self,
        target: Target,
        headers: Headers,
        body: bytes,
        *,
        until: float | None,
        stream: bool,
        method: bytes = b"POST",
    ) -> Answer:
        """As ports.Upstream."""
        node, step = self._at
        event = Event(
            "called",
            node,
            step,
            _url(target),
            given=body,
            headers=tuple(
                (name.decode("latin-1"), text.decode("latin-1")) for name, text in headers
            ),
        )
        event = await self._met(event, target, Request(method, target.path, headers, body))
        self.events.append(event)
        if not event.status:
            raise StepFailed("unreachable", "no connection", sent=False)
        return Answer(event.status, [JSON], event.got)

    async def _met(self, event: Event, target: Target, request: Request) -> Event:
        """The same with its answer: as it was told, that of the graph there, or a model's."""
        stubs = self.rules.stubs
        called = names(self.graph, event.node, event.step, target)
        told = (stubs[name] for name in called if name in stubs)
        there = next(told, None) or self.rules.behind(target)
        if isinstance(there, Graph):
            return await self._within(event, there, request)
        stub = there or Stub()
        got = _model(target, request.body) if stub.body is None else stub.body
        return replace(event, got=got if stub.status else b"", status=stub.status)

    async def _within(self, event: Event, graph: Graph, request: Request) -> Event:
        if graph.name in self.way:
            return replace(event, text=f"{event.text} ({graph.name} again: that never ends)")
        if next(self.rules.calls) >= MOST_CALLS:
            return replace(
                event, text=f"{event.text} (not walked through: too many calls)", status=200
            )
        walked = await _walked(graph, request, self.rules, self.way)
        return replace(
            event, got=walked.body, status=walked.status, graph=graph.name, within=walked.events
        )


@dataclass(frozen=True, slots=True)
class _Place:
    """As ports.Series: tells the book whose call comes."""

    book: _Book
    place: tuple[str, str]

    def begin(self) -> None:
        self.book.begin(self.place)

    def end(self, outcome: Outcome, seconds: float) -> None:
        """A call tells its end itself."""

    def retried(self) -> None:
        """A call that is repeated is written down as often."""

    def fell_back(self) -> None:
        """The call of the fallback comes, which is another one."""
        node, step = self.place
        self.book.begin((node, f"{step}{FALLBACK}"))


def _url(target: Target) -> str:
    scheme = "https" if target.tls else "http"
    return f"{scheme}://{target.authority.decode()}{target.path.decode()}"


def _model(target: Target, body: bytes) -> bytes:
    """What a model would say: of v1 a prediction for each instance, of v2 an output for each
    input, else who it is. Values are those that were asked for."""
    name = target.host.partition(".")[0]
    try:
        asked: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        asked = None
    if isinstance(asked, dict) and isinstance(asked.get("instances"), list):
        return orjson.dumps({"predictions": asked["instances"]})
    if isinstance(asked, dict) and isinstance(asked.get("inputs"), list):
        return orjson.dumps({"model_name": name, "outputs": asked["inputs"]})
    return orjson.dumps({"service": name})


def phrase(status: int) -> str:
    """A status with its words: ``503 Service Unavailable``."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
