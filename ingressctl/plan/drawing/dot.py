"""A picture in the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator

from ingressctl.plan.drawing.boxes import Picture

_SHAPES = {
    "node": "shape=box, style=rounded",
    "leaf": "shape=box",
    "missing": "shape=box, style=dashed",
}


def write(picture: Picture) -> Iterator[str]:
    """Lines of a digraph."""
    yield f"digraph {_quoted(picture.title)} {{"
    yield "  rankdir=LR;"
    yield '  node [fontname="sans-serif"];'
    yield '  edge [fontname="sans-serif", fontsize=10];'
    for box in picture.boxes:
        yield f"  {_quoted(box.key)} [label={_quoted(box.text)}, {_SHAPES[box.shape]}];"
    for line in picture.lines:
        more = ", style=dashed" if line.dashed else ""
        ends = f"{_quoted(line.start)} -> {_quoted(line.end)}"
        yield f"  {ends} [label={_quoted(line.text)}{more}];"
    yield "}"


def _quoted(text: str) -> str:
    """A quoted id, in which only quotes, backslashes and line ends mean something."""
    inner = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{inner}"'
