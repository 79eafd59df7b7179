"""Label selectors as kubectl takes them with -l: `a=b,c!=d,e,!f,g in (x,y),h notin (z)`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_NAME = r"(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
_VALUE = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?"
_TERM = re.compile(
    rf"\s*(?:!\s*(?P<absent>{_NAME})"
    rf"|(?P<key>{_NAME})"
    rf"(?:\s*(?P<sign>==|!=|=)\s*(?P<value>{_VALUE})"
    rf"|\s+(?P<word>in|notin)\s*\((?P<values>[^()]*)\))?)\s*(?:,|$)"
)


class BadSelector(ValueError):
    """A text that is no selector."""


@dataclass(frozen=True, slots=True)
class _Term:
    """`values` None: the key alone counts. What `denied` holds also without the key."""

    key: str
    values: frozenset[str] | None
    denied: bool

    def holds(self, labels: Mapping[str, str]) -> bool:
        if self.values is None:
            return (self.key in labels) != self.denied
        return (labels.get(self.key) in self.values) != self.denied


@dataclass(frozen=True, slots=True)
class Selector:
    """What all of its terms hold for; the empty one selects everything."""

    terms: tuple[_Term, ...] = ()

    def selects(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is meant."""
        return all(term.holds(labels) for term in self.terms)


EVERYTHING = Selector()


def parse(text: str) -> Selector:
    """The selector of a text. Raises BadSelector."""
    terms, place = [], 0
    while place < len(text.rstrip()):
        found = _TERM.match(text, place)
        if found is None or found.end() == place:
            raise BadSelector(f"{text!r} is no label selector")
        terms.append(_term(found))
        place = found.end()
    if text.rstrip().endswith(","):
        raise BadSelector(f"{text!r} ends with a comma")
    return Selector(tuple(terms))


def _term(found: re.Match[str]) -> _Term:
    if found["absent"]:
        return _Term(found["absent"], None, denied=True)
    if found["sign"]:
        return _Term(found["key"], frozenset({found["value"]}), denied=found["sign"] == "!=")
    if found["word"]:
        values = frozenset(value.strip() for value in found["values"].split(","))
        return _Term(found["key"], values, denied=found["word"] == "notin")
    return _Term(found["key"], None, denied=False)
