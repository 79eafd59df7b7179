"""Durations as Go and the Gateway API write them: `1m30s`, `500ms`."""

from __future__ import annotations

import re

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|us|ns|h|m|s)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def seconds(duration: str) -> float | None:
    """A duration in seconds; None for no limit (0) or no duration."""
    parts = _PART.findall(duration)
    total = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    return total or None


def of_seconds(number: int) -> str:
    """Whole seconds as the Gateway API takes them: no number has more than five digits.

    What is longer than it can say becomes the longest that it can.
    """
    if number <= _MOST:
        return f"{number}s"
    hours, rest = divmod(number, 3600)
    if hours > _MOST:
        return f"{_MOST}h59m59s"
    minutes, left = divmod(rest, 60)
    parts = ((hours, "h"), (minutes, "m"), (left, "s"))
    return "".join(f"{count}{unit}" for count, unit in parts if count)


_MOST = 99_999
