"""Bytes of a file to the Kubernetes objects in it, with the line that each starts at.

YAML or JSON, several documents, `List` objects unfolded. What cannot be an object is a
fault with its line; the other documents are still read, so that one run tells every fault.
Nothing is looked up and no file is opened here.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from ingressctl.api import dns, integers, shapes
from ingressctl.api.refs import Raw
from ingressctl.core.outcome import Origin
from ingressctl.plan import yamltext


@dataclass(frozen=True, slots=True)
class Document:
    """One object of a file. `origin.line` is 0 where the text is JSON in one piece."""

    obj: Raw
    origin: Origin


@dataclass(frozen=True, slots=True)
class Note:
    """A fault or a notice: one sentence of cause, one of remedy, and where."""

    text: str
    remedy: str
    origin: Origin
    path: str = ""

    def __str__(self) -> str:
        where = f"{self.origin}: {self.path}" if self.path else str(self.origin)
        return f"{where}: {self.text}"


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a file held."""

    documents: tuple[Document, ...] = ()
    notices: tuple[Note, ...] = ()
    faults: tuple[Note, ...] = ()


EMPTY = "holds no objects"
NESTED_LISTS = 8

Path = tuple[str | int, ...]
Lines = Callable[[Path], int]
"""The line of a field of one document, asked only after a fault."""


@dataclass(slots=True)
class _Gathering:
    file: str
    documents: list[Document] = field(default_factory=list)
    notices: list[Note] = field(default_factory=list)
    faults: list[Note] = field(default_factory=list)

    def fault(self, text: str, remedy: str, line: int, path: str = "") -> None:
        self.faults.append(Note(text, remedy, Origin(self.file, line), path))

    def take(self, other: _Gathering) -> None:
        self.documents.extend(other.documents)
        self.notices.extend(other.notices)
        self.faults.extend(other.faults)


def parse(data: bytes, file: str) -> Parsed:
    """The objects of a file's bytes, in their order."""
    gathering = _Gathering(file)
    text = data.removeprefix(b"\xef\xbb\xbf")
    fault = _not_text(text)
    if fault:
        gathering.fault(fault, "give YAML or JSON manifests in UTF-8", 0)
    elif not _parse_json(text, gathering):
        _parse_yaml(text, gathering)
    if not gathering.documents and not gathering.faults:
        gathering.fault(EMPTY, "write a manifest into it, or leave it out", 0)
    return Parsed(tuple(gathering.documents), tuple(gathering.notices), tuple(gathering.faults))


def line_of(data: bytes, line: int, path: str) -> int:
    """The line of a field of the object that starts at `line`; `line` itself if unknown.

    The text is read again: it is asked only for faults.
    """
    try:
        nodes = [built.node for built in yamltext.load(data)]
    except yamltext.TextFault:
        return line
    inside = [node for node in nodes if node.start_mark.line + 1 <= line]
    if not inside:
        return line
    node = yamltext.item_at(inside[-1], line)
    return yamltext.line_of(node, parts(path))


_PART = re.compile(
    r"\[(?P<mark>['\"])(?P<quoted>.*?)(?P=mark)\]|\[(?P<index>\d+)\]|(?P<name>[^.\[\]]+)"
)


def parts(path: str) -> Path:
    """``spec.canary[0]`` -> ``("spec", "canary", 0)``: the way back of `written`."""
    found: list[str | int] = []
    for match in _PART.finditer(path):
        index = match["index"]
        found.append(int(index) if index else match["quoted"] or match["name"])
    return tuple(found)


def _not_text(data: bytes) -> str:
    if b"\0" in data:
        return "is a binary file"
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return f"is not UTF-8 text (line {line})"
    return ""


def _parse_json(data: bytes, gathering: _Gathering) -> bool:
    """Whether the text was JSON; most text that starts like it is, and the rest is YAML."""
    if data.lstrip()[:1] not in (b"{", b"["):
        return False
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return False
    line = 1 if isinstance(value, dict) and not _is_list(value) else 0
    _add(value, line, gathering, lambda path: _json_line(data, path))
    return True


def _json_line(data: bytes, path: Path) -> int:
    """The line of a field of JSON: the text is read again as YAML, only after a fault."""
    try:
        built = next(yamltext.load(data))
    except (yamltext.TextFault, StopIteration):
        return 0
    return yamltext.line_of(built.node, path)


def _parse_yaml(data: bytes, gathering: _Gathering) -> None:
    """As one text if it parses, else document by document so that every fault is told."""
    whole = _Gathering(gathering.file)
    try:
        _read_yaml(data, 0, whole)
    except yamltext.TextFault:
        for chunk, line in _chunks(data):
            _read_chunk(chunk, line, gathering)
    else:
        gathering.take(whole)


