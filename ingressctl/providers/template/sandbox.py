"""A Jinja2 environment for templates of people one does not know.

It reads no files (there is no loader), and it cannot loop for ever or fill memory: every
loop and call draws on one budget, and every text or list that grows is measured. Jinja2's
own sandbox bars attributes of Python; the rest is done on the syntax tree before it is
compiled, because Jinja2 has no hook for loops and concatenation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

MAX_STEPS = 100_000
MAX_TEXT = 256 * 1024
MAX_ITEMS = 10_000

_STEPS: ContextVar[list[int]] = ContextVar("steps")
_STRING_METHODS = frozenset(
    "startswith endswith lower upper title strip lstrip rstrip removeprefix removesuffix "
    "split rsplit partition rpartition count find isdigit isalnum".split()
)
_FILTERS = frozenset(
    "default d first last length count lower upper trim int string list sort unique join "
    "map select reject selectattr rejectattr items dictsort tojson batch sum min max "
    "reverse abs round replace".split()
)
_TESTS = frozenset(
    "defined undefined none string number mapping sequence iterable in eq ne lt le gt ge "
    "equalto sameas true false boolean even odd lower upper".split()
)


class TemplateFault(ValueError):
    """A template that cannot be parsed or rendered; one sentence with file and line."""


class _Exceeded(jinja2.TemplateRuntimeError):
    """A limit was reached."""


class _Environment(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        if isinstance(obj, str):
            return attr in _STRING_METHODS
        return super().is_safe_attribute(obj, attr, value)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "**" or (operator == "%" and isinstance(left, str)):
            raise _Exceeded(f"operator {operator} is not available")
        if operator == "*" and not (_number(left) and _number(right)):
            raise _Exceeded("only numbers can be multiplied")
        return _bounded(super().call_binop(context, operator, left, right))

    def call(self, context: Any, obj: Any, *args: Any, **kwargs: Any) -> Any:
        _spend(1)
        return _bounded(super().call(context, obj, *args, **kwargs))


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) < 10**9


def _bounded(value: Any) -> Any:
    if isinstance(value, str) and len(value) > MAX_TEXT:
        raise _Exceeded(f"a text has more than {MAX_TEXT} characters")
    if isinstance(value, list | tuple | dict) and len(value) > MAX_ITEMS:
        raise _Exceeded(f"a list has more than {MAX_ITEMS} entries")
    return value


def _spend(steps: int) -> None:
    budget = _STEPS.get()
    budget[0] -= steps
    if budget[0] < 0:
        raise _Exceeded(f"more than {MAX_STEPS} steps")


def _metered(items: Iterable[Any]) -> Iterator[Any]:
    for item in items:
        _spend(1)
        yield item


def environment(filters: Mapping[str, Callable[..., Any]]) -> jinja2.Environment:
    """An environment with the allowed filters and tests and these of the provider."""
    made = _Environment(
        autoescape=False,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters = {name: made.filters[name] for name in _FILTERS}
    made.tests = {name: test for name, test in made.tests.items() if name in _TESTS}
    made.filters.update(filters)
    made.filters["_metered"] = _metered
    made.filters["_bounded"] = _bounded
    made.globals = {"range": _range, "dict": dict, "namespace": made.globals["namespace"]}
    return made


def _range(*bounds: int) -> range:
    made = range(*bounds)
    if len(made) > MAX_ITEMS:
        raise _Exceeded(f"a range has more than {MAX_ITEMS} entries")
    return made


def compile_template(made: jinja2.Environment, source: str, file: str) -> jinja2.Template:
    """A template whose loops, calls and joins are metered. Raises TemplateFault."""
    if len(source) > MAX_TEXT:
        raise TemplateFault(f"{file}: the template has more than {MAX_TEXT} characters")
    try:
        tree = made.parse(source, filename=file)
        code = made.compile(_guarded(tree), filename=file)
        return jinja2.Template.from_code(made, code, dict(made.globals))
    except (jinja2.TemplateError, RecursionError, MemoryError) as fault:
        raise TemplateFault(_sentence(fault, file)) from None


def _guarded(tree: nodes.Template) -> nodes.Template:
    barred = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends, nodes.AssignBlock)
    for node in tree.find_all(barred):
        raise jinja2.TemplateSyntaxError(
            f"{type(node).__name__.lower()} is not available here", node.lineno
        )
    for loop in list(tree.find_all(nodes.For)):
        loop.iter = _through(loop.iter, "_metered")
    _wrap_concats(tree)
    return tree


def _wrap_concats(node: nodes.Node) -> None:
    for name, value in node.iter_fields():
        if isinstance(value, nodes.Concat):
            setattr(node, name, _through(value, "_bounded"))
        elif isinstance(value, list):
            value[:] = [
                _through(item, "_bounded") if isinstance(item, nodes.Concat) else item
                for item in value
            ]
    for child in node.iter_child_nodes():
        if isinstance(child, nodes.Filter) and child.name == "_bounded" and child.node is not None:
            for grandchild in child.node.iter_child_nodes():
                _wrap_concats(grandchild)
        else:
            _wrap_concats(child)


def _through(node: nodes.Node, name: str) -> nodes.Filter:
    assert isinstance(node, nodes.Expr)
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def render(template: jinja2.Template, file: str, values: Mapping[str, Any]) -> str:
    """The text for these values, within the limits. Raises TemplateFault."""
    token = _STEPS.set([MAX_STEPS])
    try:
        parts: list[str] = []
        size = 0
        for part in template.generate(**values):
            size += len(part)
            if size > MAX_TEXT:
                raise _Exceeded(f"the output has more than {MAX_TEXT} characters")
            parts.append(part)
        return "".join(parts)
    except jinja2.TemplateError as fault:
        raise TemplateFault(_sentence(fault, file)) from None
    except (TypeError, ValueError, ArithmeticError, LookupError, RecursionError) as fault:
        raise TemplateFault(f"{file}: {fault}") from None
    finally:
        _STEPS.reset(token)


def _sentence(fault: BaseException, file: str) -> str:
    line = getattr(fault, "lineno", None)
    place = f"{file}:{line}" if line else file
    text = getattr(fault, "message", None) or str(fault) or type(fault).__name__
    return f"{place}: {str(text).splitlines()[0]}"
