r"""Patterns with ``*`` (any text) and ``?`` (one character); ``\`` takes the next literally.

A pattern is cut at its stars, and the pieces are looked for from left to right, so the time
is bounded by the length of text times pattern, whatever a client sends.
"""

from __future__ import annotations

import re
from collections.abc import Callable

Like = Callable[[str], bool]


def like(pattern: str) -> Like:
    """The test whether a whole text fits the pattern."""
    pieces = _pieces(pattern)
    if pieces is None:
        return _never
    first, *others = (re.compile("".join(piece), re.DOTALL) for piece in pieces)
    if not others:
        return lambda text: first.fullmatch(text) is not None
    *middle, last = others
    length = len(pieces[-1])

    def fits(text: str) -> bool:
        place = _behind(text, first.match(text), middle)
        start = len(text) - length
        return 0 <= place <= start and last.fullmatch(text, start) is not None

    return fits


def _never(text: str) -> bool:
    return False


def _pieces(pattern: str) -> list[list[str]] | None:
    """Expressions of the characters between stars; None if it ends in a lone backslash."""
    pieces: list[list[str]] = [[]]
    place = 0
    while place < len(pattern):
        char = pattern[place]
        if char == "*":
            pieces.append([])
        elif char == "?":
            pieces[-1].append(".")
        else:
            place += char == "\\"
            if place == len(pattern):
                return None
            pieces[-1].append(re.escape(pattern[place]))
        place += 1
    return pieces


def _behind(text: str, found: re.Match[str] | None, middle: list[re.Pattern[str]]) -> int:
    """The place behind the first and the middle pieces, each as early as can be; -1: not there."""
    place = -1 if found is None else found.end()
    for piece in middle:
        found = piece.search(text, place) if place >= 0 else None
        place = -1 if found is None else found.end()
    return place
