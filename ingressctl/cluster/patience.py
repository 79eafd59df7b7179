"""Statuses that wait for gateways: where ten thousand routes are made anew, these have not read
each of them a moment later, and nothing is amiss with that.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from ingressctl.api.refs import Ref

LEAST, A_ROUTE, MOST = 1.0, 0.05, 300.0
"""Seconds that a status waits: at least, more for each that waits, as gateways read one after the
other, and at most."""


class Patience:
    """Whose status waits, and for how long."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since: dict[Ref, float] = {}
        self._most = 0
        """Since none waited: the last ones have waited for all others."""

    def __contains__(self, ref: Ref) -> bool:
        return ref in self._since

    def waits(self, ref: Ref) -> bool:
        """Begin to wait, or go on; False once it has been long enough."""
        if not self._since:
            self._most = 0
        self._since.setdefault(ref, self._clock())
        self._most = max(self._most, len(self._since))
        if self.left(ref) > 0.0:
            return True
        self.forget(ref)
        return False

    def left(self, ref: Ref) -> float:
        """Seconds for which one that waits still may."""
        return self._since[ref] + min(MOST, max(LEAST, A_ROUTE * self._most)) - self._clock()

    def forget(self, ref: Ref) -> None:
        """It waits no more."""
        self._since.pop(ref, None)
