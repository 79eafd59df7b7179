"""A picture as SVG, without any program to draw it: columns by distance from the entry.

A box stands one column right of the nearest box that leads to it, in the order in which boxes
are met; a line back, of a loop, is drawn below its boxes.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple
from xml.sax.saxutils import escape

from ingressctl.plan.drawing.boxes import Box, Line, Picture

FONT = 13
LEADING = 17
GLYPH = 7.6
"""The widest usual width of a sign at that size: labels are never cut, only roomy."""
PAD, ROW, GAP, SMALL = 10, 26, 60, 13
MARGIN = 20

_STYLE = (
    "text{font:13px sans-serif;fill:#222}.small{font-size:11px;fill:#555}"
    "rect{fill:#fff;stroke:#456;stroke-width:1.3}.leaf{fill:#eef3fb}"
    ".missing{stroke:#b00;stroke-dasharray:4 3}"
    "path{fill:none;stroke:#456;stroke-width:1.2}.dashed{stroke-dasharray:5 4}"
)


class _Place(NamedTuple):
    """Where a box stands, in pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


def write(picture: Picture) -> Iterator[str]:
    """Lines of an SVG document."""
    picture = _bundled(picture)
    places = _places(picture)
    width = max((place.x + place.width for place in places.values()), default=0.0) + MARGIN
    height = max((place.y + place.height for place in places.values()), default=0.0) + 2 * MARGIN
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">'
    )
    yield f"<title>{escape(picture.title)}</title>"
    yield f"<style>{_STYLE}</style>"
    yield (
        '<defs><marker id="end" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
        '<path d="M1,1 L7,4 L1,7"/></marker></defs>'
    )
    for line in picture.lines:
        yield from _line(line, places)
    for box in picture.boxes:
        yield from _box(box, places[box.key])
    yield "</svg>"


def _bundled(picture: Picture) -> Picture:
    """Lines between the same boxes would lie on one another: they are one, with all texts."""
    found: dict[tuple[str, str, bool], list[str]] = {}
    for line in picture.lines:
        found.setdefault((line.start, line.end, line.dashed), []).append(line.text)
    lines = tuple(
        Line(start, end, "\n".join(filter(None, texts)), dashed)
        for (start, end, dashed), texts in found.items()
    )
    return replace(picture, lines=lines)


def _places(picture: Picture) -> Mapping[str, _Place]:
    columns = _columns(picture)
    labels = _label_widths(picture, columns)
    texts = {box.key: _size(box.text) for box in picture.boxes}
    above = _label_heights(picture)
    x, places = float(MARGIN), {}
    for column in range(max(columns.values(), default=0) + 1):
        inside = [box for box in picture.boxes if columns[box.key] == column]
        width, y = max((texts[box.key][0] for box in inside), default=0.0), float(MARGIN)
        for box in inside:
            _, height = texts[box.key]
            y += max(0.0, above[box.key] - height / 2 - ROW / 2)
            places[box.key] = _Place(x, y, width, height)
            y += height + ROW
        x += width + GAP + labels[column]
    return places


def _columns(picture: Picture) -> Mapping[str, int]:
    """How many lines each box is away from the entry, or from one that nothing leads to."""
    found = {box.key: 0 for box in picture.entries()}
    due = deque(found)
    while due:
        key = due.popleft()
        for line in picture.below(key):
            if line.end not in found:
                found[line.end] = found[key] + 1
                due.append(line.end)
    return {box.key: found.get(box.key, 0) for box in picture.boxes}


def _label_widths(picture: Picture, columns: Mapping[str, int]) -> Counter[int]:
    """The room that labels need right of each column."""
    room: Counter[int] = Counter()
    for line in picture.lines:
        column = columns[line.start]
        room[column] = max(room[column], int(_size(line.text)[0]) if line.text else 0)
    return room


def _label_heights(picture: Picture) -> Counter[str]:
    """The room that labels need above the middle of each box."""
    room: Counter[str] = Counter()
    for line in picture.lines:
        room[line.end] = max(room[line.end], SMALL * (line.text.count("\n") + 1))
    return room


def _size(text: str) -> tuple[float, float]:
    lines = text.split("\n")
    return max(map(len, lines)) * GLYPH + 2 * PAD, len(lines) * LEADING + PAD


def _box(box: Box, place: _Place) -> Iterator[str]:
    yield (
        f'<rect class="{box.shape}" x="{place.x:.1f}" y="{place.y:.1f}" rx="6" '
        f'width="{place.width:.1f}" height="{place.height:.1f}"/>'
    )
    for number, text in enumerate(box.text.split("\n")):
        small = ' class="small"' if number else ""
        y = place.y + PAD / 2 + FONT + number * LEADING
        yield f'<text{small} x="{place.x + PAD:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _line(line: Line, places: Mapping[str, _Place]) -> Iterator[str]:
    start, end = places[line.start], places[line.end]
    dashed = ' class="dashed"' if line.dashed else ""
    yield f'<path{dashed} marker-end="url(#end)" d="{_course(start, end)}"/>'
    texts = line.text.split("\n") if line.text else []
    x, low = (end.x - 8, end.middle) if end.x > start.x else (start.x, _below(start, end))
    for number, text in enumerate(texts):
        y = low - 4 - (len(texts) - 1 - number) * SMALL
        yield (
            f'<text class="small" text-anchor="end" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
        )


def _course(start: _Place, end: _Place) -> str:
    """From right to left edge; a line back goes round below."""
    x, y = start.x + start.width, start.middle
    if end.x > start.x:
        turn = x + GAP / 3
        return (
            f"M{x:.1f},{y:.1f} C{turn + 20:.1f},{y:.1f} {turn - 10:.1f},{end.middle:.1f} "
            f"{turn + 25:.1f},{end.middle:.1f} L{end.x - 1:.1f},{end.middle:.1f}"
        )
    low = _below(start, end)
    return (
        f"M{x:.1f},{y:.1f} C{x + GAP / 2:.1f},{y:.1f} {x + GAP / 2:.1f},{low:.1f} "
        f"{x:.1f},{low:.1f} L{end.x - 12:.1f},{low:.1f} "
        f"C{end.x - 18:.1f},{low:.1f} {end.x - 18:.1f},{end.middle:.1f} "
        f"{end.x - 1:.1f},{end.middle:.1f}"
    )


def _below(start: _Place, end: _Place) -> float:
    """Where a line back runs."""
    return max(start.y + start.height, end.y + end.height) + ROW / 2
