"""How many graphs run at a time in one process, and who is next.

Under more load than a core carries, an event loop lets some connections starve while it
serves others. Running few at a time, in the order of arrival, gives each the same wait and
needs a third of the memory. But where the steps are slow and not the core, few at a time
would only make clients wait. So the limit grows while the loop is on time and somebody
waits, and falls as soon as the loop is late.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

LEAST, MOST = 16, 1024
"""Between these the limit moves when nobody has set it."""

ON_TIME, LATE = 0.005, 0.02
"""Lateness of the loop in seconds: below the first it has room, above the second too much to do."""


class Comer(Protocol):
    """Something that wants to run."""

    gone: bool

    def admitted(self) -> None:
        """Run now; `Admission.leave` follows at the end."""
        ...


class Admission:
    """First come, first served. `limit` graphs run, up to `most` where the loop has room,
    and `queue` more may wait.
    """

    def __init__(self, *, limit: int, queue: int, most: int = 0) -> None:
        self.limit = self._least = limit
        self._most = max(limit, most)
        self.queue = queue
        self.running = 0
        self._line: deque[Comer] = deque()
        self._gone = 0

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._line) - self._gone

    def come(self, comer: Comer) -> bool:
        """Let it run, now or when it is its turn; False if the line is full."""
        if self.running < self.limit:
            self.running += 1
            comer.admitted()
            return True
        if self.waiting >= self.queue:
            return False
        self._line.append(comer)
        return True

    def give_up(self) -> None:
        """One that waits is `gone`: it keeps its place and is passed over."""
        self._gone += 1
        if self._gone > 64 and self._gone > len(self._line) // 2:
            self._line = deque(comer for comer in self._line if not comer.gone)
            self._gone = 0

    def paced(self, late: float) -> None:
        """The loop was so late: move the limit."""
        if late > LATE:
            self.limit = max(self._least, self.limit // 2)
        elif late < ON_TIME and self._line and self.limit < self._most:
            self.limit = min(self._most, self.limit * 2)
            self._admit()

    def leave(self) -> None:
        """One that ran has ended: the next may."""
        self.running -= 1
        self._admit()

    def _admit(self) -> None:
        while self._line and self.running < self.limit:
            comer = self._line.popleft()
            if comer.gone:
                self._gone -= 1
                continue
            self.running += 1
            comer.admitted()
