"""The path language of the field cases: ``spec.rules[*].host``, ``data["a.b"]``.

Dotted names with ``[*]`` (all entries), ``*`` (all values of a map), ``[n]``,
``[key=value]`` (all entries that have it) and ``["quoted.key"]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_TOKEN = re.compile(
    r"""\[\*\]                        # all entries
      | \["(?P<quoted>[^"]*)"\]       # a key with dots
      | \[(?P<index>-?\d+)\]          # one entry
      | \[(?P<key>[^=\]]+)=(?P<value>[^\]]*)\]
      | \.?(?P<star>\*)
      | \.?(?P<name>[^.\[\]*]+)
    """,
    re.VERBOSE,
)


class PathFault(ValueError):
    """A path that the language does not have."""


def tokens(path: str) -> list[re.Match[str]]:
    """The steps of a path. Raises PathFault at the first character that is none."""
    found: list[re.Match[str]] = []
    place = 0
    while place < len(path):
        match = _TOKEN.match(path, place)
        if match is None:
            raise PathFault(f"path {path!r} cannot be read from character {place}")
        found.append(match)
        place = match.end()
    return found


def is_many(path: str) -> bool:
    """Whether the path asks for a list of values."""
    return any(match[0] == "[*]" or match["star"] for match in tokens(path))


def find(value: Any, path: str) -> list[Any]:
    """The values at `path`, in order; without path the value itself."""
    found = [value]
    for match in tokens(path):
        found = [item for parent in found for item in _step(parent, match)]
    return found


def _step(parent: Any, match: re.Match[str]) -> Iterable[Any]:
    if match[0] == "[*]":
        return parent if isinstance(parent, list | tuple) else ()
    if match["star"]:
        return parent.values() if isinstance(parent, Mapping) else ()
    if match["index"] is not None:
        number = int(match["index"])
        inside = isinstance(parent, list | tuple) and -len(parent) <= number < len(parent)
        return (parent[number],) if inside else ()
    if match["key"] is not None:
        entries = parent if isinstance(parent, list | tuple) else ()
        return (item for item in entries if _has(item, match["key"], match["value"]))
    name = match["quoted"] if match["quoted"] is not None else match["name"]
    return (parent[name],) if isinstance(parent, Mapping) and name in parent else ()


def _has(item: Any, key: str, value: str) -> bool:
    if not isinstance(item, Mapping) or key not in item:
        return False
    bare = value.strip("\"'")
    mine = item[key]
    text = str(mine).lower() if isinstance(mine, bool) else str(mine)
    return text == bare
