"""Checks of the field cases: what is selected, what is found there, and whether it holds.

The tables of suites/field/README.md. An unknown field, operator or measure is a fault.
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ingressctl.api.refs import Raw, Ref, ref_of
from tests.cases import paths

FIELDS = frozenset("select where path measure of op value provider version".split())
MAY_BE_EMPTY = frozenset("absent unique noneIn sum count minLength maxLength maxBytes".split())
WITHOUT_VALUE = frozenset("unique present absent admitted".split())


@dataclass(frozen=True)
class Seen:
    """What a check may look at: stored objects, generated ones, and what was measured.

    `providers` are the outputs that are judged, by the words of the cases; `xds` lists
    resources as (kind, names, JSON) of the configuration asked for.
    """

    objects: tuple[Raw, ...]
    generated: tuple[Raw, ...]
    measure: Callable[[str, str], Any]
    admitted: Callable[[Raw], str]
    xds: Callable[[str], Iterable[tuple[str, tuple[str, ...], Any]]]
    router_configs: Callable[[], Iterable[tuple[Ref, Any]]]
    providers: frozenset[str]


def judge(check: Mapping[str, Any], seen: Seen) -> list[str]:
    """Why the check does not hold; empty if it does."""
    unknown = set(check) - FIELDS
    operator = check.get("op")
    if unknown or operator not in OPERATORS or ("select" in check) == ("measure" in check):
        return [f"no such check: {dict(check)}"]
    if "value" not in check and operator not in WITHOUT_VALUE:
        return [f"operator {operator} needs a value: {dict(check)}"]
    if check.get("provider", "") and check["provider"] not in seen.providers:
        return []
    try:
        reasons = _by_measure(check, seen) if "measure" in check else _by_select(check, seen)
    except (paths.PathFault, LookupError, TypeError, ValueError) as error:
        reasons = [str(error)]
    return [f"{_title(check)}: {reason}" for reason in reasons]


def _title(check: Mapping[str, Any]) -> str:
    what = check.get("select") or check.get("measure")
    return f"{what} {check.get('path', '')} {check['op']} {check.get('value', '')!r}"


def _by_measure(check: Mapping[str, Any], seen: Seen) -> list[str]:
    measured = seen.measure(check["measure"], check.get("of", ""))
    found = list(measured) if isinstance(measured, list) else [measured]
    many = isinstance(measured, list)
    return OPERATORS[check["op"]](found, check.get("value"), many)


def _by_select(check: Mapping[str, Any], seen: Seen) -> list[str]:
    operator, path = check["op"], check.get("path", "")
    chosen = [value for value in select(check["select"], seen, check) if _kept(value, check)]
    if operator == "admitted":
        refusals = [seen.admitted(value) for value in chosen]
        return [text for text in refusals if text] or _none_selected(chosen, operator)
    if operator == "count" and not path:
        return OPERATORS["count"](chosen, check["value"], True)
    found = [paths.find(value, path) for value in chosen]
    reasons = _none_selected(chosen, operator)
    if not reasons and operator not in MAY_BE_EMPTY and not _enough(operator, found):
        reasons = ["the path finds nothing"]
    if reasons or operator == "present":
        return reasons
    if operator in TOGETHER:
        together = [value for values in found for value in values]
        return OPERATORS[operator](together, check.get("value"), True)
    many = paths.is_many(path)
    return [why for values in found for why in OPERATORS[operator](values, check["value"], many)]


def _enough(operator: str, found: list[list[Any]]) -> bool:
    return any(found) if operator in TOGETHER else all(found)


def _none_selected(chosen: list[Any], operator: str) -> list[str]:
    return [] if chosen or operator in MAY_BE_EMPTY else ["no such object"]


def _kept(value: Any, check: Mapping[str, Any]) -> bool:
    return all(
        any(_equal(item, wanted) for item in paths.find(value, path))
        for path, wanted in (check.get("where") or {}).items()
    )


def select(text: str, seen: Seen, check: Mapping[str, Any]) -> list[Any]:
    """The objects, or xDS resources, that a selector names."""
    if text == "*":
        return list(seen.generated)
    kind, _, name = text.rpartition(" ")
    if kind.startswith("xds "):
        wanted = kind.removeprefix("xds ")
        resources = seen.xds(check.get("version", "last"))
        return [
            body
            for found, titles, body in resources
            if found == wanted and any(fnmatch.fnmatchcase(title, name) for title in titles)
        ]
    if kind == "RouterConfig":
        return [body for ref, body in seen.router_configs() if _named(ref, name)]
    return [obj for obj in seen.objects if _is(ref_of(obj), kind) and _named(ref_of(obj), name)]


def _is(ref: Ref, kind: str) -> bool:
    return str(ref).partition(" ")[0] == kind


def _named(ref: Ref, pattern: str) -> bool:
    if pattern == "*":
        return True
    namespace, slash, name = pattern.rpartition("/")
    return fnmatch.fnmatchcase(ref.name, name) and fnmatch.fnmatchcase(
        ref.namespace, namespace if slash else ""
    )


def _equal(mine: Any, wanted: Any) -> bool:
    if isinstance(mine, bool) or isinstance(wanted, bool):
        return mine is wanted
    if isinstance(mine, Mapping) and isinstance(wanted, Mapping):
        return set(mine) == set(wanted) and all(_equal(mine[key], wanted[key]) for key in mine)
    if isinstance(mine, list | tuple) and isinstance(wanted, list | tuple):
        return len(mine) == len(wanted) and all(map(_equal, mine, wanted))
    return bool(mine == wanted)


def _unordered(value: Any) -> str:
    return json.dumps(_sorted(value), sort_keys=True, default=str)


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _sorted(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return sorted((_sorted(item) for item in value), key=_unordered)
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


Operator = Callable[[list[Any], Any, bool], list[str]]


def _fault(holds: bool, found: Any) -> list[str]:
    return [] if holds else [f"found {found!r}"]


def _equals(found: list[Any], value: Any, many: bool) -> list[str]:
    mine = found if many or len(found) != 1 else found[0]
    return _fault(_equal(mine, value), mine)


def _equals_set(found: list[Any], value: Any, many: bool) -> list[str]:
    mine = found if many or len(found) != 1 else found[0]
    return _fault(_unordered(mine) == _unordered(value), mine)


def _holds(item: Any, value: Any) -> bool:
    if _equal(item, value):
        return True
    if isinstance(item, str):
        return str(value) in item
    return isinstance(item, list | tuple) and any(_equal(part, value) for part in item)


def _numbers(found: list[Any]) -> list[float]:
    return [float(item) for item in found]


def _length(test: Callable[[int, int], bool]) -> Operator:
    def judged(found: list[Any], value: Any, many: bool) -> list[str]:
        return [f"length {len(item)}: {item!r}" for item in found if not test(len(item), value)]

    return judged


def _size(value: Any) -> int:
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())


def _distinct(found: list[Any]) -> bool:
    return len({_unordered([item]) for item in found}) == len(found)


OPERATORS: Mapping[str, Operator] = {
    "equals": _equals,
    "equalsSet": _equals_set,
    "contains": lambda found, value, _: _fault(any(_holds(item, value) for item in found), found),
    "allEqual": lambda found, value, _: _fault(all(_equal(item, value) for item in found), found),
    "allIn": lambda found, value, _: _fault(
        all(any(_equal(item, one) for one in value) for item in found), found
    ),
    "noneIn": lambda found, value, _: _fault(
        not any(_equal(item, one) for item in found for one in value), found
    ),
    "allMatch": lambda found, value, _: _fault(
        all(re.search(value, str(item)) for item in found), found
    ),
    "unique": lambda found, _, __: _fault(_distinct(found), found),
    "present": lambda found, _, __: _fault(bool(found), found),
    "absent": lambda found, _, __: _fault(not found, found),
    "count": lambda found, value, _: _fault(len(found) == value, f"{len(found)}"),
    "sum": lambda found, value, _: _fault(sum(_numbers(found)) == float(value), found),
    "eachLength": _length(lambda mine, wanted: mine == wanted),
    "minLength": _length(lambda mine, wanted: mine >= wanted),
    "maxLength": _length(lambda mine, wanted: mine <= wanted),
    "maxBytes": lambda found, value, _: _fault(
        all(_size(item) <= value for item in found), [_size(item) for item in found]
    ),
    "atLeast": lambda found, value, _: _fault(
        all(number >= value for number in _numbers(found)), found
    ),
    "atMost": lambda found, value, _: _fault(
        all(number <= value for number in _numbers(found)), found
    ),
    "admitted": lambda found, _, __: _fault(bool(found), found),
}
TOGETHER = frozenset("allEqual allIn noneIn allMatch unique absent count".split())
