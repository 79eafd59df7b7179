"""A picture as a Mermaid flowchart, which GitHub and GitLab show in Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from ingressctl.plan.drawing.boxes import Picture

_OPEN = {"node": "(", "leaf": "[", "missing": "{{"}
_CLOSE = {"node": ")", "leaf": "]", "missing": "}}"}

_MEANING = {
    "#": "#35;",
    "&": "#amp;",
    '"': "#quot;",
    "<": "#lt;",
    ">": "#gt;",
    "`": "#96;",
    "\\": "#92;",
    "\n": "<br>",
}
"""Signs that mean something within a quoted text, and what stands for them."""


def write(picture: Picture) -> Iterator[str]:
    """Lines of a flowchart. Boxes are numbered: their names may be anything."""
    ids = {box.key: f"n{number}" for number, box in enumerate(picture.boxes)}
    yield "flowchart LR"
    for box in picture.boxes:
        yield f"  {ids[box.key]}{_OPEN[box.shape]}{_quoted(box.text)}{_CLOSE[box.shape]}"
    for line in picture.lines:
        arrow = "-.->" if line.dashed else "-->"
        text = f"|{_quoted(line.text)}|" if line.text else ""
        yield f"  {ids[line.start]} {arrow}{text} {ids[line.end]}"


def _quoted(text: str) -> str:
    return '"' + "".join(_MEANING.get(sign, sign) for sign in text) + '"'
