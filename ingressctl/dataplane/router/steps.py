"""The steps of a node: a call with its headers and its limits, or another node.

A plain call is one object and one await; what an author asks for beside it stands around it
(`guards`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter
from typing import Protocol

from ingressctl.dataplane.router import bodies, faults, packing, traces
from ingressctl.dataplane.router.faults import Failed
from ingressctl.dataplane.router.ports import (
    Answer,
    Headers,
    Request,
    Series,
    StepFailed,
    Target,
    Upstream,
)
from ingressctl.dataplane.router.propagation import Field, Names


class Run:
    """One request on its way through a graph.

    `until` is the moment after which nobody waits. `picked` remembers what of the client's
    headers goes to the steps, for each set of names once. `entered` counts the nodes of a loop.
    """

    __slots__ = ("entered", "parent", "picked", "request", "until")

    def __init__(self, request: Request, parent: traces.Parent | None) -> None:
        self.request = request
        self.until = request.until
        self.parent = parent
        self.picked: dict[Names, list[Field]] = {}
        self.entered = [0]

    def sooner(self, until: float) -> Run:
        """The same request with less time."""
        if self.until is not None and self.until <= until:
            return self
        other = Run(self.request, self.parent)
        other.until = until
        other.picked = self.picked
        other.entered = self.entered
        return other

    def is_over(self) -> bool:
        """Whether nobody waits any more."""
        return self.until is not None and asyncio.get_running_loop().time() >= self.until


class Payload:
    """A body and the fields without which it cannot be read.

    `largest` is how many bytes a client's may have when it is unpacked; None for a step's.
    """

    __slots__ = ("body", "entity", "largest")

    def __init__(self, body: bytes, entity: Headers, largest: int | None = None) -> None:
        self.body = body
        self.entity = entity
        self.largest = largest


class Step(Protocol):
    """Something that answers."""

    async def run(self, run: Run, payload: Payload, *, stream: bool) -> Answer:
        """The answer; with `stream` its body may still be to come. Raises Failed."""
        ...


class Calling:
    """A step that is a call, so that it can be tried again."""

    __slots__ = ()

    label: str

    async def ask(self, run: Run, payload: Payload, *, stream: bool) -> Answer:
        """Call once. Raises StepFailed."""
        raise NotImplementedError

    async def run(self, run: Run, payload: Payload, *, stream: bool) -> Answer:
        """See Step."""
        try:
            return await self.ask(run, payload, stream=stream)
        except StepFailed as failed:
            raise faults.of_call(failed, self.label) from None


class Call(Calling):
    """A call of a service."""

    __slots__ = (
        "accepts_gzip",
        "inwards",
        "label",
        "method",
        "outwards",
        "seconds",
        "series",
        "static",
        "target",
        "upstream",
    )

    def __init__(
        self,
        target: Target,
        upstream: Upstream,
        *,
        label: str,
        inwards: Names,
        outwards: Names,
        static: list[Field],
        seconds: float | None,
        series: Series | None,
        accepts_gzip: bool,
    ) -> None:
        self.target = target
        self.upstream = upstream
        self.label = label
        self.method = b"POST"
        self.inwards = inwards
        self.outwards = outwards
        self.static = static
        self.seconds = seconds
        self.series = series
        self.accepts_gzip = accepts_gzip

    async def ask(self, run: Run, payload: Payload, *, stream: bool) -> Answer:
        """Call once. Raises StepFailed."""
        answer = await self.raw(run, payload, stream=stream)
        headers = self.outwards.pick(answer.headers)
        if 300 <= answer.status < 400:
            headers = _with_location(headers, answer.headers)
        answer.headers = headers
        return answer

    async def raw(self, run: Run, payload: Payload, *, stream: bool) -> Answer:
        """The answer with all its headers. Raises StepFailed."""
        until = self._until(run)
        headers = self._headers(run, payload)
        if self.series is not None:
            answer = await self._counted(self.series, headers, payload.body, until, stream=stream)
        else:
            answer = await self.upstream.call(
                self.target, headers, payload.body, until=until, stream=stream, method=self.method
            )
        return _unpacked(answer) if self.accepts_gzip and self._asked_for_gzip(run) else answer

    async def _counted(
        self, series: Series, headers: Headers, body: bytes, until: float | None, *, stream: bool
    ) -> Answer:
        began = perf_counter()  # the loop's clock knows no parts of a millisecond
        series.begin()
        try:
            answer = await self.upstream.call(
                self.target, headers, body, until=until, stream=stream, method=self.method
            )
        except StepFailed as failed:
            series.end(failed.failure, perf_counter() - began)
            raise
        except BaseException:
            series.end("cancelled", perf_counter() - began)
            raise
        series.end(answer.status, perf_counter() - began)
        return answer

    def _asked_for_gzip(self, run: Run) -> bool:
        """Whether it was us, and not the client whose header was handed on."""
        given = self.inwards.pick(run.request.headers)
        return all(name != b"accept-encoding" for name, _ in given)

    def _until(self, run: Run) -> float | None:
        if self.seconds is None:
            return run.until
        own = asyncio.get_running_loop().time() + self.seconds
        return own if run.until is None else min(own, run.until)

    def _headers(self, run: Run, payload: Payload) -> Headers:
        picked = run.picked.get(self.inwards)
        if picked is None:
            picked = run.picked[self.inwards] = self._pick(run)
        if run.parent is not None:
            return [*payload.entity, *picked, traces.child(run.parent)]
        return [*payload.entity, *picked] if payload.entity else picked

    def _pick(self, run: Run) -> list[Field]:
        """The client's headers, and ours of which it has none; the same for all steps."""
        picked = self.inwards.pick(run.request.headers)
        if run.parent is not None:
            picked = [field for field in picked if field[0] != b"traceparent"]
        names = {name for name, _ in picked}
        return [*(field for field in self.static if field[0] not in names), *picked]


def _with_location(picked: list[Field], given: Headers) -> list[Field]:
    """A redirect says nothing without the place that it names (IG-D24)."""
    locations = [field for field in given if field[0] == b"location"]
    return [*(field for field in picked if field[0] != b"location"), *locations]


UNPACKED = 256 * 1024 * 1024
"""Bytes that an answer may become that we asked to be packed: no more than one that is not."""


def _unpacked(answer: Answer) -> Answer:
    """The answer that we asked to be packed, unpacked."""
    packed = bodies.coding(answer.headers)
    if not packed:
        return answer
    try:
        body = bodies.unpacked(answer.body, packed, UNPACKED)
    except packing.Unreadable as error:
        raise StepFailed("unusable", str(error), sent=True) from None
    headers = [field for field in answer.headers if field[0] != b"content-encoding"]
    return Answer(answer.status, headers, body)


class Broken:
    """A step that cannot be called at all; only under kserve is such a graph run."""

    __slots__ = ("failed",)

    def __init__(self, cause: str) -> None:
        self.failed: Callable[[], Failed] = lambda: Failed("graph", 500, cause)

    async def run(self, run: Run, payload: Payload, *, stream: bool) -> Answer:
        """See Step."""
        raise self.failed()
