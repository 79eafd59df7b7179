"""A picture as boxes and the lines between them, whatever it shows and however it is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

Shape = Literal["node", "leaf", "missing"]
"""A part that leads on, one that ends, one that is named and not there."""


@dataclass(frozen=True, slots=True)
class Box:
    """`key` is unique in its picture; `text` is a line or more."""

    key: str
    text: str
    shape: Shape = "node"


@dataclass(frozen=True, slots=True)
class Line:
    """From one box to another; `dashed` where it is taken only if something fails."""

    start: str
    end: str
    text: str = ""
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """`boxes` in the order in which they are met from the first one, which is the entry.

    Boxes that nothing leads to stand at the end.
    """

    title: str
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    _below: Mapping[str, tuple[Line, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        below: dict[str, tuple[Line, ...]] = {}
        for line in self.lines:
            below[line.start] = (*below.get(line.start, ()), line)
        object.__setattr__(self, "_below", below)

    def below(self, key: str) -> tuple[Line, ...]:
        """The lines that leave a box, in order."""
        return self._below.get(key, ())

    def entries(self) -> Iterator[Box]:
        """Boxes from which all are reached: the first one, those that no line leads to, and one
        of each loop that nothing else leads to."""
        led = {line.end for line in self.lines}
        first, rest = self.boxes[:1], self.boxes[1:]
        reached: set[str] = set()
        for box in (*first, *(box for box in rest if box.key not in led), *rest):
            if box.key not in reached:
                yield box
                self._reach(box.key, reached)

    def _reach(self, key: str, reached: set[str]) -> None:
        due = [key]
        while due:
            key = due.pop()
            if key not in reached:
                reached.add(key)
                due += [line.end for line in self.below(key)]
