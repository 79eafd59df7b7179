"""A JSON document as the tree that conditions look at.

Of a key that stands twice the first value counts, and words that are no JSON (NaN) make the
whole document invalid, as does nesting that the decoder refuses. So the decoder of the
standard library does the work: it lets both be said, orjson does not.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn


class NotJson(ValueError):
    """The bytes are not one JSON value."""


DEPTH = 900
"""Levels that are read whatever called the decoder, which counts its callers too."""


class TooNested(NotJson):
    """The bytes may be JSON, but nothing that looks into them goes so deep."""

    def __init__(self, why: str = f"nested deeper than {DEPTH} levels") -> None:
        super().__init__(f"the document is {why}")
        self.why = why


class Missing:
    """The type of MISSING."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()
"""What a path finds where there is nothing; null is a value."""


def text_of(document: bytes) -> str:
    """The text of a document. What is no UTF-8 in it is no fault, as it is none for gjson."""
    return document.decode(errors="replace")


def tree(document: bytes | str) -> Any:
    """The document as dicts, lists, text, numbers, booleans and None. Raises NotJson."""
    try:
        text = document if isinstance(document, str) else text_of(document)
        return _decoded(text)
    except RecursionError:
        raise TooNested from None
    except ValueError as error:
        raise NotJson(str(error)) from None


def _decoded(text: str) -> Any:
    try:
        return _decode(text)
    except json.JSONDecodeError:
        raise
    except ValueError:  # an integer longer than Python wants to read
        return _decode(text, parse_int=float)


def _decode(text: str, **numbers: Any) -> Any:
    return json.loads(text, object_pairs_hook=_first_counts, parse_constant=_no_word, **numbers)


def _first_counts(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        found = {}
        for key, value in pairs:
            found.setdefault(key, value)
    return found


def _no_word(word: str) -> NoReturn:
    raise NotJson(f"{word} is no JSON")
