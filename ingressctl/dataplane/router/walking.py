"""A request through a graph step by step, against stubs: what each step got and gave, and why.

The engine is the router's own; only what it calls is a stub, which answers as it is told or as
a model of the step's protocol would. Nothing is sent anywhere.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Literal

import orjson

from ingressctl.api.inferencegraphs import Spec
from ingressctl.core.differences import Compat
from ingressctl.dataplane.router import addresses, engine
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
    call carried.
    """

    kind: Literal["called", "taken", "skipped"]
    node: str
    step: str
    text: str
    given: bytes = b""
    got: bytes = b""
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Walk:
    """What happened, and what the client gets: status 0 is a connection that only ends."""

    events: tuple[Event, ...]
    status: int
    body: bytes


def walk(
    spec: Spec,
    request: Request,
    stubs: Mapping[str, Stub],
    *,
    compat: Compat,
    propagate: list[str] | None,
    chance: Callable[[], float],
) -> Walk:
    """Run a request. `stubs` are by the names that `names` gives of a step."""
    book = _Book(stubs)
    made = engine.build(
        spec,
        propagate=propagate,
        upstream=book,
        compat=compat,
        observe=book,
        telling=book,
        chance=chance,
    )
    answer = asyncio.run(_answered(made, request))
    return Walk(tuple(book.events), answer.status, answer.body)


def names(node: str, step: str, target: Target) -> tuple[str, ...]:
    """What a person may call a step: NODE.STEP, STEP, its Service, or its InferenceService."""
    service = target.host.partition(".")[0]
    component = re.sub("-(predictor|transformer)$", "", service)
    return f"{node}.{step}", step, service, component


def known(spec: Spec) -> Iterator[str]:
    """All names that steps of a graph may be called by."""
    for node, written in spec.nodes.items():
        for index, step in enumerate(written.steps or ()):
            place = step.name or str(index)
            yield from _known(node, place, step.serviceUrl)
            if step.fallback is not None:
                yield from _known(node, f"{place}{FALLBACK}", step.fallback.serviceUrl)


def _known(node: str, step: str, url: str) -> Iterator[str]:
    try:
        yield from names(node, step, addresses.target(url))
    except addresses.BadUrl:
        return


async def _answered(made: engine.GraphEngine, request: Request) -> Answer:
    try:
        answer = await made.run(request)
    except NoAnswer:
        return Answer(0, (), b"")
    if answer.stream is None:
        return answer
    pieces = [piece async for piece in answer.stream]
    return Answer(answer.status, answer.headers, b"".join(pieces))


@dataclass(slots=True)
class _Book(Telling):
    """Hears what nodes decide, stands for all services, and writes both down."""

    stubs: Mapping[str, Stub]
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
        called = names(node, step, target)
        stub = next((self.stubs[name] for name in called if name in self.stubs), Stub())
        got = _model(target, body) if stub.body is None else stub.body
        self.events.append(
            Event(
                "called",
                node,
                step,
                _url(target),
                given=body,
                got=got if stub.status else b"",
                status=stub.status,
                headers=tuple(
                    (name.decode("latin-1"), text.decode("latin-1")) for name, text in headers
                ),
            )
        )
        if not stub.status:
            raise StepFailed("unreachable", "no connection", sent=False)
        return Answer(stub.status, [JSON], got)


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
