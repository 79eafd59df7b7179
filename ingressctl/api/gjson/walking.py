"""One walk over a value along a path: what each part of a path does where it stands.

The compiler (`paths`) makes these of the text, once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ingressctl.api.gjson.comparing import Test
from ingressctl.api.gjson.documents import MISSING
from ingressctl.api.gjson.likes import Like
from ingressctl.api.gjson.modifiers import Getter


class Search:
    """What one walk has found, and the path that is asked of it in the end."""

    __slots__ = ("pipe", "value")

    def __init__(self) -> None:
        self.value: Any = MISSING
        self.pipe: Getter | None = None


class Place:
    """One rest of a path: how an object and how a list goes on with it."""

    __slots__ = ("in_array", "in_object")

    def __init__(self) -> None:
        self.in_object: InObject
        self.in_array: InArray | Count | Each | Queried

    def walk(self, search: Search, value: Any) -> bool:
        """Look into the value; True ends the search."""
        if isinstance(value, dict):
            return self.in_object.walk(search, value)
        return isinstance(value, list) and self.in_array.walk(search, value)


class InObject:
    """A key, or a pattern of keys, and what is asked below it."""

    __slots__ = ("fits", "key", "pipe", "rest")

    def __init__(
        self, key: str, fits: Like | None, rest: Place | None, pipe: Getter | None
    ) -> None:
        self.key = key
        self.fits = fits
        self.rest = rest
        self.pipe = pipe

    def walk(self, search: Search, value: dict[str, Any]) -> bool:
        """Look into the value; True ends the search."""
        search.pipe = self.pipe or search.pipe
        for found in self._found(value):
            if self.rest is None:
                search.value = found
                return True
            if self.rest.walk(search, found):
                return True
        return False

    def _found(self, value: dict[str, Any]) -> Iterable[Any]:
        if self.fits is None:
            return (value[self.key],) if self.key in value else ()
        return [found for key, found in value.items() if self.fits(key)]


class InArray:
    """An index of a list, and what is asked below it; the other readings are below."""

    __slots__ = ("index", "pipe", "rest")

    def __init__(self, index: int, rest: Place | None, pipe: Getter | None) -> None:
        self.index = index
        self.rest = rest
        self.pipe = pipe

    def walk(self, search: Search, value: list[Any]) -> bool:
        """Look into the value; True ends the search."""
        search.pipe = self.pipe or search.pipe
        if not 0 <= self.index < len(value):
            return False
        if self.rest is None:
            search.value = value[self.index]
            return True
        return self.rest.walk(search, value[self.index])


class Count:
    """``#``: the length of the list."""

    __slots__ = ("pipe",)

    def __init__(self, pipe: Getter | None) -> None:
        self.pipe = pipe

    def walk(self, search: Search, value: list[Any]) -> bool:
        """Look into the value; True ends the search."""
        search.pipe = self.pipe or search.pipe
        search.value = len(value)
        return True


class Each:
    """``#.path``: what the path finds in the elements."""

    __slots__ = ("getter", "pipe")

    def __init__(self, getter: Getter, pipe: Getter | None) -> None:
        self.getter = getter
        self.pipe = pipe

    def walk(self, search: Search, value: list[Any]) -> bool:
        """Look into the value; True ends the search."""
        search.pipe = self.pipe or search.pipe
        search.value = present(map(self.getter, value))
        return True


@dataclass(frozen=True, slots=True)
class Queried:
    """``#(…)`` finds the first element that holds, ``#(…)#`` all of them.

    `asked` gives what is compared, of elements that are no scalars; scalars are compared as
    they are, if at all. `left` is what is taken of an element that holds. A pipe behind
    `left` counts only once one of them does.
    """

    asked: Getter
    scalars: bool
    holds: Test
    every: bool
    left: Getter | None
    pipe: Getter | None
    late_pipe: Getter | None

    def walk(self, search: Search, value: list[Any]) -> bool:
        """Look into the value; True ends the search."""
        search.pipe = self.pipe or search.pipe
        results = []
        for item in value:
            if not self._takes(item):
                continue
            search.pipe = self.late_pipe or search.pipe
            result = item if self.left is None else self.left(item)
            if not self.every:
                search.value = result
                return True
            results.append(result)
        if self.every and search.value is MISSING:
            search.value = present(results)
        return False

    def _takes(self, item: Any) -> bool:
        if isinstance(item, dict | list):
            return self.holds(self.asked(item))
        return self.scalars and self.holds(item)


def present(values: Iterable[Any]) -> list[Any]:
    """All but what is missing."""
    return [value for value in values if value is not MISSING]
