"""When two objects are the same: API defaults filled in, bookkeeping left out.

`same` is exact after normalising. `derives` is KServe's comparison of HTTPRoutes (empty
wanted fields match anything, longer stored lists match), kept for `compat kserve`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingressctl.api.refs import Raw
from ingressctl.core import managed

BACKEND_DEFAULTS = {"group": "", "kind": "Service", "weight": 1}
PARENT_DEFAULTS = {"group": "gateway.networking.k8s.io", "kind": "Gateway"}
PATH_DEFAULT = {"type": "PathPrefix", "value": "/"}


def same(wanted: Raw, stored: Raw, *, foreign: bool) -> bool:
    """Equal labels, annotations and spec after API defaults.

    With `foreign`, keys that somebody else put there do not count (F31).
    """
    keys_agree = _agree if foreign else _equal
    return all(keys_agree(wanted, stored, field) for field in managed.MERGED) and normal_spec(
        wanted
    ) == normal_spec(stored)


def _equal(wanted: Raw, stored: Raw, field: str) -> bool:
    return _metadata(wanted, field) == _metadata(stored, field)


def _agree(wanted: Raw, stored: Raw, field: str) -> bool:
    mine, theirs = _metadata(wanted, field), _metadata(stored, field)
    if not mine.items() <= theirs.items():
        return False
    extra = theirs.keys() - mine.keys()
    return not (extra and extra & managed.own_keys(stored, field))


def foreign_keys(wanted: Raw, stored: Raw, field: str) -> dict[str, str]:
    """What somebody else put into the labels or annotations of a stored object."""
    mine, own = _metadata(wanted, field), managed.own_keys(stored, field)
    theirs = _metadata(stored, field).items()
    return {key: text for key, text in theirs if key not in mine and key not in own}


def _metadata(obj: Raw, key: str) -> Mapping[str, str]:
    return (obj.get("metadata") or {}).get(key) or {}


def normal_spec(obj: Raw) -> Any:
    """The spec with the defaults that the API server fills in."""
    spec = obj.get("spec") or {}
    if obj.get("kind") != "HTTPRoute":
        return spec
    return {
        **spec,
        "parentRefs": [{**PARENT_DEFAULTS, **parent} for parent in spec.get("parentRefs") or ()],
        "rules": [_normal_rule(rule) for rule in spec.get("rules") or ()],
    }


def _normal_rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    normal = dict(rule)
    normal["matches"] = [
        {**match, "path": {**PATH_DEFAULT, **(match.get("path") or {})}}
        for match in rule.get("matches") or [{"path": None}]
    ]
    normal["backendRefs"] = [
        {**BACKEND_DEFAULTS, **backend} for backend in rule.get("backendRefs") or ()
    ]
    return normal


def derives(wanted: Raw, stored: Raw) -> bool:
    """Whether `stored` already holds all that `wanted` says (kserve-ingress.md 18)."""
    mine, theirs = wanted.get("spec") or {}, stored.get("spec") or {}
    if not _same_counts(mine, theirs):
        return False
    return _derives(mine, theirs) and all(
        _derives(_metadata(wanted, key), _metadata(stored, key))
        for key in ("labels", "annotations")
    )


def _same_counts(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    ours, stored = mine.get("rules") or (), theirs.get("rules") or ()
    return [len(rule.get("backendRefs") or ()) for rule in ours] == [
        len(rule.get("backendRefs") or ()) for rule in stored
    ]


def _derives(wanted: Any, stored: Any) -> bool:
    if wanted in (None, "", 0, [], {}, ()):
        return True
    if isinstance(wanted, Mapping):
        return isinstance(stored, Mapping) and all(
            _derives(value, stored.get(key)) for key, value in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        return (
            isinstance(stored, list | tuple)
            and len(stored) >= len(wanted)
            and all(_derives(mine, theirs) for mine, theirs in zip(wanted, stored, strict=False))
        )
    return bool(wanted == stored)
