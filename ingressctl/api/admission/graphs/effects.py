"""What is written and does nothing: warnings, never refusals (IG-R21)."""

from __future__ import annotations

from collections.abc import Iterator

from ingressctl.api.admission.graphs import conditions, places, structure
from ingressctl.api.admission.graphs.places import Place
from ingressctl.api.admission.refusals import Differs, Refusal
from ingressctl.api.inferencegraphs import Spec

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
    for place in places.steps(spec):
        yield from _idle(place)
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


def _a(kind: str) -> str:
    return f"an {kind}" if kind == "Ensemble" else f"a {kind}"


def _without_effect(place: Place, field: str, where: str, right: str) -> Refusal:
    return Refusal(
        f"{field} of {place} has no effect {where}",
        f"{place.path}.{field}",
        f"remove it; it belongs to {right}",
        "IG-R21",
    )
