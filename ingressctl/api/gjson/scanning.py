"""Reading the text of a path: brackets, quotes, and where one part of it ends.

The syntax is that of tidwall/gjson 1.18, which KServe's router uses, with its corners
(spec/inferencegraph.md 13). Offsets are into the text of the path.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

OPENING = "[({"
CLOSING = "])}"


def trimmed(text: str) -> str:
    """Without spaces and control characters at both ends."""
    return text.strip("".join(map(chr, range(33))))


def end_of_quoted(text: str, start: int) -> int:
    """The place of the quote that closes the one at `start`, or the end of the text."""
    place = start + 1
    while place < len(text) and text[place] != '"':
        place += 2 if text[place] == "\\" else 1
    return min(place, len(text))


def end_of_squashed(text: str) -> int:
    """Where the value ends that the text begins with: a bracketed one, a quoted one.

    Anything else, and what is never closed, goes on to the end of the text.
    """
    if text[:1] == '"':
        return min(end_of_quoted(text, 0) + 1, len(text))
    depth = 1
    place = 1
    while place < len(text):
        char = text[place]
        if char == "\\":
            place += 1
        elif char == '"':
            place = end_of_quoted(text, place)
        elif char in OPENING:
            depth += 1
        elif char in CLOSING:
            depth -= 1
            if depth == 0:
                return place + 1
        place += 1
    return len(text)


def unescaped(quoted: str) -> str:
    """The text of what stands between quotes, with JSON's escapes undone where they fit."""
    try:
        return str(json.loads(f'"{quoted}"', strict=False))
    except ValueError:
        return quoted.replace("\\", "")


@dataclass(frozen=True, slots=True)
class KeyPart:
    """The first part of a path where an object is looked into."""

    key: str
    wild: bool = False
    rest: str | None = None
    pipe: str | None = None


def key_part(path: str, is_pipe: Callable[[str], bool]) -> KeyPart:
    """Cut the key off. `is_pipe` tells whether a dot before that text works like a pipe."""
    key: list[str] = []
    wild = False
    place = 0
    while place < len(path):
        char = path[place]
        if char == "\\":
            place += 1
            key.append(path[place : place + 1])
        elif char == "|":
            return KeyPart("".join(key), wild, pipe=path[place + 1 :])
        elif char == ".":
            rest = path[place + 1 :]
            if rest and is_pipe(rest):
                return KeyPart("".join(key), wild, pipe=rest)
            return KeyPart("".join(key), wild, rest=rest)
        else:
            wild = wild or char in "*?"
            key.append(char)
        place += 1
    return KeyPart("".join(key), wild)


@dataclass(frozen=True, slots=True)
class Query:
    """``#(path op operand)``; without an operator the path only has to exist.

    `closed` is False for one whose bracket is never closed; it then asks for nothing.
    """

    path: str = ""
    op: str = ""
    operand: str = ""
    every: bool = False
    closed: bool = True


@dataclass(frozen=True, slots=True)
class ArrayPart:
    """The first part of a path where a list is looked into.

    `each` is the path behind ``#.``: it is asked of every element.
    """

    part: str
    hashed: bool = False
    each: str | None = None
    query: Query | None = None
    rest: str | None = None
    pipe: str | None = None


def array_part(path: str, is_pipe: Callable[[str], bool]) -> ArrayPart:
    """Cut the first part off as a list reads it."""
    each = path[2:] if path.startswith("#.") else None
    query, place = _leading_query(path)
    if query is not None and not query.closed:
        return ArrayPart(path, hashed=True, query=query)
    hashed = query is not None
    while place < len(path):
        char = path[place]
        if char == "|":
            return ArrayPart(path[:place], hashed, each, query, pipe=path[place + 1 :])
        if char == ".":
            rest = path[place + 1 :]
            if rest and not hashed and is_pipe(rest):
                return ArrayPart(path[:place], hashed, each, query, pipe=rest)
            return ArrayPart(path[:place], hashed, each, query, rest=rest)
        hashed = hashed or char == "#"
        place += 1
    return ArrayPart(path, hashed, each, query)


