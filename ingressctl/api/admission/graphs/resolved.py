"""Targets that are still names when a router starts.

Names of services and graphs become URLs in the controller, which leaves the name beside the
URL. A router knows no cluster: a name alone could only fail with every request.
"""

from __future__ import annotations

from collections.abc import Iterator

from ingressctl.api.admission.graphs import places
from ingressctl.api.admission.refusals import Refusal
from ingressctl.api.inferencegraphs import Fallback, Spec, Step

KINDS = {"serviceName": "an InferenceService", "graphName": "an InferenceGraph"}


def refusals(spec: Spec) -> Iterator[Refusal]:
    """Every step and every fallback that a router could not call."""
    for place in places.steps(spec):
        yield from _target(place.step, place.path, str(place))
        if place.step.fallback is not None:
            yield from _name(place.step.fallback, f"{place.path}.fallback", f"fallback of {place}")


def _target(step: Step, path: str, who: str) -> Iterator[Refusal]:
    if step.nodeName or step.serviceUrl or step.serviceName or step.graphName:
        yield from _name(step, path, who)
        return
    yield Refusal(
        f"{who} has no target: it can never be called",
        path,
        "write its serviceUrl, such as http://host:8080/path, or a nodeName",
        "IG-D38",
    )


def _name(target: Step | Fallback, path: str, who: str) -> Iterator[Refusal]:
    if target.nodeName or target.serviceUrl:
        return
    for field, kind in KINDS.items():
        name = getattr(target, field)
        if name:
            yield Refusal(
                f"{who} names {kind} that only the controller resolves: {name!r}",
                f"{path}.{field}",
                "write its serviceUrl, such as http://host:8080/path",
                "IG-D38",
            )
            return
