"""Answers of an API server as objects, also where one of many objects cannot be decoded.

A decoder gives up on JSON that is nested a thousand levels deep, which an API server stores
where a schema preserves unknown fields. One such object must not hide all others of its kind:
then the answer is taken apart by its brackets, and that object comes without its spec, so that
rules say that they cannot read it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import orjson
from aiohttp import StreamReader

HOLLOW = "nested too deeply to be read"
HEAD = ("apiVersion", "kind", "metadata")

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]')


def body(raw: bytes) -> Any:
    """A whole answer. Raises ValueError for what is no JSON."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        parts = dict(_members(raw))
        items = [_object(item) for item in _parts(parts.get("items", b""))]
        return {"metadata": orjson.loads(parts.get("metadata", b"")), "items": items}


def event(raw: bytes) -> dict[str, Any]:
    """One event of a watch. Raises ValueError for what is no JSON."""
    try:
        found: dict[str, Any] = orjson.loads(raw)
    except orjson.JSONDecodeError:
        parts = dict(_members(raw))
        kind = orjson.loads(parts.get("type", b""))
        return {"type": kind, "object": _object(parts.get("object", b""))}
    return found


async def lines(content: StreamReader) -> AsyncIterator[bytes]:
    """The lines of a stream, each of any length; a half one at its end was cut."""
    rest = b""
    async for piece in content.iter_any():
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            if line.strip():
                yield line


def _object(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        parts = dict(_members(raw))
        head = {key: orjson.loads(parts[key]) for key in HEAD if key in parts}
        return {**head, "spec": HOLLOW}


def _members(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """The values of an object by key, undecoded. Raises ValueError for half an object."""
    for part in _parts(raw):
        name = _TOKEN.match(part.lstrip())
        colon = part.find(b":", part.find(name[0]) + len(name[0])) if name else -1
        if name is None or colon < 0:
            raise ValueError("a member without name")
        yield orjson.loads(name[0]), part[colon + 1 :]


def _parts(raw: bytes) -> Iterator[bytes]:
    """What stands between the commas of an object or a list. Raises ValueError for half of one."""
    depth, start = 0, 0
    for token in _TOKEN.finditer(raw):
        mark = token[0]
        if mark in (b"{", b"["):
            depth += 1
            start = token.end() if depth == 1 else start
        elif mark in (b"}", b"]"):
            depth -= 1
            if depth == 0:
                if raw[start : token.start()].strip():
                    yield raw[start : token.start()]
                return
        elif mark == b"," and depth == 1:
            yield raw[start : token.start()]
            start = token.end()
    raise ValueError("half an answer")
