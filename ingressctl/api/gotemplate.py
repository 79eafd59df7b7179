"""Go text/template as users write it in ConfigMaps, behind one small interface.

The engine is gotpl, in its sandbox with budgets: a template reads no files, does not
loop for ever and does not fill memory. Two things are added. Field chains are checked
against the known fields after parsing, because Go fails on an unknown field where gotpl
prints ``<no value>``. And a template of plain fields only, which nearly all are, is
filled in without the engine (0.4 us instead of 15).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from typing import Any

import gotpl
from gotpl.parse import nodes as syntax
from gotpl.parse.parser import parse_template
from gotpl.runtime.gofmt import sprintf

MAX_SOURCE = 64 * 1024
MAX_OUTPUT = 64 * 1024

_BUDGET = gotpl.ExecutionBudget(
    max_output_chars=MAX_OUTPUT,
    max_iterations=10_000,
    max_template_depth=50,
    max_function_calls=10_000,
)
_BUILTINS = frozenset(
    [
        "and",
        "call",
        "html",
        "index",
        "slice",
        "js",
        "len",
        "not",
        "or",
        "print",
        "printf",
        "println",
        "urlquery",
        "eq",
        "ge",
        "gt",
        "le",
        "lt",
        "ne",
    ]
)
_SANDBOX = gotpl.SandboxPolicy(
    allow_functions=_BUILTINS, max_template_chars=MAX_SOURCE, default_budget=_BUDGET
)
_WIDE = re.compile(r"%[^a-zA-Z%]*(\d{5,}|\*)")
_PLAIN = re.compile(r"\{\{ *\.(\w+) *\}\}")

Value = str | Mapping[str, str]


class TemplateError(ValueError):
    """A template that does not parse or does not render. The text is one sentence."""


class UnknownField(TemplateError):
    """A template that names a field which its root does not have. `chain` is like ``.Nope``."""

    def __init__(self, chain: str, known: Iterable[str]) -> None:
        fields = ", ".join(sorted(known))
        super().__init__(f"can't evaluate field {chain}; the fields are {fields}")
        self.chain = chain


def _printf(format_string: str, *values: object) -> str:
    """Go's printf without widths that fill memory: the budget measures only what is output."""
    if _WIDE.search(format_string):
        raise TemplateError(f"printf: a width in {format_string!r} is too large")
    return sprintf(format_string, *values)


@dataclass(frozen=True, slots=True)
class Template:
    """A parsed template over the fields of a struct; maps are string to string."""

    source: str
    strings: frozenset[str]
    maps: frozenset[str]
    _engine: gotpl.Template
    _plain: tuple[str, ...]

    def render(self, values: Mapping[str, Value]) -> str:
        """The text for these values; every known field must be among them.

        Raises TemplateError where Go's execution fails.
        """
        if self._plain:
            return "".join(
                str(values[part]) if place % 2 else part for place, part in enumerate(self._plain)
            )
        data = {
            name: value
            if isinstance(value, str)
            else gotpl.TypedMap(dict(value), "", "string", "string")
            for name, value in values.items()
        }
        try:
            return self._engine.render(data)
        except gotpl.TemplateError as error:
            raise TemplateError(_sentence(error)) from None


@lru_cache(maxsize=512)
def parse(source: str, strings: frozenset[str], maps: frozenset[str] = frozenset()) -> Template:
    """A template whose root has these string and map fields.

    Raises TemplateError for a syntax error or an unknown field.
    """
    try:
        engine = gotpl.Template(
            source, functions={"printf": _printf}, sandbox=_SANDBOX, budget=_BUDGET
        )
    except (gotpl.TemplateError, RecursionError) as error:
        raise TemplateError(_sentence(error)) from None
    parsed = parse_template(source)
    for chain in _chains(parsed.root):
        _check_chain(chain, strings, maps)
    return Template(source, strings, maps, engine, _plain_parts(source, strings))


def _plain_parts(source: str, strings: frozenset[str]) -> tuple[str, ...]:
    parts = tuple(_PLAIN.split(source))
    simple = all(name in strings for name in parts[1::2])
    return parts if simple and not any("{{" in text for text in parts[::2]) else ()


@lru_cache(maxsize=256)
def _chains_of(source: str) -> tuple[tuple[str, ...], ...]:
    return tuple(_chains(parse_template(source).root))


def _chains(node: Any) -> Iterator[tuple[str, ...]]:
    """Field chains that start at the root: not those below with and range, whose dot is
    another."""
    if isinstance(node, syntax.FieldNode):
        yield node.fields
    elif isinstance(node, syntax.VariableNode):
        if node.name == "$" and node.fields:
            yield node.fields
    elif isinstance(node, syntax.WithNode | syntax.RangeNode):
        yield from _chains(node.pipeline)
    elif isinstance(node, tuple):
        for part in node:
            yield from _chains(part)
    elif is_dataclass(node):
        for item in fields(node):
            yield from _chains(getattr(node, item.name))


def _check_chain(chain: tuple[str, ...], strings: frozenset[str], maps: frozenset[str]) -> None:
    root, deeper = chain[0], chain[1:]
    if root in strings and not deeper:
        return
    if root in maps and len(deeper) <= 1:
        return
    raise UnknownField(f".{'.'.join(chain)}", strings | maps)


def missing_keys(source: str, values: Mapping[str, Value]) -> tuple[str, ...]:
    """``.Labels.team`` for each map key that the template names and the map lacks."""
    missing: dict[str, None] = {}
    for chain in _chains_of(source):
        present = values.get(chain[0])
        if len(chain) == 2 and isinstance(present, Mapping) and chain[1] not in present:
            missing[f".{chain[0]}.{chain[1]}"] = None
    return tuple(missing)


def _sentence(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
