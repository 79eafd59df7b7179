"""An event loop whose clock runs faster, so that ninety seconds take four.

Whatever asks the loop for the time or sleeps on it lives in that time; sockets do not know.
"""

from __future__ import annotations

import asyncio
import selectors


class _Hurried(selectors.DefaultSelector):
    def __init__(self, times: float) -> None:
        super().__init__()
        self._times = times

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for so much less."""
        return super().select(timeout / self._times if timeout else timeout)


class Loop(asyncio.SelectorEventLoop):
    """See the module."""

    def __init__(self, times: float) -> None:
        super().__init__(_Hurried(times))
        self._times = times

    def time(self) -> float:
        """The time of this loop."""
        return super().time() * self._times
