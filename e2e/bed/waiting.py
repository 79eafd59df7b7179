"""Waiting with an end: every wait of the bed has a deadline and says what it waited for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PAUSE = 0.05

Value = TypeVar("Value")


class Late(Exception):
    """Something did not come true in time."""


def until(
    what: str, ask: Callable[[], Value], *, seconds: float, watch: Callable[[], None] | None = None
) -> Value:
    """The first true answer of `ask`. Raises Late, or what `watch` raises meanwhile."""
    end = time.monotonic() + seconds
    while True:
        if watch is not None:
            watch()
        answer = ask()
        if answer:
            return answer
        if time.monotonic() > end:
            raise Late(f"{what}: not within {seconds:.0f} s; the last answer was {answer!r}")
        time.sleep(PAUSE)
