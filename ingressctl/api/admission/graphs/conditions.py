"""Conditions: paths of gjson that must yield something (spec/inferencegraph.md 13).

What does not parse never yields anything. What always does is no condition: a list of all
matches, a multipath, a literal; and `&&` inside a query is text to compare with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingressctl.api import gjson
from ingressctl.api.admission.graphs.places import Place
from ingressctl.api.admission.refusals import Refusal

_BRACKETS = re.compile(r"^[\w.]*\w\[\d+\]")
"""An index as other languages write it; here it is part of a key."""
_COMPARES = re.compile(r"""[=!<>]=|[<>]\s*[-\d"']""")
_JOINED = re.compile(r"#\([^()\"]*[=<>%][^()\"]*\s(?:and|or)\s")
_TEXT = re.compile(r'''\\.|"(?:[^"\\]|\\.)*"''', re.DOTALL)
"""A sign that is escaped, or what is quoted: text, whatever is in it."""


COMPARES = "only a query compares, what is in #(...); here the operator is part of a key"
YIELDING = (
    "write a path that yields something only when the step is wanted, such as "
    "predictions.#(score>0.5)"
)


def refusals(place: Place) -> Iterator[Refusal]:
    """A condition that can never hold, for it is not a path."""
    try:
        gjson.parse(place.step.condition)
    except gjson.Unusable as error:
        yield Refusal(
            f"{place} has a condition that is not a path of gjson: {error}",
            f"{place.path}.condition",
            "write a path such as instances.0.kind or predictions.#(score>0.5)",
            "IG-D35",
        )


def constant(place: Place) -> Iterator[Refusal]:
    """A condition that does not decide what its text says."""
    text = place.step.condition.strip()
    compares = bool(_COMPARES.search(_keys(text)))
    why = COMPARES if compares else _why_constant(text)
    if why:
        yield Refusal(
            f"{place} has the condition {place.step.condition!r}: {why}",
            f"{place.path}.condition",
            f"write [@this].#({text})" if compares else YIELDING,
            "IG-R21",
        )


def _why_constant(text: str) -> str:
    if "&&" in text or "||" in text:
        return "conditions have no && and ||; what follows the operator is a text to compare with"
    if _BRACKETS.search(text) or text.startswith("$."):
        return "a path has no brackets for an index and no $: write instances.0.kind"
    if _JOINED.search(text):
        return "conditions have no and and or; what follows them is a text to compare with"
    if text.endswith(")#"):
        return "the list of all matches is always there, even when it is empty"
    if text.startswith("{") and text.endswith("}"):
        return "an object made of paths is always there, even when it is empty"
    if text.startswith("[") and text.endswith("]"):
        return "a list made of paths is always there, even when it is empty"
    if text == "@this":
        return "it holds for every request"
    return "a literal is always there" if text.startswith("!") else ""


def _keys(path: str) -> str:
    """A path without what stands in brackets: queries, paths of paths, a modifier's argument."""
    depth, kept = 0, []
    for sign in _TEXT.sub('"', path):
        depth -= sign in ")}]"
        kept.append("" if depth else sign)
        depth += sign in "({["
    return "".join(kept)
