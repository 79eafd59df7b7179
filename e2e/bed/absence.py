"""What cannot be had on this machine: a test is skipped for it, and fails in CI."""

from __future__ import annotations

import os


class Absent(Exception):
    """A part cannot be had: why, and what to do."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}: {remedy}")


def is_failure() -> bool:
    """Whether an absent part is a failure here. CI promises that every part is there."""
    return os.environ.get("CI", "").lower() in {"true", "1"}
