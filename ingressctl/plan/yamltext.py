"""YAML text to plain values, as Kubernetes tools read it.

PyYAML's C parser with the scalar rules of Kubernetes' YAML 1.1 library (sigs.k8s.io/yaml):
timestamps and ``1:30`` stay text, ``1e3`` is a number, ``y`` and ``n`` are booleans. Values
are built straight from the nodes, which is about twice as fast as PyYAML's constructor and
tells duplicate keys. Aliases that expand without bound and nesting without end are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

MAX_VALUES = 2_000_000
"""More values than this in one document, aliases expanded, is an attack or a mistake."""


class TextFault(ValueError):
    """The text is not YAML that Kubernetes would read. `line` is 1-based."""

    def __init__(self, text: str, line: int) -> None:
        super().__init__(text)
        self.text = text
        self.line = line


@dataclass(slots=True)
class Built:
    """One document: its value, the line it starts at, and keys that stand twice."""

    value: Any
    line: int
    node: yaml.Node
    duplicates: list[tuple[str, int]] = field(default_factory=list)


class _Loader(yaml.CSafeLoader):
    """The C parser with Kubernetes' implicit types."""


_Loader.yaml_implicit_resolvers = {}  # not PyYAML's: they read 1:30 as 90 and dates as dates


_BOOL = r"y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF"
_INT = r"[-+]?(?:0b[0-1_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)"
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"

for _tag, _pattern, _first in (
    ("bool", _BOOL, "yYnNtTfFoO"),
    ("int", _INT, "-+0123456789"),
    ("float", _FLOAT, "-+.0123456789"),
    ("merge", "<<", "<"),
    ("null", "~|null|Null|NULL|", "~nN\0"),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}",
        re.compile(rf"^(?:{_pattern})$"),
        ["" if letter == "\0" else letter for letter in _first],
    )


def load(data: bytes) -> Iterator[Built]:
    """The documents of a text, one by one. Raises TextFault where it ends to be YAML."""
    try:
        loader = _Loader(data)
    except yaml.YAMLError as error:
        raise _fault(error) from None
    try:
        while loader.check_node():
            node = loader.get_node()
            assert node is not None, "check_node told of one"
            yield _document(node)
    except yaml.YAMLError as error:
        raise _fault(error) from None
    except RecursionError:
        raise TextFault("the nesting is too deep", 1) from None
    finally:
        loader.dispose()


def _document(node: yaml.Node) -> Built:
    built = Built(None, node.start_mark.line + 1, node)
    built.value = _Builder(built).build(node)
    return built


def _fault(error: yaml.YAMLError) -> TextFault:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    context = getattr(error, "context", None)
    text = f"{problem} ({context})" if context else str(problem)
    return TextFault(text.replace("\n", " "), mark.line + 1 if mark else 1)


def _integer(text: str) -> int | str:
    """As Go's ParseInt with base 0: 0b, 0o, 0x, and a leading 0 for octal."""
    bare = text.replace("_", "").lstrip("+")
    sign, digits = ("-", bare[1:]) if bare.startswith("-") else ("", bare)
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
        digits = f"0o{digits[1:]}"
    try:
        return int(sign + digits, 0)
    except ValueError:
        return text


_SCALARS: Mapping[str, Callable[[str], Any]] = {
    "tag:yaml.org,2002:bool": lambda text: text.lower() in ("y", "yes", "true", "on"),
    "tag:yaml.org,2002:int": _integer,
    "tag:yaml.org,2002:float": float,
    "tag:yaml.org,2002:null": lambda _: None,
    "tag:yaml.org,2002:binary": str,
    "tag:yaml.org,2002:timestamp": str,
    "tag:yaml.org,2002:merge": str,
}
_STR = "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"
_PLAIN = frozenset(("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"))


