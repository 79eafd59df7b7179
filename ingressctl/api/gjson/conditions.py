"""Conditions of graphs: a path of gjson that finds something in a JSON document, or nothing.

Conditions of the usual shapes look at the document through pygjson (`swift`), which is
several times faster; all others, and all where it cannot be installed, decode it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from ingressctl.api.gjson import swift
from ingressctl.api.gjson.documents import MISSING, TooNested
from ingressctl.api.gjson.modifiers import Getter
from ingressctl.api.gjson.paths import Compiler, TooDeep
from ingressctl.api.gjson.swift import Document

MAX_LENGTH = 4000


class Unusable(ValueError):
    """A condition that cannot mean anything. One sentence for its author."""


class Condition:
    """One condition, compiled.

    `always` tells that it holds whatever the document says, lists it speaks of being there.
    """

    __slots__ = ("_fast", "_getter", "always", "text")

    def __init__(self, text: str, getter: Getter, fast: swift.Holds | None) -> None:
        self.text = text
        self.always = _always(text, getter)
        self._getter = getter
        self._fast = fast

    @property
    def is_swift(self) -> bool:
        """Whether it is answered without decoding the document."""
        return self._fast is not None

    def exists(self, document: bytes) -> bool:
        """Whether it holds for the document. Raises NotJson."""
        return self.holds(Document(document))

    def holds(self, document: Document) -> bool:
        """The same of a document that other conditions look at as well. Raises NotJson."""
        if self._fast is not None:
            return self._fast(document)
        return self.looks(document)

    def looks(self, document: Document) -> bool:
        """The same by decoding the document, whatever the shape of the condition."""
        try:
            return self._getter(document.tree) is not MISSING
        except RecursionError:
            raise TooNested("nested too deeply for the condition") from None


def parse(text: str, *, typed: bool = True, lenient: bool = False) -> Condition:
    """The condition of a text. Raises Unusable.

    With `typed` a number never equals a word (IG-D34). With `lenient` what is broken gets
    the meaning that KServe's router gives it instead of a refusal.
    """
    if len(text) > MAX_LENGTH:
        raise Unusable(f"a condition of more than {MAX_LENGTH} characters is not evaluated")
    return _compiled(text, typed, lenient)


@lru_cache(maxsize=1024)
def _compiled(text: str, typed: bool, lenient: bool) -> Condition:
    compiler = Compiler(typed=typed)
    try:
        getter = compiler.getter(text)
    except TooDeep as error:
        raise Unusable(f"the condition {_short(text)} is not evaluated: {error}") from None
    if compiler.faults and not lenient:
        raise Unusable(f"the condition {_short(text)} does not parse: {compiler.faults[0]}")
    return Condition(text, getter, swift.holds(text, typed=typed))


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:77]}...")


_PROBES: tuple[Any, ...] = (None, 0, 1.5, "", "x", True, False, [], {}, [[]], [{}], {"": None})
_ALL = re.compile(r"(?:[)\]]#(?:\.[^|]*)?|(?:^|\.)#\.[^|]*)$")


def _always(text: str, getter: Getter) -> bool:
    """Whether it holds for whatever document, or gives a list that exists when it is empty."""
    if _ALL.search(text):
        return True
    return all(getter(probe) is not MISSING for probe in _PROBES)
