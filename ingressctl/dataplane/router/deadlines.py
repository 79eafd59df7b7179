"""One clock for all that may take too long.

A timer for each call would cost an eighth of the call. So everything that waits is in one
set, which is looked through twenty times a second, and not at all while nothing waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

TICK = 0.05
"""How late, at most, a limit is noticed."""


class Waiting(Protocol):
    """Something with a moment after which it is told so."""

    deadline: float

    def expire(self, now: float) -> None:
        """The moment has passed. Stays in the set unless it leaves."""
        ...


class Deadlines:
    """All that waits on one event loop. `paced` is told how late each look comes."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, paced: Callable[[float], None] | None = None
    ) -> None:
        self._loop = loop
        self._paced = paced
        self._due = 0.0
        self._waiting: set[Waiting] = set()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, waiting: Waiting) -> None:
        """Look at its `deadline` from now on."""
        self._waiting.add(waiting)
        if self._timer is None:
            self._again()

    def discard(self, waiting: Waiting) -> None:
        """It waits no more."""
        self._waiting.discard(waiting)

    def close(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
        self._waiting.clear()

    def _again(self) -> None:
        self._due = self._loop.time() + TICK
        self._timer = self._loop.call_later(TICK, self._look)

    def _look(self) -> None:
        now = self._loop.time()
        late = now - self._due
        self._timer = None
        if self._waiting:
            self._again()
        if self._paced is not None:
            self._paced(late)
        for waiting in [item for item in self._waiting if item.deadline <= now]:
            if waiting.deadline <= now:  # one that expired may have moved another's
                waiting.expire(now)
