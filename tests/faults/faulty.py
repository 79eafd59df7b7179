"""Which request meets which fault: a seeded plan."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from typing import Literal

Fault = Literal[
    "conflict",
    "expired",
    "busy",
    "broken",
    "slow",
    "late",
    "refused",
    "lost",
    "half",
    "cut",
    "stall",
]
"""What happens to a request.

conflict 409, expired 410, busy 429 with Retry-After and broken 500 are answered by the proxy.
slow waits before the server is asked, late after it. refused cuts the connection before the
server is asked, lost after it, half in the middle of the answer. Of watches, cut ends one in
the middle of a line, stall lets nothing through any more.
"""

WATCHES: tuple[Fault, ...] = ("expired", "busy", "broken", "slow", "refused", "cut", "cut", "stall")
READS: tuple[Fault, ...] = ("busy", "broken", "slow", "late", "refused", "half")
LISTS: tuple[Fault, ...] = (*READS, "expired")
WRITES: tuple[Fault, ...] = (
    "conflict",
    "busy",
    "broken",
    "slow",
    "late",
    "refused",
    "lost",
    "half",
)


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds. `delay` is the longest of slow and late answers, `life` that of a watch that is
    to be cut or stalled."""

    delay: float = 5.0
    life: float = 10.0
    retry_after: int = 1


OF_WATCHES = 2.5
"""Watches are rare and long: they meet faults so many times as often as others."""


class Faults:
    """Each request meets a fault with `rate` while `on`; the choice is that of the seed.

    Of the faults of a kind of request each comes once before any comes again.
    """

    def __init__(self, seed: int, *, rate: float, timing: Timing) -> None:
        self._random = random.Random(seed)
        self._rate = rate
        self.timing = timing
        self.on = True
        self.met: Counter[Fault] = Counter()
        self._decks: dict[tuple[Fault, ...], list[Fault]] = {}

    def choose(self, method: str, *, is_watch: bool, is_list: bool) -> Fault | None:
        """The fault of a request, if it meets one."""
        rate = self._rate * OF_WATCHES if is_watch else self._rate
        meets = self._random.random() < rate
        if not (self.on and meets):
            return None
        if method != "GET":
            choices = WRITES
        else:
            choices = WATCHES if is_watch else LISTS if is_list else READS
        fault = self._next(choices)
        self.met[fault] += 1
        return fault

    def _next(self, choices: tuple[Fault, ...]) -> Fault:
        deck = self._decks.setdefault(choices, [])
        if not deck:
            deck += self._random.sample(choices, len(choices))
        return deck.pop()

    def seconds(self, most: float) -> float:
        """A moment of a delay."""
        return self._random.uniform(0.0, most)
