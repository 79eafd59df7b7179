"""Frozen values that are made by the hundred thousand.

Structs are made, compared and hashed in C: a world of 10,000 services makes 500,000 of
them, and the constructor of a frozen dataclass was the first entry of every profile.
"""

from __future__ import annotations

import msgspec


class Value(msgspec.Struct, frozen=True, gc=False):
    """A frozen value. None is part of a reference cycle, so the collector skips them."""


replace = msgspec.structs.replace
"""The value with some fields changed."""
