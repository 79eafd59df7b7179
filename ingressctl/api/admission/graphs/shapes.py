"""The right form of fields of a graph that people write in another one, with an example.

Durations of steps have a unit, those of KServe's own fields are whole seconds, and `retries`
is more than a number.
"""

from __future__ import annotations

import re
from typing import Any

_STEP = re.compile(r"spec\.nodes\..*\.steps\[\d+\]\.(\w+)(?:\.(\w+))?")
_SECONDS = re.compile(r"spec\.(timeout|routerTimeouts\.\w+)")
_WITH_UNIT = re.compile(r"(\d+)(ms|s|m|h)")
_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}


def remedy(path: str, value: Any) -> str:
    """What to write in place of a value of the wrong type; "" if there is nothing to say."""
    if _SECONDS.fullmatch(path):
        return f"write whole seconds without a unit: {_field(path)}: {_seconds(value)}"
    step = _STEP.fullmatch(path)
    if step is None:
        return ""
    if step[1] == "retries" and not step[2]:
        return f"write retries: {{attempts: {value if _is_number(value) else 2}}}"
    if step[1] == "timeout" or step[2] == "backoff":
        return duration(_field(path), value)
    return ""


def duration(field: str, value: Any) -> str:
    """How a duration is written, made of the bare number that somebody wrote."""
    number = str(value) if _is_number(value) else "5"
    return f"write a duration with its unit, such as {field}: {number}s, or 500ms, or 1m30s"


def _field(path: str) -> str:
    return path.rpartition(".")[2]


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and re.fullmatch("[1-9][0-9]{0,4}", str(value)) is not None


def _seconds(value: Any) -> int:
    """The seconds that somebody may have meant."""
    if _is_number(value):
        return int(value)
    found = _WITH_UNIT.fullmatch(str(value))
    return max(1, round(int(found[1]) * _UNITS[found[2]])) if found else 5
