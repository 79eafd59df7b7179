"""Go durations (``1h2m3.5s``, ``300ms``, ``0s``) to nanoseconds and back."""

from __future__ import annotations

import re
from decimal import Decimal

_UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")


def nanoseconds(text: str) -> int:
    """The length of a Go duration. Raises ValueError."""
    if text == "0":
        return 0
    parts = list(_PART.finditer(text))
    if not parts or "".join(part.group() for part in parts) != text:
        raise ValueError(f"{text!r} is no duration such as 30s, 1m30s or 0s")
    return int(sum(Decimal(part[1]) * _UNITS[part[2]] for part in parts))


def text(nanoseconds: int) -> str:
    """In seconds, as KServe writes timeouts: ``60s``, ``0.5s``."""
    seconds = Decimal(nanoseconds) / _UNITS["s"]
    return f"{seconds.normalize():f}s"