class _Builder:
    """Builds one document. A node that is met twice is an alias and is built once."""

    __slots__ = ("built", "done", "sizes", "under_way")

    def __init__(self, built: Built) -> None:
        self.built = built
        self.done: dict[int, Any] = {}
        self.sizes: dict[int, int] = {}
        self.under_way: set[int] = set()

    def build(self, node: yaml.Node) -> Any:
        """The value of a node."""
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        key = id(node)
        if key in self.done:
            return self.done[key]
        if key in self.under_way:
            raise TextFault("an alias contains itself", node.start_mark.line + 1)
        if node.tag not in _PLAIN:
            raise TextFault(f"unknown tag {node.tag}", node.start_mark.line + 1)
        self.under_way.add(key)
        value = self._mapping(node) if isinstance(node, yaml.MappingNode) else self._list(node)
        self.under_way.discard(key)
        self.done[key] = value
        self._measure(node)
        return value

    def _list(self, node: yaml.Node) -> list[Any]:
        build = self.build
        return [build(item) for item in node.value]

    def _mapping(self, node: yaml.Node) -> dict[str, Any]:
        build = self.build
        value: dict[str, Any] = {}
        merged: list[Mapping[str, Any]] = []
        for key_node, value_node in node.value:
            if key_node.tag == _STR:
                key = key_node.value
            elif key_node.tag == _MERGE:
                merged.extend(self._merged(value_node))
                continue
            else:
                key = _key(key_node)
            if key in value:
                self.built.duplicates.append((key, key_node.start_mark.line + 1))
            value[key] = build(value_node)
        for mapping in merged:
            value = {**mapping, **value}
        return value

    def _merged(self, node: yaml.Node) -> list[Mapping[str, Any]]:
        value = self.build(node)
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(item, dict) for item in values):
            raise TextFault("<< needs a mapping", node.start_mark.line + 1)
        return values

    def _measure(self, node: yaml.Node) -> None:
        """Counts values with aliases expanded: nine lines can stand for a billion."""
        sizes = self.sizes
        size = 1
        for item in node.value:
            for child in item if isinstance(item, tuple) else (item,):
                size += sizes.get(id(child), 1)
        sizes[id(node)] = size
        if size > MAX_VALUES:
            text = f"the document expands to more than {MAX_VALUES} values"
            raise TextFault(text, node.start_mark.line + 1)


def _scalar(node: yaml.ScalarNode) -> Any:
    if node.tag == _STR:
        return node.value
    convert = _SCALARS.get(node.tag)
    if convert is None:
        raise TextFault(f"unknown tag {node.tag}", node.start_mark.line + 1)
    try:
        return convert(node.value)
    except ValueError:
        text = f"{node.value!r} is not of its tag {node.tag.rpartition(':')[2]}"
        raise TextFault(text, node.start_mark.line + 1) from None


def _key(node: yaml.Node) -> str:
    """Keys become text as in JSON: 8080 and true are "8080" and "true"."""
    if not isinstance(node, yaml.ScalarNode):
        raise TextFault("a key must be text", node.start_mark.line + 1)
    value = _scalar(node)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def line_of(node: yaml.Node, path: tuple[str | int, ...]) -> int:
    """The line of the field at `path`, or of the last part of the way that exists."""
    line = int(node.start_mark.line) + 1
    for part in path:
        found = _child(node, part)
        if found is None:
            return line
        line, node = found
    return line


def item_at(node: yaml.Node, line: int) -> yaml.Node:
    """The item of a List that starts at `line`, or the document itself."""
    if not isinstance(node, yaml.MappingNode):
        return node
    for key, value in node.value:
        if key.value == "items" and isinstance(value, yaml.SequenceNode):
            items: list[yaml.Node] = value.value
            return next((item for item in items if item.start_mark.line + 1 == line), node)
    return node


def _child(node: yaml.Node, part: str | int) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in reversed(node.value):
            if key.value == part:
                return int(key.start_mark.line) + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        item = node.value[part]
        return int(item.start_mark.line) + 1, item
    return None