def _read_chunk(chunk: bytes, offset: int, gathering: _Gathering) -> None:
    try:
        _read_yaml(chunk, offset, gathering)
    except yamltext.TextFault as fault:
        text = f"is not valid YAML: {fault}"
        gathering.fault(text, _yaml_remedy(chunk), offset + fault.line)


def _yaml_remedy(chunk: bytes) -> str:
    if b"{{" in chunk:
        return "render templates first, for example with helm template"
    if b"\t" in chunk:
        return "indent with spaces; tabs are not allowed"
    return "correct the text at that line"


_SEPARATOR = re.compile(rb"^---(?=[ \t\r\n]|$)", re.MULTILINE)


def _chunks(data: bytes) -> Iterator[tuple[bytes, int]]:
    """The documents of a text, each with the number of lines before it."""
    starts = [0, *(match.start() for match in _SEPARATOR.finditer(data)), len(data)]
    for start, end in itertools.pairwise(starts):
        if data[start:end].strip():
            yield data[start:end], data.count(b"\n", 0, start)


def _read_yaml(data: bytes, offset: int, gathering: _Gathering) -> None:
    for built in yamltext.load(data):
        for key, line in built.duplicates:
            gathering.notices.append(
                Note(
                    f"key {key!r} stands twice in one mapping; the last one holds",
                    "remove one of them",
                    Origin(gathering.file, line + offset),
                )
            )
        if built.value is not None:
            node, line = built.node, built.line + offset
            _add(built.value, line, gathering, _yaml_lines(node, offset))


def _yaml_lines(node: Any, offset: int) -> Lines:
    return lambda path: yamltext.line_of(node, path) + offset


def _is_list(value: Mapping[str, Any]) -> bool:
    kind = value.get("kind")
    return isinstance(kind, str) and kind.endswith("List") and isinstance(value.get("items"), list)


def _add(value: Any, line: int, gathering: _Gathering, lines: Lines, place: Path = ()) -> None:
    """An object, or the objects of a List and of Lists in it, or the fault that it is neither."""
    if not (isinstance(value, dict) and _is_list(value)):
        _add_object(value, line, gathering, lines, place)
        return
    if len(place) > 2 * NESTED_LISTS:
        text = f"Lists in Lists are more than {NESTED_LISTS} deep"
        gathering.fault(text, "write the objects side by side", line)
        return
    for index, item in enumerate(value["items"]):
        inside = (*place, "items", index)
        _add(_with_kind(item, value), lines(inside) if line else 0, gathering, lines, inside)


def _with_kind(item: Any, around: Mapping[str, Any]) -> Any:
    """An item of a typed list, such as a ServiceList, carries no kind of its own."""
    kind = str(around["kind"]).removesuffix("List")
    if not kind or not isinstance(item, dict) or item.get("kind") or item.get("apiVersion"):
        return item
    return {"apiVersion": around.get("apiVersion"), "kind": kind, **item}


def _add_object(value: Any, line: int, gathering: _Gathering, lines: Lines, place: Path) -> None:
    faults = tuple(_shape_faults(value)) or tuple(_kind_faults(value))
    for fault in faults:
        at = lines((*place, *fault.path))
        gathering.fault(fault.text, fault.remedy, at, written(fault.path))
    if not faults:
        stored = integers.as_stored(value)
        gathering.documents.append(Document(stored, Origin(gathering.file, line)))


