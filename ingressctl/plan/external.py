"""Weights that somebody else steers: Argo Rollouts, Flagger, or a person (wish 9 of ux.md 7).

With ``ingressctl.dev/weights: external`` on the InferenceService, the weights that a stored
route has stay as they are for every rule that leads to the same backends as the wanted one.
Everything else of the route is still ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ingressctl.api.refs import Raw, annotations_of, ref_of
from ingressctl.core.ports import Emission
from ingressctl.core.values import replace
from ingressctl.core.world import Reads

ANNOTATION = "ingressctl.dev/weights"

Fields = Mapping[str, Any]


def is_external(owner: Raw) -> bool:
    """Whether somebody else steers the weights of the owner's routes."""
    return annotations_of(owner).get(ANNOTATION, "") == "external"


def with_live_weights(owner: Raw, emission: Emission, reads: Reads) -> Emission:
    """The emission with the weights that stored objects have, where they are somebody else's."""
    if not emission.objects or not is_external(owner):
        return emission
    return replace(emission, objects=tuple(_kept(obj, reads) for obj in emission.objects))


def _kept(wanted: Raw, reads: Reads) -> Raw:
    rules = _RULES.get(str(wanted.get("kind")))
    stored = reads.get(ref_of(wanted)) if rules else None
    if rules is None or stored is None:
        return wanted
    field, backends, identity = rules
    mine, theirs = wanted["spec"], stored.get("spec") or {}
    live = tuple(theirs.get(field) or ())
    merged = [
        _rule(rule, live[place] if place < len(live) else {}, backends, identity)
        for place, rule in enumerate(mine.get(field) or ())
    ]
    return {**wanted, "spec": {**mine, field: merged}}


def _rule(
    wanted: Fields, stored: Fields, backends: str, identity: Callable[[Fields], Any]
) -> Fields:
    """The wanted rule with the stored weights, if both lead to the same backends."""
    mine: Iterable[Fields] = wanted.get(backends) or ()
    weights = {identity(item): item.get("weight") for item in stored.get(backends) or ()}
    if not weights or {identity(item) for item in mine} != weights.keys():
        return wanted
    return {**wanted, backends: [_weighted(item, weights[identity(item)]) for item in mine]}


def _weighted(backend: Fields, weight: Any) -> Fields:
    if weight is None:
        return {key: value for key, value in backend.items() if key != "weight"}
    return {**backend, "weight": weight}


def _destination(route: Fields) -> Any:
    found = route.get("destination") or {}
    return found.get("host"), found.get("subset"), (found.get("port") or {}).get("number")


def _backend(ref: Fields) -> Any:
    return ref.get("kind") or "Service", ref.get("namespace"), ref.get("name"), ref.get("port")


_RULES: Mapping[str, tuple[str, str, Callable[[Fields], Any]]] = {
    "VirtualService": ("http", "route", _destination),
    "HTTPRoute": ("rules", "backendRefs", _backend),
}
"""By kind: where rules stand, where their backends, and what a backend is called."""
