"""An object and everything below it as a picture."""

from __future__ import annotations

from ingressctl.plan import chain
from ingressctl.plan.drawing.boxes import Box, Line, Picture, Shape


def draw(root: chain.Node) -> Picture:
    """The chain of owners downwards, each object with its state."""
    boxes: dict[str, Box] = {}
    lines: list[Line] = []
    _put(root, boxes, lines)
    return Picture(str(root.ref), tuple(boxes.values()), tuple(lines))


def _put(node: chain.Node, boxes: dict[str, Box], lines: list[Line]) -> str:
    key = str(node.ref)
    if key in boxes:
        return key
    shape: Shape = "missing" if node.obj is None else "node" if node.below else "leaf"
    boxes[key] = Box(key, "\n".join(filter(None, (key, _state(node)))), shape)
    for below in node.below:
        lines.append(Line(key, _put(below, boxes, lines)))
    return key


def _state(node: chain.Node) -> str:
    words = {"True": "ready", "False": "not ready", "Unknown": "not known to be ready"}
    return words.get(node.state.status, "")
