"""A picture as an indented tree of text: for terminals and commit messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ingressctl.plan.drawing.boxes import Line, Picture


class Guides(NamedTuple):
    """What leads to a line and past it."""

    fork: str
    last: str
    past: str
    below: str


LINES = Guides("├─ ", "└─ ", "│  ", "   ")
ASCII = Guides("|- ", "`- ", "|  ", "   ")
"""For terminals that are not UTF-8 (ux.md 8.5)."""


def write(picture: Picture, guides: Guides = LINES) -> Iterator[str]:
    """Lines of text. A box that is met again is named, and its steps are not told twice."""
    seen: set[str] = set()
    texts = {box.key: box.text.replace("\n", " · ") for box in picture.boxes}
    if guides is ASCII:
        texts = {key: text.replace(" · ", ", ") for key, text in texts.items()}
    roots = tuple(picture.entries())
    if len(roots) == 1 and roots[0].text.partition("\n")[0] == picture.title:
        yield texts[roots[0].key]
        yield from _below(picture, roots[0].key, "", texts, {roots[0].key}, guides)
        return
    yield picture.title
    for number, box in enumerate(roots):
        is_last = number == len(roots) - 1
        head, rest = (guides.last, guides.below) if is_last else (guides.fork, guides.past)
        yield f"{head}{texts[box.key]}"
        seen.add(box.key)
        yield from _below(picture, box.key, rest, texts, seen, guides)


def _below(
    picture: Picture,
    key: str,
    indent: str,
    texts: dict[str, str],
    seen: set[str],
    guides: Guides,
) -> Iterator[str]:
    lines = picture.below(key)
    for line in lines:
        is_last = line is lines[-1]
        head, rest = (guides.last, guides.below) if is_last else (guides.fork, guides.past)
        again = line.end in seen and bool(picture.below(line.end))
        yield f"{indent}{head}{_said(line)}{texts[line.end]}{' (see above)' if again else ''}"
        if not again:
            seen.add(line.end)
            yield from _below(picture, line.end, indent + rest, texts, seen, guides)


def _said(line: Line) -> str:
    text = line.text.replace("\n", ", ")
    return f"{text} -> " if text else ""
