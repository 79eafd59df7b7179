"""What is written and does nothing: warnings, never refusals (IG-R21)."""

from __future__ import annotations

from collections.abc import Iterator

from ingressctl.api import durations
from ingressctl.api.admission.graphs import conditions, places, structure
from ingressctl.api.admission.graphs.places import Place
from ingressctl.api.admission.refusals import Differs, Refusal
from ingressctl.api.inferencegraphs import Spec, Step

_ONLY_IN = {
    "weight": ("Splitter",),
    "condition": ("Switch", "Sequence"),
    "data": ("Sequence",),
    "mapPredictionsToInstances": ("Sequence",),
    "dependency": ("Sequence", "Ensemble"),
}
"""Fields of a step, and the kinds of node in which they mean something."""

_OF_CALLS = ("appProtocol", "concurrency")
"""Fields that need a call: a step that is a node makes none itself."""


def warnings(spec: Spec, *, differs: Differs) -> Iterator[Refusal]:
    """Parts of the graph without effect."""
    if not differs("IG-R21"):
        return
    yield from structure.unreachable(spec)
    yield from _empty(spec, "the graph", "spec")
    for place in places.steps(spec):
        yield from _idle(place)
        yield from _empty(place.step, str(place), place.path)
        yield from _same_again(place)
        if differs("IG-D6"):
            yield from _too_long(place, spec.timeout)
        if place.step.condition and place.kind in _ONLY_IN["condition"]:
            yield from conditions.constant(place)


def _idle(place: Place) -> Iterator[Refusal]:
    step = place.step
    for field, kinds in _ONLY_IN.items():
        given = getattr(step, field)
        if given not in (None, "", False) and place.kind not in kinds:
            yield _without_effect(place, field, f"in {_a(place.kind)}", " or ".join(kinds))
    if step.data == "$response" and place.kind == "Sequence" and place.index == 0:
        yield _without_effect(place, "data", "on the first step of a Sequence", "later steps")
    if step.nodeName:
        for field in _OF_CALLS:
            if getattr(step, field):
                yield _without_effect(place, field, "on a step that is a node", "its own steps")


def _empty(holder: Spec | Step, who: str, path: str) -> Iterator[Refusal]:
    """Lists of headers add to others, so an empty one takes nothing away either."""
    for field in ("requestHeaders", "responseHeaders"):
        if getattr(holder, field) == []:
            yield Refusal(
                f"{field} of {who} is empty: it hands on no header, and keeps none back",
                f"{path}.{field}",
                "remove it, or write names such as X-Trace-.*",
                "IG-R21",
            )


def _same_again(place: Place) -> Iterator[Refusal]:
    """A fallback to the target that has just failed; a path makes it another call."""
    step, fallback = place.step, place.step.fallback
    if fallback is None or step.path:
        return
    for field in places.TARGETS:
        if getattr(fallback, field) and getattr(fallback, field) == getattr(step, field):
            yield Refusal(
                f"the fallback of {place} is the target of the step itself, which has just failed",
                f"{place.path}.fallback.{field}",
                "name another target, or write retries: {attempts: 1} in its place",
                "IG-R21",
            )
            return


def _too_long(place: Place, limit: int | None) -> Iterator[Refusal]:
    """The time of the graph is over before that of the step."""
    given = durations.seconds(place.step.timeout)
    if given is not None and limit is not None and 0 < limit < given:
        yield Refusal(
            f"timeout of {place} is {place.step.timeout}, longer than that of the graph, which "
            f"ends every request after {limit}s",
            f"{place.path}.timeout",
            "write a shorter one, or raise spec.timeout",
            "IG-R21",
        )


def _a(kind: str) -> str:
    return f"an {kind}" if kind == "Ensemble" else f"a {kind}"


def _without_effect(place: Place, field: str, where: str, right: str) -> Refusal:
    return Refusal(
        f"{field} of {place} has no effect {where}",
        f"{place.path}.{field}",
        f"remove it; it belongs to {right}",
        "IG-R21",
    )
