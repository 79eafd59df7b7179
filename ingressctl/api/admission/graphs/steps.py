"""What single steps and nodes must not say: each of it could only fail when a request comes."""

from __future__ import annotations

from collections.abc import Iterator

from ingressctl.api import dns, urls
from ingressctl.api.admission.graphs import conditions, kserve, places
from ingressctl.api.admission.graphs.places import Place
from ingressctl.api.admission.refusals import Differs, Refusal
from ingressctl.api.inferencegraphs import Node, Spec

DATA = ("", "$request", "$response")


def refusals(spec: Spec, *, differs: Differs) -> Iterator[Refusal]:
    """Faults of every node and step, by themselves."""
    for name, node in places.nodes(spec):
        if node.routerType == "Splitter":
            yield from _weights(name, node, differs)
        if node.routerType == "Ensemble" and differs("IG-D30"):
            yield from _keys(name, node)
        if node.routerType == "Switch" and differs("IG-D35"):
            yield from _defaults(name, node)
    for place in places.steps(spec):
        yield from _step(place, differs)


def _step(place: Place, differs: Differs) -> Iterator[Refusal]:
    step = place.step
    if differs("IG-D14") and step.data not in DATA:
        yield Refusal(
            f"{place} has data {step.data!r}: it is $request or $response",
            f"{place.path}.data",
            "write $response for the answer of the step before, or $request for the request",
            "IG-D14",
        )
    if differs("IG-D11") and place.kind == "Sequence" and place.index == 0 and step.condition:
        yield Refusal(
            f"{place} has a condition, but the first step of a Sequence has no answer before "
            "it that could be looked at",
            f"{place.path}.condition",
            "remove it, or put a Switch before the Sequence",
            "IG-D11",
        )
    if differs("IG-D35") and step.condition:
        yield from conditions.refusals(place)
    if differs("IG-D38") and step.serviceUrl:
        yield from url(step.serviceUrl, f"{place.path}.serviceUrl", str(place))
    if differs("IG-R17") and step.serviceName:
        yield from service(step.serviceName, f"{place.path}.serviceName", str(place))


def url(text: str, path: str, who: str) -> Iterator[Refusal]:
    """A URL that can be called: http or https, with a host."""
    fault = url_fault(text)
    if fault:
        yield Refusal(
            f"{who} cannot call {text!r}: {fault}",
            path,
            "write a URL such as http://host:8080/path",
            "IG-D38",
        )


def url_fault(text: str) -> str:
    """Why the URL cannot be called; "" if it can."""
    if any(character <= " " or character == "\x7f" for character in text):
        return "it has spaces or control characters in it"
    try:
        urls.read(text)
    except urls.BadUrl as error:
        return str(error)
    return ""


def service(name: str, path: str, who: str) -> Iterator[Refusal]:
    """A name that an object of the cluster can have."""
    fault = dns.label_fault(name)
    if fault:
        yield Refusal(
            f"{who} names {name!r}, and nothing can be called so: {fault}",
            path,
            "write the name of an InferenceService of this namespace",
            "IG-R17",
        )


def _weights(name: str, node: Node, differs: Differs) -> Iterator[Refusal]:
    if not differs("IG-D37"):
        return
    for place in places.of_node(name, node):
        if place.step.weight is not None and not 0 <= place.step.weight <= 100:
            yield Refusal(
                f"{place} has the weight {place.step.weight}: a share is 0 to 100",
                f"{place.path}.weight",
                "write a whole number from 0 to 100",
                "IG-D37",
            )


def at_start(spec: Spec, *, differs: Differs) -> Iterator[Refusal]:
    """What a router refuses of KServe's own checks: it could not run such a graph at all."""
    if differs("IG-D39"):
        yield from kserve.root(spec, "IG-D39")
    if not differs("IG-D19"):
        return
    for name, node in places.nodes(spec):
        if node.routerType == "Splitter" and node.steps:
            missing = tuple(kserve.missing_weights(name, node, "IG-D19"))
            yield from missing
            if not missing and not sum(max(step.weight or 0, 0) for step in node.steps):
                yield Refusal(
                    f'no step of Splitter "{name}" has a weight above 0',
                    f"{places.node_path(name)}.steps",
                    "give at least one step a share",
                    "IG-D19",
                )


def _keys(name: str, node: Node) -> Iterator[Refusal]:
    """The answer of an unnamed step stands under its index."""
    taken = {str(place.index) for place in places.of_node(name, node) if not place.step.name}
    for place in places.of_node(name, node):
        if place.step.name in taken:
            yield Refusal(
                f"{place} is named like the index of a step without name: one answer would "
                "overwrite the other",
                f"{place.path}.name",
                "rename it, or name the other step too",
                "IG-D30",
            )


def _defaults(name: str, node: Node) -> Iterator[Refusal]:
    """A step without condition is taken when no other is; so there is one at most."""
    without = [place for place in places.of_node(name, node) if not place.step.condition]
    for place in without[1:]:
        yield Refusal(
            f"{place} has no condition, and neither has step {without[0].index}: only one can "
            "be what is taken when no condition holds",
            f"{place.path}.condition",
            "write a condition, or remove one of the two",
            "IG-D35",
        )
