"""The five checks of KServe's webhook, in its order (spec/inferencegraph.md 2).

They hold under every `compat`. A router only runs what it can, so it asks for none of these
but the root: sums other than 100 are normalised there, and a resolved step has two targets.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ingressctl.api.admission.graphs import places
from ingressctl.api.admission.graphs.places import Place
from ingressctl.api.admission.refusals import Differs, Refusal
from ingressctl.api.inferencegraphs import ROOT, Node, Spec

_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


def refusals(name: str, spec: Spec, *, differs: Differs) -> Iterator[Refusal]:
    """What KServe refuses, all faults at once."""
    yield from _name(name)
    yield from root(spec)
    for node_name, node in places.nodes(spec):
        yield from _step_names(node_name, node)
    for place in places.steps(spec):
        yield from _target(place)
    for node_name, node in places.nodes(spec):
        if node.routerType == "Splitter":
            yield from missing_weights(node_name, node)
            yield from _sum(node_name, node, differs)


def _name(name: str) -> Iterator[Refusal]:
    if not _NAME.fullmatch(name):
        yield Refusal(
            f'the InferenceGraph "{name}" is invalid: its name must consist of lower case '
            "alphanumeric characters or '-', begin with a letter and not end with '-' "
            f"({_NAME.pattern})",
            "metadata.name",
            "rename the graph",
        )


def root(spec: Spec, difference: str = "") -> Iterator[Refusal]:
    """A graph begins at its node `root`."""
    if ROOT not in spec.nodes:
        yield Refusal(
            f"root node not found: a graph begins at the node called {ROOT}",
            "spec.nodes",
            f"call the first node {ROOT}",
            difference,
        )


def _step_names(name: str, node: Node) -> Iterator[Refusal]:
    seen = Counter(step.name for step in node.steps or () if step.name)
    for step, times in seen.items():
        if times > 1:
            yield Refusal(
                f'node "{name}" contains more than one step with name "{step}"',
                f"{places.node_path(name)}.steps",
                "give each step of a node its own name",
            )


def _target(place: Place) -> Iterator[Refusal]:
    step = place.step
    given = [
        field
        for field in ("nodeName", "serviceName", "serviceUrl", "graphName")
        if getattr(step, field)
    ]
    if not given:
        yield Refusal(
            f"{place} does not specify an inference target",
            place.path,
            "write one of nodeName, serviceName, serviceUrl and graphName",
        )
    if len(given) > 1:
        yield Refusal(
            f"{place} specifies more than one of nodeName, serviceName, serviceUrl and "
            f"graphName: {', '.join(given)}",
            place.path,
            "leave one of them",
        )


def missing_weights(name: str, node: Node, difference: str = "") -> Iterator[Refusal]:
    """Every step of a Splitter has a weight."""
    for place in places.of_node(name, node):
        if place.step.weight is None:
            yield Refusal(
                f"{place} is missing the 'Weight' by which a Splitter shares its requests",
                f"{place.path}.weight",
                "write its share in percent",
                difference,
            )


def _sum(name: str, node: Node, differs: Differs) -> Iterator[Refusal]:
    if not node.steps and differs("IG-D36"):
        return  # that is told already
    total = sum(step.weight or 0 for step in node.steps or ())
    if total != 100:
        yield Refusal(
            f'Splitter "{name}": the sum of traffic weights for all routing targets should be 100, '
            f"it is {total}",
            f"{places.node_path(name)}.steps",
            "change the weights so that they sum to 100",
        )
