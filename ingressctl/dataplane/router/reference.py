"""What KServe's router does to bodies because it is written in Go; under its `compat` only.

Answers are decoded into maps with 64-bit floats and encoded again (IG-D12, IG-D13), and the
content type of an answer is guessed (IG-D32).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from math import isinf
from typing import Any, NamedTuple

from ingressctl.api import gjson

_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)
_CONTROLS = frozenset({*range(9), 11, *range(14, 27), *range(28, 32)})
_SNIFFED = 512
_HALVES = re.compile(rb"\\u[dD][89a-fA-F]")
_NO_UTF8 = re.compile("[\udc80-\udcff]")
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


def encoded(value: Any) -> bytes:
    """JSON as Go writes it: keys sorted, integers as floats, some characters escaped.

    Raises ValueError for a number that no float holds, which Go does not read.
    """
    pieces: list[str] = []
    open_: list[Iterator[str | _Inner]] = [_parts(value)]
    while open_:  # and no recursion, which would end above what the decoder reads
        part = next(open_[-1], None)
        if part is None:
            open_.pop()
        elif isinstance(part, str):
            pieces.append(part)
        else:
            open_.append(_parts(part.value))
    return "".join(pieces).encode()


class _Inner(NamedTuple):
    """A list or an object within another value."""

    value: Any


def _parts(value: Any) -> Iterator[str | _Inner]:
    """The JSON of a value, but for the lists and objects within it."""
    if isinstance(value, dict):
        before = "{"
        for key in sorted(value):
            yield f"{before}{_text(key)}:"
            yield _part(value[key])
            before = ","
        yield "}" if value else "{}"
    elif isinstance(value, list):
        before = "["
        for item in value:
            yield before
            yield _part(item)
            before = ","
        yield "]" if value else "[]"
    else:
        yield _scalar(value)


def _part(value: Any) -> str | _Inner:
    return _Inner(value) if isinstance(value, dict | list) else _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    return _number(value) if isinstance(value, float) else json.dumps(value)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).translate(_ESCAPES)


def _number(value: float) -> str:
    if isinf(value):
        raise ValueError("a number is out of range")
    if value == int(value) and abs(value) < 1e21:
        return "-0" if str(value) == "-0.0" else str(int(value))
    if 1e-6 <= abs(value) < 1e21:
        return format(Decimal(repr(value)), "f")
    digits, _, exponent = repr(value).partition("e")
    power = int(exponent)
    return f"{digits.removesuffix('.0')}e{'-' if power < 0 else '+'}{abs(power)}"


def decoded(body: bytes) -> Any:
    """The value with all numbers as floats. Raises ValueError."""
    try:
        return json.loads(_read(body), parse_int=float, parse_constant=_refused)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _read(body: bytes) -> str:
    """The text, with U+FFFD for each byte that is no UTF-8 and each half of an escaped pair."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = _NO_UTF8.sub("\ufffd", body.decode(errors="surrogateescape"))
    return _ESCAPE.sub(_whole, text) if _HALVES.search(body) else text


def _whole(escape: re.Match[str]) -> str:
    return r"\ufffd" if escape["half"] else escape[0]


def _refused(word: str) -> Any:
    raise ValueError(f"invalid character in {word}")


def again(body: bytes) -> bytes:
    """The value decoded and encoded. Raises ValueError."""
    return encoded(decoded(body))


def mapped(body: bytes) -> bytes:
    """Predictions as instances, and nothing else; the body as it is if there are none."""
    try:
        value = decoded(body)
    except ValueError:
        return body
    found: dict[str, Any] = {}
    for name, field in value.items() if isinstance(value, dict) else ():
        if name.lower() in ("predictions", "instances") and field is not None:
            found[name.lower()] = field
    if not all(isinstance(field, list) for field in found.values()):
        return body
    predictions = found.get("predictions")
    try:
        return encoded({"instances": predictions}) if predictions else body
    except ValueError:
        return body


def content_type(body: bytes) -> bytes | None:
    """The content type of an answer by its bytes; None for an empty one."""
    if not body:
        return None
    if gjson.is_json(body, deep=True):
        return b"application/json"
    start = body[:_SNIFFED]
    if start[:3] == b"\x1f\x8b\x08":
        return b"application/x-gzip"
    if start.lstrip(b"\t\n\x0c\r ")[:14].upper().startswith((b"<!DOCTYPE HTML", b"<HTML")):
        return b"text/html; charset=utf-8"
    if start.lstrip(b"\t\n\x0c\r ").startswith(b"<?xml"):
        return b"text/xml; charset=utf-8"
    if _CONTROLS.intersection(start):
        return b"application/octet-stream"
    return b"text/plain; charset=utf-8"
