"""Modifiers of a path (``@keys``) and literals (``!true``): each makes a value of a value.

What cannot be made gives MISSING, and some make a list of nothing at all: `nope|@keys` is
the empty list, which exists.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from ingressctl.api.gjson.comparing import as_float
from ingressctl.api.gjson.documents import MISSING, NotJson, tree
from ingressctl.api.gjson.scanning import end_of_squashed

Getter = Callable[[Any], Any]
Modifier = Callable[[Any, str], Any]


def _same(value: Any, argument: str) -> Any:
    return value


def _reversed(value: Any, argument: str) -> Any:
    if isinstance(value, list):
        return value[::-1]
    return dict(reversed(value.items())) if isinstance(value, dict) else value


def _flattened(value: Any, argument: str) -> Any:
    if not isinstance(value, list):
        return value
    deep = _option(argument, "deep")
    return list(_leaves(value, deep=deep))


def _leaves(values: list[Any], *, deep: bool) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list):
            yield from _leaves(value, deep=True) if deep else value
        else:
            yield value


def _joined(value: Any, argument: str) -> Any:
    """One object of all; the last value of a key counts, or with `preserve` the first."""
    if not isinstance(value, list):
        return value
    objects = [item for item in value if isinstance(item, dict)]
    if _option(argument, "preserve"):
        objects.reverse()
    joined: dict[str, Any] = {}
    for item in objects:
        joined.update(item)
    return joined


def _keys(value: Any, argument: str) -> Any:
    if isinstance(value, dict):
        return list(value)
    if isinstance(value, list):
        return [None] * len(value)
    return [] if value is MISSING else [None]


def _values(value: Any, argument: str) -> Any:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list):
        return value
    return [] if value is MISSING else [value]


def _to_text(value: Any, argument: str) -> str:
    if value is MISSING:
        return ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _from_text(value: Any, argument: str) -> Any:
    if not isinstance(value, str):
        return MISSING if value is None else value
    return lenient(value)


def _grouped(value: Any, argument: str) -> Any:
    """Lists under keys turned into a list of objects."""
    if not isinstance(value, dict):
        return MISSING
    rows: list[dict[str, Any]] = []
    for key, items in value.items():
        for place, item in enumerate(items if isinstance(items, list) else ()):
            if place == len(rows):
                rows.append({})
            rows[place][key] = item
    return rows


MODIFIERS: dict[str, Modifier] = {
    "this": _same,
    "valid": _same,
    "pretty": _same,
    "ugly": _same,
    "reverse": _reversed,
    "flatten": _flattened,
    "join": _joined,
    "keys": _keys,
    "values": _values,
    "tostr": _to_text,
    "fromstr": _from_text,
    "group": _grouped,
}
"""All but `dig`, whose argument is a path."""
NAMES = frozenset({*MODIFIERS, "dig"})


def _option(argument: str, name: str) -> bool:
    """A switch in the JSON argument of a modifier."""
    given = lenient(argument)
    value = given.get(name) if isinstance(given, dict) else None
    if isinstance(value, str):
        return value.lower() in ("1", "t", "true")
    return isinstance(value, int | float) and as_float(value) != 0


def lenient(text: str) -> Any:
    """The value that a text holds; of numbers and words the start is enough."""
    try:
        return tree(text)
    except NotJson:
        return _by_first_character(text.strip())


def _by_first_character(text: str) -> Any:
    if text[:1] in ("t", "f"):
        return text[0] == "t"
    if text[:2] == "nu":
        return None
    if text[:1] and text[0] in "+-0123456789iINn":
        return 0.0
    return text[1:].partition('"')[0] if text[:1] == '"' else MISSING


def dug(value: Any, getter: Getter) -> list[Any]:
    """What a path finds in the value and in everything below it, depth first."""
    found: list[Any] = []
    waiting = [value]
    while waiting:
        item = waiting.pop()
        result = getter(item)
        if result is not MISSING:
            found.append(result)
        below = item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
        waiting.extend(reversed(list(below)))
    return found


def name_of(path: str) -> str:
    """The name of the modifier that a path with @ begins with, known or not."""
    for place in range(1, len(path)):
        if path[place] in ":|.":
            return path[1:place]
    return path[1:]


def argument_of(path: str) -> tuple[str, str]:
    """Of a path that begins with a modifier: its argument, and the path behind it."""
    behind = path[len(name_of(path)) + 1 :]
    if behind[:1] != ":":
        return "", behind
    behind = behind[1:]
    if behind[:1] in ("{", "[", '"') and behind:
        end = end_of_squashed(behind)
        return behind[:end], behind[end:]
    place = 0
    while place < len(behind) and behind[place] != "|":
        place += end_of_squashed(behind[place:]) if behind[place] in '{["(' else 1
    return behind[:place], behind[place:]


def literal(path: str) -> tuple[Any, str] | None:
    """The value of ``!LITERAL`` and the path behind it; None if it is none."""
    text = path[1:]
    if text[:1] and text[0] in '{["+-0123456789':
        end = len(text) if text[0] not in "{[" else end_of_squashed(text)
        return lenient(text[:end]), text[end:]
    cuts = [place for place in (text.find("|"), text.find(".")) if place >= 0]
    end = min(cuts, default=len(text))
    if text[:end].lower() not in ("true", "false", "null", "nan", "inf"):
        return None
    return lenient(text[:end]), text[end:]
