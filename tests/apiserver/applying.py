"""Who owns which field, as far as it matters here.

A field is a key of labels or annotations, or a whole key at the top of the spec (or of data, or
of whatever else an object has). A list or an object below is owned as one, which is how routes
behave; that is coarser than a real server for Deployments.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from tests.apiserver.statuses import Refused

Path = tuple[str, ...]
Object = dict[str, Any]

_DEEP = ("spec", "data", "status")
_MERGED = ("labels", "annotations")


def fields(obj: Mapping[str, Any]) -> dict[Path, Any]:
    """Every field of an object with its value; of metadata what may be owned."""
    found: dict[Path, Any] = {}
    for top, value in obj.items():
        if top in ("apiVersion", "kind"):
            continue
        if top == "metadata":
            found.update(_of_metadata(value))
        elif top in _DEEP and isinstance(value, Mapping):
            found.update({(top, key): inner for key, inner in value.items()})
        else:
            found[top,] = value
    return found


def _of_metadata(meta: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    for merged in _MERGED:
        for key, value in (meta.get(merged) or {}).items():
            yield ("metadata", merged, key), value
    for key in ("ownerReferences", "finalizers"):
        if key in meta:
            yield ("metadata", key), meta[key]


def put(obj: Object, path: Path, value: Any) -> None:
    """Set a field."""
    for key in path[:-1]:
        inner = obj.get(key)
        obj[key] = inner if isinstance(inner, dict) else {}
        obj = obj[key]
    obj[path[-1]] = copy.deepcopy(value)


def drop(obj: Object, path: Path) -> None:
    """Take a field out, and what is empty then."""
    *above, last = path
    places = [obj]
    for key in above:
        if not isinstance(places[-1].get(key), dict):
            return
        places.append(places[-1][key])
    places[-1].pop(last, None)
    for key, place in zip(reversed(above), reversed(places[:-1]), strict=True):
        if not place[key] and key not in ("metadata", "spec"):
            del place[key]


class Owners:
    """The managers of an object's fields; `operation` is Apply, or Update for all else."""

    def __init__(self) -> None:
        self._sets: dict[tuple[str, str, str], set[Path]] = {}
        self._times: dict[tuple[str, str, str], str] = {}

    def applied(
        self, stored: Object, wanted: Mapping[str, Any], manager: str, *, force: bool, when: str
    ) -> Object:
        """The object after an apply. Raises Refused where another manager has it otherwise."""
        mine, new = (manager, "Apply", ""), fields(wanted)
        now = fields(stored)
        for path, value in new.items():
            theirs = [key for key, owned in self._sets.items() if path in owned and key != mine]
            if theirs and now.get(path) != value:
                if not force:
                    raise Refused(409, f"conflict with {theirs[0][0]!r}: .{'.'.join(path)}")
                for key in theirs:
                    self._sets[key].discard(path)
        made = copy.deepcopy(stored)
        for path in self._sets.get(mine, set()) - new.keys():
            if not any(path in owned for key, owned in self._sets.items() if key != mine):
                drop(made, path)
        for path, value in new.items():
            put(made, path, value)
        if self._sets.get(mine) != set(new) or fields(made) != now:
            self._times[mine] = when
        self._sets[mine] = set(new)
        self._tidy()
        return made

    def updated(
        self, before: Object, after: Object, manager: str, *, subresource: str, when: str
    ) -> None:
        """Note what somebody changed by any other verb."""
        old, new = fields(before), fields(after)
        mine = (manager, "Update", subresource)
        changed = {path for path, value in new.items() if old.get(path, self) != value}
        gone = old.keys() - new.keys()
        for owned in self._sets.values():
            owned.difference_update(changed | gone)
        if changed:
            self._sets.setdefault(mine, set()).update(changed)
            self._times[mine] = when
        self._tidy()

    def told(self) -> list[dict[str, Any]]:
        """managedFields."""
        return [
            {
                "manager": manager,
                "operation": operation,
                "apiVersion": "v1",
                "time": self._times.get((manager, operation, subresource), ""),
                "fieldsType": "FieldsV1",
                "fieldsV1": _tree(owned),
                **({"subresource": subresource} if subresource else {}),
            }
            for (manager, operation, subresource), owned in self._sets.items()
        ]

    def _tidy(self) -> None:
        self._sets = {key: owned for key, owned in self._sets.items() if owned}


def _tree(paths: set[Path]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path in sorted(paths):
        at = tree
        for key in path:
            at = at.setdefault(f"f:{key}", {})
    return tree


def merged(stored: Any, patch: Any) -> Any:
    """A JSON merge patch laid over a value (RFC 7386)."""
    if not isinstance(patch, Mapping):
        return copy.deepcopy(patch)
    made = copy.deepcopy(dict(stored)) if isinstance(stored, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            made.pop(key, None)
        else:
            made[key] = merged(made.get(key), value)
    return made
