"""Nodes and steps out of the text of a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ingressctl.api import gjson
from ingressctl.api.durations import seconds
from ingressctl.api.inferencegraphs import ROOT, Fallback, Node, Spec
from ingressctl.api.inferencegraphs import Step as Written
from ingressctl.core.differences import Compat
from ingressctl.dataplane.router import addresses, propagation
from ingressctl.dataplane.router.ensembles import Ensemble
from ingressctl.dataplane.router.guards import Gated, Retried, WithFallback, Within
from ingressctl.dataplane.router.limits import Gate
from ingressctl.dataplane.router.nodes import (
    Entry,
    Inner,
    Manner,
    Sequence_,
    Splitter,
    Switch,
    Telling,
    WithoutWeight,
)
from ingressctl.dataplane.router.ports import Observer, Series, Upstream
from ingressctl.dataplane.router.propagation import Field, Names
from ingressctl.dataplane.router.redirects import Following
from ingressctl.dataplane.router.steps import Broken, Call, Calling, Step

USER_AGENT = (b"user-agent", b"ingressctl-router")


@dataclass(frozen=True, slots=True)
class Choices:
    """What an engine is made of."""

    spec: Spec
    propagate: tuple[str, ...]
    upstream: Upstream
    compat: Compat
    observe: Observer | None
    telling: Telling | None
    chance: Callable[[], float]


class Builder:
    """Makes each node once; a class because nodes name one another, in loops even."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.manner = Manner.of(choices.compat)
        self._names: dict[tuple[bool, tuple[str, ...]], Names] = {}
        self._made: dict[str, Step] = {}
        self._open: dict[str, list[Inner]] = {}
        self._static = self._fields_of_ours()
        timeouts = choices.spec.routerTimeouts
        limit = timeouts.serviceClient if timeouts is not None else None
        self._limit = float(limit) if limit is not None and limit > 0 else None

    def node(self, name: str) -> Step:
        """The node of that name."""
        made = self._made.get(name)
        if made is not None:
            return made
        written = self.choices.spec.nodes.get(name)
        if written is None:
            return Broken(self._no_node(name))
        waiting = self._open[name] = []
        made = self._made[name] = self._node(name, written)
        for inner in waiting:  # the node stands in itself
            inner.node, inner.bounded = made, True
        del self._open[name]
        return made

    def _no_node(self, name: str) -> str:
        if not self.manner.keeps_status:
            return "invalid route type: "
        return f'the graph has no node "{name}"'

    def _node(self, name: str, node: Node) -> Step:
        entries = [
            self._entry(name, node, index, step) for index, step in enumerate(node.steps or ())
        ]
        manner, telling = self.manner, self.choices.telling
        if node.routerType == "Sequence":
            return Sequence_(name, entries, manner, telling)
        if node.routerType == "Ensemble":
            return Ensemble(name, entries, manner, telling)
        if node.routerType == "Switch":
            return Switch(name, entries, manner, telling, is_root=name == ROOT)
        missing = any(entry.weight is None for entry in entries)
        splitter = WithoutWeight if missing and not manner.shares else Splitter
        return splitter(name, entries, manner, telling, random=self.choices.chance)

    def _entry(self, node: str, written: Node, index: int, step: Written) -> Entry:
        kind = written.routerType
        looks = kind in ("Sequence", "Switch")
        return Entry(
            self._step(node, index, step),
            step.name or str(index),
            hard=step.dependency == "Hard",
            condition=self._condition(step.condition, kind) if looks else None,
            from_answer=kind == "Sequence" and step.data == "$response",
            maps=kind == "Sequence" and step.mapPredictionsToInstances,
            weight=step.weight,
        )

    def _condition(self, text: str, kind: str) -> gjson.Condition | None:
        """None for none; in a Switch of the reference an empty one is one that never holds."""
        if not text and (kind == "Sequence" or self.manner.has_default):
            return None
        return gjson.parse(text, typed=self.choices.compat.differs("IG-D34"), lenient=True)

    def _step(self, node: str, index: int, step: Written) -> Step:
        series = self._series(node, index, step)
        made = self._target(node, index, step, series)
        if step.nodeName:
            made = _limited(made, step.timeout)
        if step.fallback is None:
            return made
        statuses = frozenset(step.retries.statuses or ()) if step.retries else frozenset()
        other = self._fallback(node, index, step, step.fallback)
        return WithFallback(made, other, statuses=statuses, series=series)

    def _target(self, node: str, index: int, step: Written, series: Series | None) -> Step:
        if step.nodeName:
            return self._inner(step.nodeName)
        return self._call(node, index, step, series)

    def _fallback(self, node: str, index: int, step: Written, other: Fallback) -> Step:
        """The other target, called with the headers and the time of the step."""
        if other.nodeName:
            return _limited(self._inner(other.nodeName), step.timeout)
        like = Written(
            name=step.name,
            serviceUrl=other.serviceUrl,
            timeout=step.timeout,
            appProtocol=step.appProtocol,
            requestHeaders=step.requestHeaders,
            responseHeaders=step.responseHeaders,
        )
        return self._call(node, index, like, None)

    def _inner(self, name: str) -> Step:
        waiting = self._open.get(name)
        if waiting is None:
            return self.node(name)
        inner = Inner()
        waiting.append(inner)
        return inner

    def _call(self, node: str, index: int, step: Written, series: Series | None) -> Step:
        label = f'step "{step.name or index}" of node "{node}"'
        try:
            target = addresses.target(step.serviceUrl, path=step.path, protocol=step.appProtocol)
        except addresses.BadUrl as error:
            return Broken(f"{label}: {error}")
        call = Call(
            target,
            self.choices.upstream,
            label=label,
            inwards=self._inwards(step),
            outwards=self._outwards(step),
            static=self._static,
            seconds=seconds(step.timeout) or self._limit,
            series=series,
            accepts_gzip=not self.manner.hands_on,
        )
        if self.choices.compat.differs("IG-D24"):
            return self._guarded(call, step, series)
        return self._guarded(Following(call, step.serviceUrl), step, series)

    def _guarded(self, call: Calling, step: Written, series: Series | None) -> Step:
        gated: Calling = call
        if step.concurrency:
            gated = Gated(call, Gate(step.concurrency))
        retries = step.retries
        if retries is None or retries.attempts < 1:
            return gated
        return Retried(
            gated,
            attempts=retries.attempts,
            backoff=seconds(retries.backoff) or 0.0,
            statuses=frozenset(retries.statuses or ()),
            series=series,
        )

    def _series(self, node: str, index: int, step: Written) -> Series | None:
        observe = self.choices.observe
        return observe.step(node, step.name or str(index)) if observe is not None else None

    def _inwards(self, step: Written) -> Names:
        graph = self.choices.spec.requestHeaders or ()
        patterns = (*self.choices.propagate, *graph, *(step.requestHeaders or ()))
        return self._shared(patterns, propagation.inwards, inwards=True)

    def _outwards(self, step: Written) -> Names:
        graph = self.choices.spec.responseHeaders or ()
        patterns = (*graph, *(step.responseHeaders or ()))
        return self._shared(patterns, propagation.outwards, inwards=False)

    def _shared(
        self,
        patterns: tuple[str, ...],
        make: Callable[[tuple[str, ...], Compat], Names],
        *,
        inwards: bool,
    ) -> Names:
        """Steps with the same patterns share what is known of names."""
        key = (inwards, patterns)
        if key not in self._names:
            self._names[key] = make(patterns, self.choices.compat)
        return self._names[key]

    def _fields_of_ours(self) -> list[Field]:
        """What a call has unless the client's headers are handed on in its place."""
        if self.manner.hands_on:
            return [USER_AGENT]
        return [
            USER_AGENT,
            (b"accept-encoding", b"gzip"),
            (b"content-type", b"application/json"),
        ]


def _limited(step: Step, timeout: str) -> Step:
    limit = seconds(timeout)
    return step if limit is None else Within(step, limit)
