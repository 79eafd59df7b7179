"""How faults of a graph name what they are about: a sentence for people, a field path for tools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ingressctl.api.inferencegraphs import Fallback, Node, Spec, Step

TARGETS = ("nodeName", "serviceName", "serviceUrl", "graphName")
"""The fields of a step or a fallback that name what is called."""

_PLAIN = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True)
class Place:
    """One step where it stands."""

    node: str
    kind: str
    index: int
    step: Step

    @property
    def path(self) -> str:
        """The field path, like ``spec.nodes.root.steps[0]``."""
        return f"{node_path(self.node)}.steps[{self.index}]"

    def __str__(self) -> str:
        name = f' ("{self.step.name}")' if self.step.name else ""
        return f'step {self.index}{name} of node "{self.node}"'


def node_path(name: str) -> str:
    """The field path of a node; names that are not plain stand in brackets."""
    return f"spec.nodes.{name}" if _PLAIN.fullmatch(name) else f"spec.nodes[{name}]"


def nodes(spec: Spec) -> Iterator[tuple[str, Node]]:
    """The nodes in the order of their names."""
    yield from sorted(spec.nodes.items())


def of_node(name: str, node: Node) -> Iterator[Place]:
    """The steps of one node."""
    for index, step in enumerate(node.steps or ()):
        yield Place(name, node.routerType, index, step)


def steps(spec: Spec) -> Iterator[Place]:
    """Every step of the graph."""
    for name, node in nodes(spec):
        yield from of_node(name, node)


def targets(spec: Spec) -> Iterator[tuple[str, Step | Fallback]]:
    """Every step and every fallback, by the path of the field that holds it."""
    for place in steps(spec):
        yield place.path, place.step
        if place.step.fallback is not None:
            yield f"{place.path}.fallback", place.step.fallback