def written(path: Path) -> str:
    """``("spec", "canary", 0)`` as people write it: ``spec.canary[0]``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif "." in part or "/" in part:
            text += f"[{part!r}]"
        else:
            text += f".{part}" if text else part
    return text


class _ShapeFault(NamedTuple):
    path: Path
    text: str
    remedy: str


def _shape_faults(value: Any) -> Iterator[_ShapeFault]:
    """What every Kubernetes object must have, whatever its kind."""
    if not isinstance(value, dict):
        yield _ShapeFault((), f"is {_called(value)}, not an object", "write a Kubernetes manifest")
        return
    missing = [key for key in ("apiVersion", "kind") if not value.get(key)]
    if missing:
        text = f"has no {' and no '.join(missing)}"
        yield _ShapeFault((), text, "give every object its apiVersion and kind")
    for key in ("apiVersion", "kind"):
        if value.get(key) and not isinstance(value[key], str):
            yield _wrong((key,), value[key], "text")
    if missing:
        return
    yield from _unprintable(value, ("apiVersion",), ("kind",))
    if value["kind"] == "List":
        yield _ShapeFault(("items",), "a List needs items, a list of objects", "write a list")
        return
    yield from _metadata_faults(value.get("metadata"))
    for key in ("spec", "status", "data"):
        if value.get(key) is not None and not isinstance(value[key], dict):
            yield _wrong((key,), value[key], "a mapping")


def _metadata_faults(metadata: Any) -> Iterator[_ShapeFault]:
    if metadata is None:
        yield _ShapeFault((), "has no metadata.name", "give the object a name")
    elif not isinstance(metadata, dict):
        yield _wrong(("metadata",), metadata, "a mapping")
    else:
        yield from _faults_inside_metadata(metadata)


def _faults_inside_metadata(metadata: Mapping[str, Any]) -> Iterator[_ShapeFault]:
    if not metadata.get("name"):
        yield _ShapeFault(("metadata",), "has no metadata.name", "give the object a name")
    for key in ("name", "namespace", "uid"):
        if metadata.get(key) and not isinstance(metadata[key], str):
            yield _wrong(("metadata", key), metadata[key], "text")
    yield from _unprintable({"metadata": metadata}, ("metadata", "name"), ("metadata", "namespace"))
    yield from _no_names(metadata)
    for key in ("labels", "annotations"):
        values = metadata.get(key)
        if values is None:
            continue
        if not isinstance(values, dict):
            yield _wrong(("metadata", key), values, "a mapping")
            continue
        for name, text in values.items():
            if not isinstance(text, str):
                yield _wrong(("metadata", key, name), text, "text")
    owners = metadata.get("ownerReferences")
    if owners is not None and not (
        isinstance(owners, list) and all(isinstance(owner, dict) for owner in owners)
    ):
        yield _wrong(("metadata", "ownerReferences"), owners, "a list of mappings")


def _no_names(metadata: Mapping[str, Any]) -> Iterator[_ShapeFault]:
    """What no API server takes as a name of any kind, or as a namespace."""
    name, namespace = metadata.get("name"), metadata.get("namespace")
    if isinstance(name, str) and len(name) > dns.SUBDOMAIN_LIMIT:
        text = f"has {len(name)} characters: no name has more than {dns.SUBDOMAIN_LIMIT}"
        yield _ShapeFault(("metadata", "name"), text, "shorten the name")
    if (
        isinstance(name, str)
        and name.isprintable()
        and (name in (".", "..") or set(name) & {"/", "%"})
    ):
        text = f"{name!r} can be no name: it would be another path of the API"
        yield _ShapeFault(("metadata", "name"), text, "write letters, digits, hyphens and dots")
    fault = dns.label_fault(namespace) if isinstance(namespace, str) and namespace else ""
    if fault and str(namespace).isprintable():
        yield _ShapeFault(("metadata", "namespace"), fault, "name a namespace that can be")


def _unprintable(value: Any, *paths: tuple[str, ...]) -> Iterator[_ShapeFault]:
    """Names that could write on a terminal as they please: no API server has such."""
    for path in paths:
        text: Any = value
        for key in path:
            text = text.get(key)
        if isinstance(text, str) and not text.isprintable():
            said = f"holds a character that no name may have: {text!r}"
            yield _ShapeFault(path, said, "write letters, digits, hyphens and dots")


def _kind_faults(value: Raw) -> Iterator[_ShapeFault]:
    """What rules take for granted of an object of its kind (api/shapes.py).

    The spec of an InferenceService is left to admission, which tells all of its faults.
    """
    if value["kind"] == "ConfigMap" and value.get("data"):
        values = {key: text for key, text in value["data"].items() if not isinstance(text, str)}
        for key, text in values.items():
            yield _wrong(("data", key), text, "text")
        if values:
            return
    held = {**value, "spec": None} if value["kind"] == "InferenceService" else value
    fault = shapes.fault(held)
    if fault is not None:
        yield _ShapeFault(parts(fault.path), _in_words(fault.text), "correct the field's type")


_EXPECTED = re.compile(r"Expected `([^`]+)`, got `([^`]+)`")
_TYPES: Mapping[str, str] = {
    "array": "a list",
    "bool": "a boolean",
    "float": "a number",
    "int": "a whole number",
    "null": "nothing",
    "object": "a mapping",
    "str": "text",
}


def _in_words(text: str) -> str:
    """``Expected `array | null`, got `int` `` in the words of YAML."""
    match = _EXPECTED.fullmatch(text)
    if match is None:
        return text
    wanted = [_TYPES.get(name, name) for name in match[1].split(" | ") if name != "null"]
    return f"must be {' or '.join(wanted)}, not {_TYPES.get(match[2], match[2])}"


def _wrong(path: Path, value: Any, wanted: str) -> _ShapeFault:
    quoted = wanted == "text" and not isinstance(value, dict | list)
    remedy = f'write "{_plain(value)}" in quotes' if quoted else f"write {wanted}"
    return _ShapeFault(path, f"must be {wanted}, not {_called(value)}", remedy)


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _called(value: Any) -> str:
    """A value's type in the words of YAML."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"the boolean {_plain(value)}"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "a mapping"
