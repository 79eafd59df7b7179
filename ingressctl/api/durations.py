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
