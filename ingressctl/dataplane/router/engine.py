"""A graph made into something that runs: everything is decided here, once.

`build` reads the texts of a graph (URLs, conditions, patterns, durations) and asks for each
difference from the reference; what is left for a request are calls and comparisons.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from ingressctl.api.inferencegraphs import ROOT, Spec
from ingressctl.core.differences import Compat
from ingressctl.dataplane.router import faults, looking, traces
from ingressctl.dataplane.router.building import Builder, Choices
from ingressctl.dataplane.router.faults import Failed
from ingressctl.dataplane.router.nodes import Telling
from ingressctl.dataplane.router.ports import Answer, Headers, Observer, Request, Upstream
from ingressctl.dataplane.router.propagation import ENTITY
from ingressctl.dataplane.router.returning import Return
from ingressctl.dataplane.router.steps import Payload, Run, Step


def build(
    spec: Spec,
    *,
    propagate: list[str] | None,
    upstream: Upstream,
    compat: Compat,
    observe: Observer | None = None,
    telling: Telling | None = None,
    makes_traces: bool = False,
    chance: Callable[[], float] = random.random,
) -> GraphEngine:
    """The engine of a graph.

    `propagate` are the patterns of the environment. `makes_traces` begins a trace for
    requests that have none. `telling` hears what nodes decide, for one that explains.
    """
    choices = Choices(
        spec=spec,
        propagate=tuple(propagate or ()),
        upstream=upstream,
        compat=compat,
        observe=observe,
        telling=telling,
        chance=chance,
    )
    root = Builder(choices).node(ROOT)
    return GraphEngine(root, compat, makes_traces=makes_traces)


class GraphEngine:
    """One graph, ready to run; see ports.Engine."""

    __slots__ = (
        "_hands_on",
        "_keeps_status",
        "_knows_type",
        "_makes",
        "_return",
        "_root",
        "_traces",
    )

    def __init__(self, root: Step, compat: Compat, *, makes_traces: bool) -> None:
        self._root = root
        self._makes = makes_traces
        self._traces = compat.differs("IG-D22")
        self._hands_on = compat.differs("IG-D17")
        self._keeps_status = compat.differs("IG-D10")
        self._knows_type = compat.differs("IG-D32")
        self._return = Return.of(compat)

    async def run(self, request: Request) -> Answer:
        """The answer of the graph; raises nothing but cancellation and NoAnswer."""
        run = Run(request, self._parent(request.headers) if self._traces else None)
        payload = Payload(request.body, self._entity(request.headers), looking.largest(request))
        try:
            answer = await self._root.run(run, payload, stream=self._knows_type)
        except Failed as failed:
            return faults.answer(self._status(failed, run), failed.cause)
        return await self._return.answer(answer, request)

    def _status(self, failed: Failed, run: Run) -> int:
        """500 is KServe's for all but a Switch at the root; not for a time that we set (IG-D6)."""
        if failed.fixed or self._keeps_status or (failed.status == 504 and run.is_over()):
            return failed.status
        return 500

    def _parent(self, headers: Headers) -> traces.Parent | None:
        for name, value in headers:
            if name == b"traceparent":
                return traces.parent(value)
        return traces.new() if self._makes else None

    def _entity(self, headers: Headers) -> Headers:
        """What the body of the client cannot be read without."""
        if not self._hands_on:
            return ()
        found = [field for field in headers if field[0] in ENTITY]
        for name, _ in found:
            if name == b"content-type":
                return found
        return [faults.JSON, *found]
