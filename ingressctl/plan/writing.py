"""Plain values to YAML lines that know their path.

Diffs need the path of every line for their headings, and a thousand objects need to be
written in a moment; PyYAML's emitter gives neither. Plain text is quoted as soon as there is
doubt how it would be read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./@+-]*(?: [A-Za-z0-9_./@+-]+)*\Z")
_DURATION = re.compile(r"[0-9]+(?:ms|s|m|h)\Z")
_WORDS = frozenset("y n yes no true false on off null nan inf".split())
_BLOCK = re.compile(r"[ -~\n]+\Z")
"""Text that may stand in a block: printable and line ends."""


class Line(NamedTuple):
    """A line of YAML and the path of the value that it belongs to."""

    text: str
    path: str


def dump(value: Any) -> str:
    """A document, with a line end at its end."""
    return "".join(f"{line.text}\n" for line in lines(value))


def lines(value: Any) -> Iterator[Line]:
    """The lines of a document. Keys keep their order."""
    if isinstance(value, Mapping) and value:
        yield from _mapping(value, "", "")
    elif isinstance(value, list | tuple) and value:
        yield from _list(value, "", "")
    else:
        yield Line(_scalar(value), "")


def _mapping(value: Mapping[str, Any], indent: str, path: str) -> Iterator[Line]:
    for key, item in value.items():
        here = f"{path}.{key}" if path else str(key)
        yield from _entry(f"{indent}{_text(str(key))}:", item, indent, here, indent)


def _list(value: list[Any] | tuple[Any, ...], indent: str, path: str) -> Iterator[Line]:
    for place, item in enumerate(value):
        here = f"{path}[{place}]"
        if isinstance(item, Mapping) and item:
            inner = _mapping(item, f"{indent}  ", here)
            first = next(inner)
            yield Line(f"{indent}- {first.text[len(indent) + 2 :]}", here)
            yield from inner
        else:
            yield from _entry(f"{indent}-", item, indent, here, f"{indent}  ")


def _entry(start: str, item: Any, indent: str, path: str, list_indent: str) -> Iterator[Line]:
    """What stands after ``key:`` or ``-``. Lists of a mapping stand under its key."""
    if isinstance(item, Mapping) and item:
        yield Line(start, path)
        yield from _mapping(item, f"{indent}  ", path)
    elif isinstance(item, list | tuple) and item:
        yield Line(start, path)
        yield from _list(item, list_indent, path)
    elif isinstance(item, str) and _is_block(item):
        yield Line(f"{start} {_block_mark(item)}", path)
        for text in item.removesuffix("\n").split("\n"):
            yield Line(f"{indent}  {text}" if text else "", path)
    else:
        yield Line(f"{start} {_scalar(item)}", path)


def _is_block(text: str) -> bool:
    """Whether several lines read well as a block and come back as they are."""
    return (
        "\n" in text
        and not text.startswith((" ", "\n"))
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


def _text(text: str) -> str:
    if (_PLAIN.match(text) and text.lower() not in _WORDS) or _DURATION.match(text):
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    if quoted.isprintable():
        return quoted
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in quoted)
