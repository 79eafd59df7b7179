"""Why an object is not stored: message, field, remedy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Operation = Literal["create", "update", "delete"]
Differs = Callable[[str], bool]
"""Whether a difference is on; see core/differences.py."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One fault. `message` is KServe's text, or the API server's for its schema.

    `path` is like ``spec.canary[0].trafficPercent``; `difference` is the id of the
    switch without which the object would be stored.
    """

    message: str
    path: str
    remedy: str
    difference: str = ""
