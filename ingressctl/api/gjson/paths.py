"""Paths of gjson, compiled once into functions from a value to what the path finds there.

A part of a path means one thing where an object is looked into and another in a list, so
both readings of every rest of a path are made, each once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ingressctl.api.gjson import modifiers, scanning
from ingressctl.api.gjson.comparing import test
from ingressctl.api.gjson.documents import MISSING
from ingressctl.api.gjson.likes import like
from ingressctl.api.gjson.modifiers import Getter
from ingressctl.api.gjson.walking import (
    Count,
    Each,
    InArray,
    InObject,
    Place,
    Queried,
    Search,
    present,
)

MAX_DEPTH = 64
"""Parts of a path, nested ones included; conditions of people have five."""


class TooDeep(ValueError):
    """A path with more parts than anybody writes."""


class Compiler:
    """Compiles one condition; a class because its texts are compiled once each."""

    def __init__(self, *, typed: bool) -> None:
        self.typed = typed
        self._places: dict[str, Place] = {}
        self._getters: dict[str, Getter] = {}
        self._depth = 0
        self.faults: list[str] = []

    def getter(self, path: str) -> Getter:
        """The function that finds what the path names. Raises TooDeep."""
        made = self._getters.get(path)
        if made is None:
            with self._deeper():
                made = self._getters[path] = self._special(path) or self._plain(path)
        return made

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise TooDeep(f"it has more than {MAX_DEPTH} parts")
        yield
        self._depth -= 1

    def _special(self, path: str) -> Getter | None:
        """A path that begins with a modifier, a literal or selectors."""
        if len(path) < 2:
            return None
        if path[0] == "@" and modifiers.name_of(path) in modifiers.NAMES:
            return self._modified(path)
        if path[0] == "!":
            return self._literal(path)
        return self._selected(path) if path[0] in "[{" else None

    def _modified(self, path: str) -> Getter:
        name = modifiers.name_of(path)
        argument, behind = modifiers.argument_of(path)
        rest = self._behind(behind)
        if name == "dig":
            dig = self.getter(argument)
            return lambda value: rest(modifiers.dug(value, dig))
        modify = modifiers.MODIFIERS[name]
        return lambda value: rest(modify(value, argument))

    def _literal(self, path: str) -> Getter | None:
        found = modifiers.literal(path)
        if found is None:
            return None
        value, behind = found
        rest = self._behind(behind)
        return lambda _: rest(value)

    def _behind(self, path: str) -> Getter:
        """The path behind a dot or pipe; anything else is not looked at."""
        return self.getter(path[1:]) if path[:1] in (".", "|") and path else lambda value: value

    def _selected(self, path: str) -> Getter | None:
        found = scanning.selectors(path)
        if found is None:
            self.faults.append(f"{path[0]} is never closed")
            return None
        if found.rest[:1] not in ("", ".", "|"):
            return None
        getters = [(_selector_name(name, inner), self.getter(inner)) for name, inner in found.pairs]
        rest = self._behind(found.rest)
        if path[0] == "[":
            return lambda value: rest(present(getter(value) for _, getter in getters))
        return lambda value: rest(_named(value, getters))

    def _plain(self, path: str) -> Getter:
        lines = path[:2] == ".."
        place = self._place(path[2:] if lines else path)

        def get(value: Any) -> Any:
            search = Search()
            if lines:
                place.in_array.walk(search, [] if value is MISSING else [value])
            else:
                place.walk(search, value)
            return search.value if search.pipe is None else search.pipe(search.value)

        return get

    def _place(self, path: str) -> Place:
        place = self._places.get(path)
        if place is None:
            with self._deeper():
                place = self._places[path] = Place()
                place.in_object = self._in_object(path)
                place.in_array = self._in_array(path)
        return place

    def _in_object(self, path: str) -> InObject:
        part = scanning.key_part(path, is_pipe)
        fits = like(part.key) if part.wild else None
        return InObject(part.key, fits, self._rest(part.rest), self._optional(part.pipe))

    def _in_array(self, path: str) -> InArray | Count | Each | Queried:
        part = scanning.array_part(path, is_pipe)
        if part.query is not None:
            return self._queried(part, part.query)
        if part.each is not None:
            left, right = scanning.at_pipe(part.each) or (part.each, None)
            return Each(self.getter(left), self._optional(right))
        if part.part == "#":
            return Count(self._optional(part.pipe))
        index = int(part.part) if part.part.isdecimal() and part.part.isascii() else -1
        return InArray(index, self._rest(part.rest), self._optional(part.pipe))

    def _queried(self, part: scanning.ArrayPart, query: scanning.Query) -> Queried:
        if not query.closed:
            self.faults.append(f"the bracket of {part.part} is never closed")
        left = right = None
        if part.rest is not None:
            left, right = scanning.at_pipe(part.rest) or (part.rest, None)
        return Queried(
            asked=self.getter(query.path),
            scalars=not query.path,
            holds=test(query.op, query.operand, typed=self.typed),
            every=query.every,
            left=self._optional(left),
            pipe=self._optional(part.pipe),
            late_pipe=self._optional(right),
        )

    def _rest(self, path: str | None) -> Place | None:
        return None if path is None else self._place(path)

    def _optional(self, path: str | None) -> Getter | None:
        return None if path is None else self.getter(path)


def is_pipe(rest: str) -> bool:
    """Whether a dot before this text works like a pipe: before selectors and modifiers."""
    return rest[0] in "[{" or (rest[0] == "@" and modifiers.name_of(rest) in modifiers.NAMES)


def _named(value: Any, getters: list[tuple[str, Getter]]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for name, getter in getters:
        found = getter(value)
        if found is not MISSING:
            named.setdefault(name, found)
    return named


def _selector_name(name: str | None, path: str) -> str:
    """The key of a member: as written, else the last component of its path if that is simple."""
    if name:
        given = modifiers.lenient(name) if name[0] == '"' else name
        return given if isinstance(given, str) else name
    last = _last_component(path)
    simple = not any(char in "[]{}()#|!" or char < " " for char in last)
    return last if simple else "_"


def _last_component(path: str) -> str:
    for place in range(len(path) - 1, -1, -1):
        if path[place] in "|." and not (place and path[place - 1] == "\\"):
            return path[place + 1 :]
    return path
