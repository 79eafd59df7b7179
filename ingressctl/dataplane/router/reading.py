"""The text of a graph as an object: JSON as a controller writes it, YAML as people do.

A fault names the file and the line, in the words of the language that the text is in.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

_BYTE = re.compile(r" \(byte (\d+)\)$")


class Unreadable(Exception):
    """Why the text is no object, and what to do about it."""

    def __init__(self, cause: str, remedy: str) -> None:
        super().__init__(cause)
        self.cause = cause
        self.remedy = remedy


def value(text: bytes, name: str) -> Any:
    """What the text says; `name` is where it is from. Raises Unreadable."""
    try:
        return msgspec.json.decode(text)
    except RecursionError:
        raise Unreadable(f"{name}: the nesting is too deep", "correct the file") from None
    except msgspec.DecodeError as fault:
        if _is_json(text, name):
            raise _no_json(text, name, str(fault)) from None
    return _yaml(text, name)


def _is_json(text: bytes, name: str) -> bool:
    """Whether JSON was meant, which is YAML too, but its faults are to be those of JSON."""
    return text.lstrip()[:1] in (b"{", b"[") and not name.endswith((".yaml", ".yml"))


def _no_json(text: bytes, name: str, fault: str) -> Unreadable:
    found = _BYTE.search(fault)
    where = name
    if found:
        line = text.count(b"\n", 0, int(found[1])) + 1
        where = f"{name}, line {line}"
    return Unreadable(
        f"{where}: the graph is not JSON: {_BYTE.sub('', fault)}",
        "correct the JSON, or write YAML",
    )


def _yaml(text: bytes, name: str) -> Any:
    """The one document of a file. Raises Unreadable."""
    from ingressctl.plan import yamltext  # noqa: PLC0415 - a controller writes JSON

    try:
        documents = [built for built in yamltext.load(text) if built.value is not None]
    except yamltext.TextFault as fault:
        cause = f"{name}, line {fault.line}: the graph is not YAML: {fault.text}"
        raise Unreadable(cause, "correct the line, or the indentation before it") from None
    if not documents:
        raise Unreadable(f"{name}: the graph is empty", "write the spec of an InferenceGraph")
    if len(documents) > 1:
        cause = f"{name}, line {documents[1].line}: a second document begins, one graph is served"
        raise Unreadable(cause, "leave one InferenceGraph in the file")
    (built,) = documents
    if not isinstance(built.value, dict):
        cause = f"{name}, line {built.line}: the graph is no mapping of fields"
        raise Unreadable(cause, "write the spec of an InferenceGraph, which begins with nodes:")
    return built.value
