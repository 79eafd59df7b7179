"""Whole numbers as an API server takes them, and Go after it.

100.0 is a whole number in JSON and is stored as 100. What does not fit into the field's type
is refused by Go's decoder, whatever the schema says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

_EXACT = 2.0**53
"""Up to here every whole number is one as a float too."""

Short = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Long = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""int32 and int64 of the views of the reconcile; those of admission are in models/pods.py."""


def whole(value: Any) -> Any:
    """A float without a fraction as the integer that it is; anything else as it is."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT:
        return int(value)
    return value


def as_stored(value: Any) -> Any:
    """A document with every such float in it as an integer; itself where there is none."""
    if isinstance(value, Mapping):
        made = {name: as_stored(inner) for name, inner in value.items()}
        return made if any(made[name] is not value[name] for name in made) else value
    if isinstance(value, list):
        items = [as_stored(inner) for inner in value]
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return whole(value)


def fault(value: int, bits: int) -> str:
    """Why Go does not take a number for a field of so many bits; "" if it does."""
    if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        return ""
    return f"json: cannot unmarshal number {value} into Go value of type int{bits}"
