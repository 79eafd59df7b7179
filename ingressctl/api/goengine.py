"""The engine behind `gotemplate`: gotpl in its sandbox, with budgets.

A module of its own because importing the engine takes 0.1 s, which a command whose templates
are plain fields only need not spend.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

import gotpl
from gotpl.parse import nodes as syntax
from gotpl.parse.parser import parse_template
from gotpl.runtime.gofmt import sprintf

from ingressctl.api.gotemplate import MAX_SOURCE, TemplateError, Value

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


def _printf(format_string: str, *values: object) -> str:
    """Go's printf without widths that fill memory: the budget measures only what is output."""
    if _WIDE.search(format_string):
        raise TemplateError(f"printf: a width in {format_string!r} is too large")
    return sprintf(format_string, *values)


def compiled(source: str) -> gotpl.Template:
    """The parsed template. Raises TemplateError for a syntax error."""
    try:
        return gotpl.Template(
            source, functions={"printf": _printf}, sandbox=_SANDBOX, budget=_BUDGET
        )
    except (gotpl.TemplateError, RecursionError) as error:
        raise TemplateError(_sentence(error)) from None


def render(template: gotpl.Template, values: Mapping[str, Value]) -> str:
    """The text for these values. Raises TemplateError where Go's execution fails."""
    data = {
        name: value
        if isinstance(value, str)
        else gotpl.TypedMap(dict(value), "", "string", "string")
        for name, value in values.items()
    }
    try:
        return str(template.render(data))
    except gotpl.TemplateError as error:
        raise TemplateError(_sentence(error)) from None


@lru_cache(maxsize=256)
def chains(source: str) -> tuple[tuple[str, ...], ...]:
    """The field chains of a template that parses."""
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


def _sentence(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