def _leading_query(path: str) -> tuple[Query | None, int]:
    """The query that the path begins with, and the place behind its bracket."""
    if path[:2] not in ("#(", "#["):
        return None, 0
    operator, end, escaped = _bounds_of_query(path)
    if end < 0:
        return Query(closed=False), len(path)
    every = path[end + 1 : end + 2] == "#"
    if not operator:
        return Query(trimmed(path[2:end]), every=every), end + 1
    op, operand = _operation(trimmed(path[operator:end]))
    if len(operand) >= 2 and operand[0] == operand[-1] == '"':
        operand = unescaped(operand[1:-1]) if escaped else operand[1:-1]
    return Query(trimmed(path[2:operator]), op, operand, every), end + 1


def _bounds_of_query(path: str) -> tuple[int, int, bool]:
    """Places of the operator (0: none) and of the closing bracket (-1: none); any escapes."""
    depth, operator, escaped = 1, 0, False
    place = 2
    while place < len(path):
        char = path[place]
        if depth == 1 and not operator and char in "!=<>%":
            operator = place
        elif char == "\\":
            place += 1
        elif char in "[(":
            depth += 1
        elif char in "])":
            depth -= 1
            if depth == 0:
                return operator, place, escaped
        elif char == '"':
            end = end_of_quoted(path, place)
            escaped = escaped or "\\" in path[place:end]
            place = end
        place += 1
    return operator, -1, escaped


def _operation(text: str) -> tuple[str, str]:
    """Operator and operand; ``==`` is the same as ``=``, and ``!`` alone asks for nothing."""
    if len(text) == 1:
        return text, ""
    if text[:2] == "==":
        return "=", trimmed(text[2:])
    if text[:2] in ("!=", "!%", "<=", ">="):
        return text[:2], trimmed(text[2:])
    if text[0] == "!":
        return "", text
    return text[0], trimmed(text[1:])


def at_pipe(path: str) -> tuple[str, str] | None:
    """The path before and behind its first pipe outside of queries."""
    if "|" not in path:
        return None
    if path[0] == "{":
        end = end_of_squashed(path)
        return (path[:end], path[end + 1 :]) if path[end : end + 1] == "|" else None
    place = 0
    while place < len(path):
        char = path[place]
        if char == "\\":
            place += 1
        elif char == "|":
            return path[:place], path[place + 1 :]
        elif path[place : place + 3] in (".#(", ".#["):
            place = _end_of_bracket(path, place + 2)
        elif char == "." and place == len(path) - 1:
            return None
        place += 1
    return None


def _end_of_bracket(path: str, start: int) -> int:
    """The place of the bracket that closes the one at `start`; only its own sort counts."""
    opening = path[start]
    closing = CLOSING[OPENING.index(opening)]
    depth = 0
    place = start
    while place < len(path):
        char = path[place]
        if char == "\\":
            place += 1
        elif char == opening:
            depth += 1
        elif char == closing:
            depth -= 1
            if depth == 0:
                return place
        elif char == '"':
            place = end_of_quoted(path, place)
        place += 1
    return len(path)


@dataclass(frozen=True, slots=True)
class Selectors:
    """``[a,b]`` or ``{"k":a,b}``: names (None: made up) with paths, and what follows."""

    pairs: tuple[tuple[str | None, str], ...]
    rest: str


def selectors(path: str) -> Selectors | None:
    """The selectors that the path begins with; None if the bracket is never closed."""
    pairs: list[tuple[str | None, str]] = []
    depth, start, colon, modifier = 1, 1, 0, False
    place = 1
    while place < len(path):
        char = path[place]
        if char == "\\":
            place += 1
        elif char == "@":
            modifier = modifier or path[place - 1] in ".|"
        elif char == ":" and depth == 1 and not modifier and not colon:
            colon = place
        elif char == '"':
            place = end_of_quoted(path, place)
        elif char in OPENING:
            depth += 1
        elif char in CLOSING:
            depth -= 1
        if depth == 0 or (depth == 1 and char == ","):
            name = path[start:colon] if colon else None
            pairs.append((name, path[(colon + 1 if colon else start) : place]))
            start, colon, modifier = place + 1, 0, False
        if depth == 0:
            return Selectors(tuple(pairs), path[place + 1 :])
        place += 1
    return None
