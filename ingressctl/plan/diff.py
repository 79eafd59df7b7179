"""What changes in one object, as unified lines or by path.

Entries of lists are matched by what identifies them (rules by match, backends by name,
conditions by type), so that an inserted rule is one change and not a cascade of them.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ingressctl.api.refs import Raw, Ref
from ingressctl.plan import showing, writing

Opcode = tuple[str, int, int, int, int]
Action = Literal["created", "changed", "removed"]
MARKS: Mapping[Action, str] = {"created": "+", "changed": "~", "removed": "-"}


@dataclass(frozen=True, slots=True)
class Change:
    """One object before and after. `differences` are the ids that cause it."""

    action: Action
    ref: Ref
    old: Raw | None
    new: Raw | None
    everything: bool = False
    differences: tuple[str, ...] = ()

    @property
    def before(self) -> Mapping[str, Any] | None:
        """The old object as it is shown."""
        return self._shown(self.old, self.new, "before")

    @property
    def after(self) -> Mapping[str, Any] | None:
        """The new object as it is shown."""
        return self._shown(self.new, self.old, "after")

    def _shown(self, obj: Raw | None, beside: Raw | None, side: str) -> Mapping[str, Any] | None:
        if obj is None:
            return None
        return showing.shown(obj, everything=self.everything, beside=beside, side=side)

    def caused_by(self, differences: tuple[str, ...]) -> Change:
        """The same change with the ids that cause it."""
        return replace(self, differences=differences) if differences else self


def change(
    ref: Ref, before: Raw | None, after: Raw | None, *, everything: bool = False
) -> Change | None:
    """What happens to an object, or None if nothing that people are shown does."""
    if before is after:
        return None
    action: Action = "created" if before is None else "removed" if after is None else "changed"
    found = Change(action, ref, before, after, everything)
    if action == "changed" and found.before == found.after:
        return None
    return found


def unified(item: Change, *, margin: str = "", context: int = 3) -> list[str]:
    """Unified lines with the path of the first changed line in each heading, behind `margin`."""
    if item.action != "changed":
        mark, value = MARKS[item.action], item.after or item.before
        return writing.texts(value, ordered=True, margin=f"{margin}{mark}")
    old, new = _lines(item.before), _lines(item.after)
    matcher = difflib.SequenceMatcher(
        None, [line.text for line in old], [line.text for line in new], autojunk=False
    )
    return [
        f"{margin}{text}"
        for group in matcher.get_grouped_opcodes(context)
        for text in (_heading(group, old, new), *_hunk(group, old, new))
    ]


def _hunk(
    group: Sequence[Opcode], old: Sequence[writing.Line], new: Sequence[writing.Line]
) -> Iterator[str]:
    for tag, i1, i2, j1, j2 in group:
        if tag == "equal":
            yield from (f" {line.text}" for line in old[i1:i2])
        else:
            yield from (f"-{line.text}" for line in old[i1:i2])
            yield from (f"+{line.text}" for line in new[j1:j2])


def _lines(value: Mapping[str, Any] | None) -> list[writing.Line]:
    return [] if value is None else writing.lines(value, ordered=True)


def _heading(
    group: Sequence[Opcode], old: Sequence[writing.Line], new: Sequence[writing.Line]
) -> str:
    first, last = group[0], group[-1]
    _, i1, i2, j1, _ = next(code for code in group if code[0] != "equal")
    line = old[i1] if i2 > i1 else new[j1]
    places = f"-{_span(first[1], last[2])} +{_span(first[3], last[4])}"
    return f"@@ {places} @@ {line.path}".rstrip()


def _span(start: int, end: int) -> str:
    """A range of lines as diff writes it."""
    length = end - start
    begin = start + 1 if length else start
    return f"{begin}" if length == 1 else f"{begin},{length}"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field: path with identities, and its values. `absent` stands for none."""

    path: str
    old: Any
    new: Any


class _Absent:
    """The value of a field that is not there."""

    def __repr__(self) -> str:
        return "absent"


absent = _Absent()


def is_short(field: FieldChange) -> bool:
    """Whether both values are there and fit in a line."""
    values = (field.old, field.new)
    return all(
        value is not absent and not isinstance(value, Mapping | list) and "\n" not in str(value)
        for value in values
    )


def fields(before: Any, after: Any, path: str = "") -> Iterator[FieldChange]:
    """Every field that differs, in the order of the newer object."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in (*after, *(key for key in before if key not in after)):
            here = f"{path}.{key}" if path else str(key)
            yield from fields(before.get(key, absent), after.get(key, absent), here)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _entries(before, after, path)
    elif before != after:
        old, new = _json(before), _json(after)
        if old is not None and new is not None:
            yield from fields(old, new, path)
        else:
            yield FieldChange(path, before, after)


def _json(value: Any) -> dict[str, Any] | None:
    """The JSON object that a text holds, as the values of KServe's ConfigMap do."""
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return None
    try:
        held = json.loads(value)
    except ValueError:
        return None
    return held if isinstance(held, dict) else None


def _entries(before: list[Any], after: list[Any], path: str) -> Iterator[FieldChange]:
    old, new = _by_identity(before), _by_identity(after)
    for name in (*new, *(name for name in old if name not in new)):
        yield from fields(old.get(name, absent), new.get(name, absent), f"{path}[{name}]")
    common = [name for name in old if name in new]
    if common != [name for name in new if name in old]:
        yield FieldChange(f"{path} (order)", list(old), list(new))


def _by_identity(values: list[Any]) -> dict[str, Any]:
    """Entries by name; those of one name are counted."""
    named: dict[str, Any] = {}
    for value in values:
        name, count = _identity(value), 2
        key = name
        while key in named:
            key, count = f"{name}#{count}", count + 1
        named[key] = value
    return named


def _identity(value: Any) -> str:
    """What tells an entry from its neighbours, for every list that routes have."""
    if not isinstance(value, Mapping):
        return str(value)
    if "type" in value and "status" in value:
        return str(value["type"])
    matches = value.get("matches") or value.get("match")
    if matches:
        return ", ".join(_match(match) for match in matches)
    return _name(value) or _compact(value)


def _name(value: Mapping[str, Any]) -> str:
    """The name of a backend, host, canary, container or port; "" if it has none."""
    inner = value.get("destination") or value.get("predictor")
    if isinstance(inner, Mapping):
        named = inner.get("host") or inner.get("name")
        return f"{named}{_suffix(inner.get('subset'), '/')}" if named else ""
    if "name" in value:
        return f"{value['name']}{_suffix(value.get('sectionName'), '/')}"
    keys = ("host", "path", "type", "port", "key")
    return next((str(value[key]) for key in keys if isinstance(value.get(key), str | int)), "")


def _suffix(value: Any, mark: str) -> str:
    return f"{mark}{value}" if value else ""


def _match(match: Any) -> str:
    """A match in short: the value of its path if that is all there is."""
    if not isinstance(match, Mapping):
        return str(match)
    path = match.get("path")
    if isinstance(path, Mapping) and set(match) == {"path"}:
        return str(path.get("value"))
    return _compact(match)


def _compact(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
