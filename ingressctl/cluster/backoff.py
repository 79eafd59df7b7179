"""How long to wait before another try: doubling, capped, with jitter so that many part ways."""

from __future__ import annotations

import random


class Backoff:
    """Delays for one thing that fails, in seconds."""

    def __init__(self, first: float, most: float) -> None:
        self._first = first
        self._most = most
        self._failures = 0

    def next(self, at_least: float = 0.0) -> float:
        """The delay before the next try; `at_least` is what a server asked for."""
        delay = min(self._most, self._first * 2.0 ** min(self._failures, 32))
        self._failures += 1
        return max(at_least, delay * random.uniform(0.8, 1.2))

    def reset(self) -> None:
        """It worked."""
        self._failures = 0
