"""The steps of an InferenceGraph as a picture: nodes, what they call, and when."""

from __future__ import annotations

from collections.abc import Iterator

from ingressctl.api.inferencegraphs import ROOT, Fallback, Node, Spec, Step
from ingressctl.plan.drawing.boxes import Box, Line, Picture


def draw(title: str, spec: Spec) -> Picture:
    """The graph from its root; nodes that nothing leads to stand at the end."""
    drawing = _Drawing(spec)
    for name in (ROOT, *sorted(spec.nodes)):
        drawing.node(name)
    return Picture(title, tuple(drawing.boxes.values()), tuple(drawing.lines))


class _Drawing:
    """Boxes and lines as they are met, each node once: loops end there."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self.boxes: dict[str, Box] = {}
        self.lines: list[Line] = []

    def node(self, name: str) -> str:
        """The key of a node's box, which is drawn with all that it leads to."""
        key = f"node {name}"
        if key in self.boxes:
            return key
        node = self._spec.nodes.get(name)
        if node is None:
            self.boxes[key] = Box(key, f"{name}\nnot there", "missing")
            return key
        self.boxes[key] = Box(key, f"{name}\n{node.routerType}")
        for number, step in enumerate(node.steps or ()):
            self._step(key, node, number, step)
        return key

    def _step(self, key: str, node: Node, number: int, step: Step) -> None:
        place = f"{key} {number}"
        end = self._target(place, step)
        self.lines.append(Line(key, end, "\n".join(_said(node, number, step))))
        if step.fallback is not None:
            other = self._target(f"{place} fallback", step.fallback)
            self.lines.append(Line(key, other, f"{number + 1} if it fails", dashed=True))

    def _target(self, place: str, step: Step | Fallback) -> str:
        if step.nodeName:
            return self.node(step.nodeName)
        self.boxes[place] = Box(place, _called(step), "leaf")
        return place


def _called(step: Step | Fallback) -> str:
    """What a step calls, as people name it."""
    if step.graphName:
        return f"InferenceGraph {step.graphName}"
    if step.serviceName:
        return f"InferenceService {step.serviceName}"
    return step.serviceUrl or "nothing"


def _said(node: Node, number: int, step: Step) -> Iterator[str]:
    """What stands at a step's line: its place or name, its condition or share, what it gets."""
    yield f"{number + 1} {step.name}".rstrip()
    if node.routerType == "Splitter":
        yield f"{_share(node, step)} %"
    elif node.routerType == "Switch":
        yield f"if {step.condition}" if step.condition else "otherwise"
    elif node.routerType == "Sequence":
        if step.condition:
            yield f"if {step.condition}"
        if step.data == "$response" and number:
            yield "gets the answer before"
    if step.timeout:
        yield f"within {step.timeout}"
    if step.retries is not None and step.retries.attempts > 0:
        yield f"tried {step.retries.attempts + 1} times"
    if step.dependency == "Hard" and node.routerType in ("Sequence", "Ensemble"):
        yield "must succeed"


def _share(node: Node, step: Step) -> str:
    """The share of requests in percent, as the router takes weights: by their sum."""
    total = sum(other.weight or 0 for other in node.steps or ())
    return f"{100 * (step.weight or 0) / total:.3g}" if total > 0 else "?"
