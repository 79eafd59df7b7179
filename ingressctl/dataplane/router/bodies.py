"""Bodies that a graph has to look into: unpacked, checked, put together, mapped.

Where nothing is read nothing is decoded. What is put together keeps the bytes of its
members (IG-D12, IG-D13).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import orjson

from ingressctl.api import gjson
from ingressctl.dataplane.router import packing
from ingressctl.dataplane.router.packing import Unreadable
from ingressctl.dataplane.router.ports import Headers

LARGEST = 16 * 1024 * 1024
"""Bytes that a packed body may become where it is looked into.

gzip makes a thousand bytes of one, and unpacking and reading hold up every other request: a
body of this size about as long as one of 100 MB that comes as it is takes to be read in.
"""

_RAW = msgspec.json.Decoder(dict[str, msgspec.Raw])


def coding(headers: Headers) -> bytes:
    """How a body is packed; empty if it is not."""
    for name, value in headers:
        if name == b"content-encoding":
            return value.strip().lower()
    return b""


def unpacked(body: bytes, packed: bytes, largest: int = LARGEST) -> bytes:
    """The body as it can be read. Raises Unreadable."""
    if packed in (b"", b"identity"):
        return body
    if packed not in packing.NAMES:
        raise Unreadable(f"its coding {packed.decode('latin-1')} is not known")
    return packing.unpacked(body, largest)


def merged(members: Iterable[tuple[bytes, bytes]]) -> bytes:
    """One object of members: a key as JSON with its colon, and the JSON of a value."""
    parts: list[bytes] = []
    for key, value in members:
        parts += (b",", key, value)
    parts[:1] = [b"{"]
    parts.append(b"}")
    return b"".join(parts) if len(parts) > 2 else b"{}"


def key(name: str) -> bytes:
    """A key of an object, ready to be put before its value."""
    return orjson.dumps(name) + b":"


def as_value(body: bytes) -> bytes:
    """Any body as a value of JSON: nothing as null, what is no JSON as a text."""
    if not body or body.isspace():
        return b"null"
    if gjson.is_json(body):
        return body
    return orjson.dumps(body.decode(errors="replace"))


def mapped(body: bytes) -> bytes:
    """The body with `predictions` renamed to `instances`; as it is if there are none.

    Only a list that holds something is renamed, and takes the place of other instances.
    """
    try:
        fields = _RAW.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return body
    predictions = fields.get("predictions")
    if predictions is None or not _is_filled_list(bytes(predictions)):
        return body
    fields.pop("instances", None)
    renamed = (
        (_INSTANCES if name == "predictions" else key(name), bytes(value))
        for name, value in fields.items()
    )
    return merged(renamed)


_INSTANCES = key("instances")


def _is_filled_list(raw: bytes) -> bool:
    return raw[:1] == b"[" and raw[1:].lstrip()[:1] != b"]"


def first_of(headers: Sequence[tuple[bytes, bytes]], name: bytes) -> bytes | None:
    """The first value of a header."""
    for field in headers:
        if field[0] == name:
            return field[1]
    return None
