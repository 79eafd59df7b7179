"""Plain values to YAML lines that know their path.

Diffs need the path of every line for their headings, and a thousand objects need to be
written in a moment; PyYAML's emitter gives neither. Plain text is quoted as soon as there is
doubt how it would be read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./@+-]*(?: [A-Za-z0-9_./@+-]+)*\Z")
_DURATION = re.compile(r"[0-9]+(?:ms|s|m|h)\Z")
_WORDS = frozenset("y n yes no true false on off null nan inf".split())
_MAPPINGS = (dict, Mapping)
"""dict first: whether something is a Mapping takes long to ask."""

_BLOCK = re.compile(r"[ -~\n]+\Z")
"""Text that may stand in a block: printable and line ends."""


class Line(NamedTuple):
    """A line of YAML and the path of the value that it belongs to."""

    text: str
    path: str


def dump(value: Any) -> str:
    """A document, with a line end at its end. Keys keep their order."""
    return "".join(f"{text}\n" for text in texts(value))


def texts(value: Any, *, ordered: bool = False, margin: str = "") -> list[str]:
    """The lines of a document, each behind `margin`; `ordered` sorts keys, as kubectl does."""
    writer = _Writer(ordered, paths=False, margin=margin)
    writer.document(value)
    return writer.texts


def lines(value: Any, *, ordered: bool = False) -> list[Line]:
    """The lines of a document with the path of each."""
    writer = _Writer(ordered, paths=True)
    writer.document(value)
    return [Line(*pair) for pair in zip(writer.texts, writer.places, strict=True)]


class _Writer:
    """Gathers the lines of one document, and their paths where somebody asks for them."""

    __slots__ = ("margin", "ordered", "paths", "places", "texts")

    def __init__(self, ordered: bool, *, paths: bool, margin: str = "") -> None:
        self.margin = margin
        self.ordered = ordered
        self.paths = paths
        self.texts: list[str] = []
        self.places: list[str] = []

    def document(self, value: Any) -> None:
        """A whole value."""
        if isinstance(value, Mapping) and value:
            self._mapping(value, self.margin, "")
        elif isinstance(value, list | tuple) and value:
            self._list(value, self.margin, "")
        else:
            self._add(f"{self.margin}{_scalar(value)}", "")

    def _add(self, text: str, path: str) -> None:
        self.texts.append(text)
        if self.paths:
            self.places.append(path)

    def _mapping(self, value: Mapping[str, Any], indent: str, path: str) -> None:
        """A line or more for each key."""
        here, texts, fast = "", self.texts, not self.paths
        for key in sorted(value) if self.ordered else value:
            item = value[key]
            if fast and type(item) is str and "\n" not in item:  # most lines of most objects
                texts.append(f"{indent}{_text(key)}: {_text(item)}")
                continue
            if self.paths:
                here = f"{path}.{key}" if path else str(key)
            self._entry(f"{indent}{_text(str(key))}:", item, indent, here, indent)

    def _list(self, value: list[Any] | tuple[Any, ...], indent: str, path: str) -> None:
        """A line or more for each item; a mapping begins on the line of its dash."""
        here = ""
        for place, item in enumerate(value):
            if self.paths:
                here = f"{path}[{place}]"
            if item and isinstance(item, _MAPPINGS):
                first = len(self.texts)
                self._mapping(item, f"{indent}  ", here)
                self.texts[first] = f"{indent}- {self.texts[first][len(indent) + 2 :]}"
                if self.paths:
                    self.places[first] = here
            else:
                self._entry(f"{indent}-", item, indent, here, f"{indent}  ")

    def _entry(self, start: str, item: Any, indent: str, path: str, list_indent: str) -> None:
        """What stands after ``key:`` or ``-``. Lists of a mapping stand under its key."""
        if isinstance(item, str):
            if "\n" in item and _is_block(item):
                self._block(start, item, indent, path)
            else:
                self._add(f"{start} {_text(item)}", path)
        elif item and isinstance(item, list | tuple):
            self._add(start, path)
            self._list(item, list_indent, path)
        elif item and isinstance(item, _MAPPINGS):
            self._add(start, path)
            self._mapping(item, f"{indent}  ", path)
        else:
            self._add(f"{start} {_scalar(item)}", path)

    def _block(self, start: str, item: str, indent: str, path: str) -> None:
        self._add(f"{start} {_block_mark(item)}", path)
        for text in item.removesuffix("\n").split("\n"):
            self._add(f"{indent}  {text}" if text else self.margin, path)


def _is_block(text: str) -> bool:
    """Whether several lines read well as a block and come back as they are."""
    return (
        not text.startswith((" ", "\n"))
        and not text.endswith("\n\n")
        and text != "\n"
        and _BLOCK.match(text) is not None
    )


def _block_mark(text: str) -> str:
    return "|" if text.endswith("\n") else "|-"


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return json.dumps(value)
    return "{}" if isinstance(value, Mapping) else "[]"


@lru_cache(maxsize=65536)
def _text(text: str) -> str:
    if (_PLAIN.match(text) and text.lower() not in _WORDS) or _DURATION.match(text):
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    if quoted.isprintable():
        return quoted
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in quoted)
