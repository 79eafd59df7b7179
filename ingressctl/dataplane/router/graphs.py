"""The graph that a router serves: read, checked, and read again when its file has changed."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ingressctl.api import inferencegraphs
from ingressctl.api.inferencegraphs import Spec
from ingressctl.core.differences import Compat
from ingressctl.dataplane.router import reading

MAX_BYTES = 4 * 1024 * 1024
"""The largest file of a graph: what the cluster stores has a quarter of it at most."""

LOG = logging.getLogger("ingressctl.router")


@dataclass(frozen=True, slots=True)
class Unfit(Exception):
    """A graph that cannot be served: one line for each fault, and what to do about it."""

    faults: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph that can be served, and its fields that nobody knows, one sentence each."""

    spec: Spec
    unknown: tuple[str, ...] = ()


def parse(text: bytes, compat: Compat, *, name: str) -> Graph:
    """The graph of a text: a spec or an object, as JSON or YAML. Raises Unfit.

    `name` is what people know the text by: its file, or the flag.
    """
    try:
        return _parsed(text, compat, name)
    except (RecursionError, ValueError) as fault:  # such as a number of thousands of digits
        raise Unfit(
            ((f"{name}: the graph cannot be read: {fault}", "correct the graph"),)
        ) from None


def _parsed(text: bytes, compat: Compat, name: str) -> Graph:
    written = _object(text, name)
    spec = _spec(written.get("spec"))
    from ingressctl.api import unknown_fields  # noqa: PLC0415 - the largest imports of all
    from ingressctl.api.admission import graphs  # noqa: PLC0415

    refused = graphs.refusals(spec, differs=compat.differs)
    if refused:
        faults = ((_at(refusal.path, refusal.message), refusal.remedy) for refusal in refused)
        raise Unfit(tuple(faults))
    return Graph(spec, tuple(_unknown(*field) for field in unknown_fields.find(written)))


def warn(unknown: Iterable[str]) -> None:
    """Tell of fields that do nothing. A later version may know them, so they are no faults."""
    for text in unknown:
        LOG.warning("the graph has an unknown field", extra={"keys": {"field": text}})


def _unknown(path: str, name: str, known: str) -> str:
    return f"{path}: did you mean {known}?" if known else path


def _at(path: str, message: str) -> str:
    return f"{path}: {message}" if path and path not in message else message


def _object(text: bytes, name: str) -> Mapping[str, Any]:
    """The text as an object, though it may only be the spec of one. Raises Unfit."""
    try:
        raw = reading.value(text, name)
    except reading.Unreadable as fault:
        raise Unfit(((fault.cause, fault.remedy),)) from None
    if isinstance(raw, Mapping) and raw.get("kind") == "InferenceGraph":
        return raw
    return {"kind": "InferenceGraph", "spec": raw}


def _spec(raw: Any) -> Spec:
    try:
        return inferencegraphs.of_raw(raw if raw is not None else {})
    except RecursionError:
        raise Unfit((("the graph is nested too deeply", "correct the graph"),)) from None
    except msgspec.ValidationError as fault:
        faults = _of_schema(raw) or ((str(fault), "correct the field"),)
        raise Unfit(
            tuple((f"the graph cannot be read: {text}", remedy) for text, remedy in faults)
        ) from None


def _of_schema(raw: Any) -> tuple[tuple[str, str], ...]:
    """The faults of types in the words of admission, which has a remedy for each."""
    from ingressctl.api.admission import schema  # noqa: PLC0415 - see parse
    from ingressctl.api.models.inferencegraphs import InferenceGraph  # noqa: PLC0415

    _, refused = schema.parse(InferenceGraph, {"metadata": {}, "spec": raw})
    return tuple(
        (refusal.message.partition(" is invalid: ")[2], refusal.remedy) for refusal in refused
    )


class GraphFile:
    """A file that may be replaced, as ConfigMaps are: by turning a link to another folder."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = str(path)
        self._seen: tuple[int, ...] = ()

    def read(self) -> bytes:
        """The text of now. Raises OSError, and Unfit for what cannot be the file of a graph."""
        self._seen = self._state()
        if not self._path.is_file():  # to open a pipe or a device may wait for ever
            raise Unfit(((f"{self.name} is no regular file", "name a file with the graph"),))
        with open(self._path, "rb", opener=_at_once) as file:
            text = file.read(MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            raise Unfit(
                (
                    (
                        f"{self.name} is larger than {MAX_BYTES >> 20} MiB",
                        "name a file with one graph: a ConfigMap or an object holds 1 MiB",
                    ),
                )
            )
        return text

    def has_changed(self) -> bool:
        """Whether it is another one than was read last. Raises OSError while there is none."""
        return self._state() != self._seen

    def _state(self) -> tuple[int, ...]:
        found = os.stat(self._path)
        return (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)


def _at_once(path: str, flags: int) -> int:
    """Opens without waiting, should a pipe have taken the place of the file."""
    return os.open(path, flags | os.O_NONBLOCK)
