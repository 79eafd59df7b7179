"""Fields that a manager owns, as managedFields spell them, held against a wanted object.

An apply takes away what its manager owned and no longer sends. So an object whose stored
state says all that is wanted may still have to be applied: when we own more than that
(fieldsV1: ``f:`` a field, ``k:`` an entry of a list by its keys, ``v:`` a value of a set).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

Fields = Mapping[str, Any]


def exceed(owned: Fields, wanted: Any) -> bool:
    """Whether some owned field is not in the wanted value."""
    for key, inner in owned.items():  # a loop: this is asked of every field of every object
        if key[:2] == "f:":
            if not isinstance(wanted, Mapping) or key[2:] not in wanted:
                return True
            if inner and exceed(inner, wanted[key[2:]]):
                return True
        elif key != "." and _exceeds(key, inner, wanted):
            return True
    return False


def _exceeds(key: str, inner: Fields, wanted: Any) -> bool:
    """As `exceed`, for an entry of a list."""
    kind, _, name = key.partition(":")
    if kind == "k":
        entry = _entry(orjson.loads(name), wanted)
        return entry is None or exceed(inner, entry)
    if kind == "v":
        return not (isinstance(wanted, list | tuple) and orjson.loads(name) in wanted)
    return False  # i: an index, of which lists here have none


def _entry(keys: Mapping[str, Any], wanted: Any) -> Any:
    """The entry of a list that has these values; defaults of keys count as absent."""
    if not isinstance(wanted, list | tuple):
        return None
    for entry in wanted:
        if isinstance(entry, Mapping) and all(
            entry.get(key, _DEFAULTS.get(key)) == value for key, value in keys.items()
        ):
            return entry
    return None


_DEFAULTS = {"protocol": "TCP"}
"""What the API server fills into keys of list entries."""
