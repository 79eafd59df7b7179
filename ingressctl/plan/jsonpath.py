r"""Text from an object by a template with paths, in the spelling that kubectl users know.

    {.items[*].metadata.name}
    {range .items[*]}{.metadata.name}{"\t"}{.status.url}{"\n"}{end}
    {.status.conditions[?(@.type=="Ready")].status}

Braces hold paths, quoted text, and ``range`` to ``end``; what stands outside is copied. A field
that is not there gives nothing. Several values of one path come with blanks between them.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Values = list[Any]
Step = Callable[[Any], Iterable[Any]]

_FIELD = re.compile(r"(?:\\.|[^\\.\[\]\s{}()=!<>'\"])+")
_SLICE = re.compile(r"\s*(-?\d*)\s*:\s*(-?\d*)\s*(?::\s*(-?\d*)\s*)?")
_FILTER = re.compile(r"\?\(\s*(@.*?)\s*(?:(==|!=|<=|>=|<|>)\s*(.+?)\s*)?\)", re.DOTALL)
_COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class PathFault(ValueError):
    """The template cannot be read. Its message is for people."""


@dataclass(slots=True)
class _Range:
    """Parts that are repeated for each value of a path."""

    path: tuple[Step, ...]
    parts: list[Any] = field(default_factory=list)


def render(template: str, value: Any) -> str:
    """The text of the template for one value. Raises PathFault."""
    whole = template if "{" in template else f"{{{template}}}"
    return "".join(_text(_parts(whole), value, value))


def _text(parts: Iterable[Any], current: Any, root: Any) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, _Range):
            for item in _walk(part.path, current):
                yield from _text(part.parts, item, root)
        else:
            yield " ".join(map(_shown, _walk(part, current)))


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _walk(path: Sequence[Step], value: Any) -> Values:
    found: Values = [value]
    for step in path:
        found = [after for before in found for after in step(before)]
    return found


def _parts(template: str) -> list[Any]:
    """Text, paths and ranges in order. Raises PathFault."""
    open_ones: list[list[Any]] = [[]]
    for text, inner in _pieces(template):
        if text:
            open_ones[-1].append(text)
        words = inner.strip()
        if not words:
            continue
        if words == "end":
            if len(open_ones) == 1:
                raise PathFault("{end} stands without {range}")
            open_ones.pop()
        elif words.startswith("range "):
            inside = _Range(_path(words.removeprefix("range ").strip()))
            open_ones[-1].append(inside)
            open_ones.append(inside.parts)
        elif words[0] in "\"'":
            open_ones[-1].append(_literal(words))
        else:
            open_ones[-1].append(_path(words))
    if len(open_ones) > 1:
        raise PathFault("{range} has no {end}")
    return open_ones[0]


def _pieces(template: str) -> Iterator[tuple[str, str]]:
    """Text outside, then what stands in the next braces; quotes may hold braces."""
    place = 0
    while place < len(template):
        start = template.find("{", place)
        if start < 0:
            yield template[place:], ""
            return
        end = _closing(template, start)
        yield template[place:start], template[start + 1 : end]
        place = end + 1


def _closing(template: str, start: int) -> int:
    quote = ""
    place = start + 1
    while place < len(template):
        sign = template[place]
        if sign == "\\" and quote:
            place += 1
        elif quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign == "}":
            return place
        place += 1
    raise PathFault(f"a brace is not closed: {template[start:]}")


def _literal(text: str) -> str:
    """Quoted text, with the escapes of JSON."""
    if len(text) < 2 or text[-1] != text[0]:
        raise PathFault(f"a quote is not closed: {text}")
    inner = text[1:-1] if text[0] == '"' else text[1:-1].replace('"', '\\"').replace("\\'", "'")
    try:
        return str(json.loads(f'"{inner}"'))
    except ValueError:
        raise PathFault(f"{text} is not quoted text") from None


def _path(text: str) -> tuple[Step, ...]:
    """The steps of ``.a.b[0]``, ``$.a``, ``@.a``. Raises PathFault."""
    place = 1 if text[:1] in ("$", "@") else 0
    steps: list[Step] = []
    while place < len(text):
        if text.startswith("..", place):
            place, name = _name(text, place + 2)
            steps.append(_descend(name))
        elif text[place] == ".":
            if place + 1 == len(text):
                break  # "." alone is the value itself
            if text[place + 1] == "[":
                place += 1
                continue
            place, name = _name(text, place + 1)
            steps.append(_all if name == "*" else _field(name))
        elif text[place] == "[":
            end = _bracket(text, place)
            steps.append(_inside(text[place + 1 : end].strip()))
            place = end + 1
        else:
            raise PathFault(f"{text!r} is no path: write .metadata.name")
    return tuple(steps)


def _name(text: str, place: int) -> tuple[int, str]:
    found = _FIELD.match(text, place)
    if found is None:
        raise PathFault(f"{text!r} has no field at character {place + 1}")
    return found.end(), re.sub(r"\\(.)", r"\1", found[0])


def _bracket(text: str, start: int) -> int:
    depth, quote = 0, ""
    for place in range(start, len(text)):
        sign = text[place]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign == "[":
            depth += 1
        elif sign == "]":
            depth -= 1
            if not depth:
                return place
    raise PathFault(f"a bracket is not closed: {text[start:]}")


def _inside(text: str) -> Step:
    """What a bracket asks for: all, an index, a slice, names, or a filter."""
    if text == "*":
        return _all
    if text.startswith("?"):
        return _filter(text)
    sliced = _SLICE.fullmatch(text)
    if sliced:
        return _slice(*(int(part) if part else None for part in sliced.groups()))
    parts = [part.strip() for part in text.split(",")]
    if all(re.fullmatch(r"-?\d+", part) for part in parts):
        return _indexes([int(part) for part in parts])
    names = [_literal(part) if part[:1] in ("'", '"') else part for part in parts]
    if not all(names):
        raise PathFault(f"[{text}] names nothing")
    return lambda value: (found for name in names for found in _field(name)(value))


def _all(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list) else ()


def _field(name: str) -> Step:
    def step(value: Any) -> Iterable[Any]:
        return (value[name],) if isinstance(value, Mapping) and name in value else ()

    return step


def _descend(name: str) -> Step:
    wanted = _all if name == "*" else _field(name)

    def step(value: Any) -> Iterator[Any]:
        yield from wanted(value)
        for inner in _all(value):
            yield from step(inner)

    return step


def _indexes(places: list[int]) -> Step:
    def step(value: Any) -> Iterable[Any]:
        if not isinstance(value, list):
            return ()
        return [value[place] for place in places if -len(value) <= place < len(value)]

    return step


def _slice(*parts: int | None) -> Step:
    if 0 in parts[2:]:
        raise PathFault("the step of a slice cannot be 0")
    return lambda value: value[slice(*parts)] if isinstance(value, list) else ()


def _filter(text: str) -> Step:
    found = _FILTER.fullmatch(text)
    if found is None:
        raise PathFault(f'[{text}] is no filter: write [?(@.type=="Ready")]')
    path, sign, right = _path(found[1]), found[2], found[3]
    wanted = _value(right) if sign else None

    def holds(item: Any) -> bool:
        values = _walk(path, item)
        if not sign:
            return bool(values)
        return bool(values) and _compares(sign, values[0], wanted)

    return lambda value: [item for item in _all(value) if holds(item)]


def _value(text: str) -> Any:
    if text[:1] in ("'", '"'):
        return _literal(text)
    try:
        return json.loads(text)
    except ValueError:
        raise PathFault(f"{text} is neither a number nor quoted text") from None


def _compares(sign: str, left: Any, right: Any) -> bool:
    try:
        return bool(_COMPARE[sign](left, right))
    except TypeError:
        return False
