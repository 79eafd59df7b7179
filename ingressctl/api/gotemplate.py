"""Go text/template as users write it in ConfigMaps, behind one small interface.

The engine is gotpl, in its sandbox with budgets: a template reads no files, does not
loop for ever and does not fill memory. Two things are added. Field chains are checked
against the known fields after parsing, because Go fails on an unknown field where gotpl
prints ``<no value>``. And a template of plain fields only, which nearly all are, is
filled in without the engine (0.4 us instead of 15).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

MAX_SOURCE = 64 * 1024

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


def _engine() -> Any:
    """The module of the engine, imported when the first template needs it."""
    return import_module("ingressctl.api.goengine")


@dataclass(frozen=True, slots=True)
class Template:
    """A parsed template over the fields of a struct; maps are string to string."""

    source: str
    strings: frozenset[str]
    maps: frozenset[str]
    _parsed: Any
    _plain: tuple[str, ...]

    def render(self, values: Mapping[str, Value]) -> str:
        """The text for these values; every known field must be among them.

        Raises TemplateError where Go's execution fails.
        """
        if self._plain:
            return "".join(
                str(values[part]) if place % 2 else part for place, part in enumerate(self._plain)
            )
        return str(_engine().render(self._parsed, values))


@lru_cache(maxsize=512)
def parse(source: str, strings: frozenset[str], maps: frozenset[str] = frozenset()) -> Template:
    """A template whose root has these string and map fields.

    Raises TemplateError for a syntax error or an unknown field.
    """
    plain = _plain_parts(source, strings)
    if plain:
        return Template(source, strings, maps, None, plain)
    engine = _engine()
    parsed = engine.compiled(source)
    for chain in engine.chains(source):
        _check_chain(chain, strings, maps)
    return Template(source, strings, maps, parsed, ())


def _plain_parts(source: str, strings: frozenset[str]) -> tuple[str, ...]:
    """Texts and names in turn, for a template of string fields only; () for another."""
    parts = tuple(_PLAIN.split(source))
    simple = len(source) <= MAX_SOURCE and all(name in strings for name in parts[1::2])
    return parts if simple and not any("{{" in text for text in parts[::2]) else ()


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
    for chain in _engine().chains(source):
        present = values.get(chain[0])
        if len(chain) == 2 and isinstance(present, Mapping) and chain[1] not in present:
            missing[f".{chain[0]}.{chain[1]}"] = None
    return tuple(missing)
