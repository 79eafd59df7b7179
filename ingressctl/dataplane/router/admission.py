"""How many graphs run at a time in one process, and who is next.

Under more load than a core carries, an event loop lets some connections starve while it
serves others. Running few at a time, in the order of arrival, gives each the same wait and
needs a third of the memory. But where the steps are slow and not the core, few at a time
would only make clients wait. So the limit grows while the loop is on time and somebody
waits, and falls as soon as the loop is late; and large bodies, which are what starves others,
run within a sum of bytes. One that runs for long is waiting for its steps, and counts no more.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

from ingressctl.dataplane.router.backlog import Backlog

LEAST, MOST = 16, 1024
"""Between these the limit moves when nobody has set it."""

ON_TIME, LATE = 0.005, 0.02
"""Lateness of the loop in seconds: below the first it has room, above the second too much to do."""


HEAVY, BUDGET = 16_384, 2_000_000
"""Bodies above the first size are counted, and run together up to the second."""

LONG = 10
"""After so many looks of the clock a large body is not being moved any more."""


class Comer(Protocol):
    """Something that wants to run. `size` is that of its body."""

    gone: bool
    size: int

    def admitted(self) -> None:
        """Run now; `Admission.leave` follows at the end."""
        ...


class Admission:
    """First come, first served. `limit` graphs run, up to `most` where there is room for more,
    and `queue` further ones may wait. `backlog` knows how much of them is in memory.
    """

    def __init__(self, *, limit: int, queue: int, most: int = 0) -> None:
        self.limit = self._least = limit
        self._most = max(limit, most)
        self.queue = queue
        self.running = 0
        self.backlog = Backlog()
        self._line: deque[Comer] = deque()
        self._gone = 0
        self._bytes = self._looks = 0
        self._heavy: dict[Comer, tuple[int, int]] = {}

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._line) - self._gone

    def come(self, comer: Comer) -> bool:
        """Let it run, now or when it is its turn; False if the line is full."""
        self.backlog.came(comer.size)
        if not self._line and self._has_room(comer):
            self._begin(comer)
            return True
        if self.waiting >= self.queue:
            return False
        self._line.append(comer)
        self.backlog.add(comer.size)
        return True

    def give_up(self, comer: Comer) -> None:
        """One that waits is `gone`: it keeps its place and is passed over."""
        self.backlog.remove(comer.size)
        self._gone += 1
        if self._gone > 64 and self._gone > len(self._line) // 2:
            self._line = deque(comer for comer in self._line if not comer.gone)
            self._gone = 0

    def leave(self, comer: Comer) -> None:
        """One that ran has ended: the next may."""
        self.running -= 1
        if self._heavy:
            self._lighten(comer)
        self._admit()
        self.backlog.ease()

    def paced(self, late: float) -> None:
        """A look of the clock, which came so late: move the limit."""
        self._looks += 1
        for comer, (_, since) in tuple(self._heavy.items()):
            if self._looks - since < LONG:
                break
            self._lighten(comer)
        if late > LATE:
            self.limit = max(self._least, self.limit // 2)
        elif late < ON_TIME and self._line and self.running >= self.limit < self._most:
            self.limit = min(self._most, self.limit * 2)
        self._admit()
        self.backlog.lapse()

    def _has_room(self, comer: Comer) -> bool:
        if self.running < self._least:
            return True
        return self.running < self.limit and (
            comer.size <= HEAVY or self._bytes + comer.size <= BUDGET
        )

    def _begin(self, comer: Comer) -> None:
        self.running += 1
        if comer.size > HEAVY:
            self._heavy[comer] = (comer.size, self._looks)
            self._bytes += comer.size
        comer.admitted()

    def _lighten(self, comer: Comer) -> None:
        size, _ = self._heavy.pop(comer, (0, 0))
        self._bytes -= size

    def _admit(self) -> None:
        while self._line:
            comer = self._line[0]
            if comer.gone:
                self._gone -= 1
            elif not self._has_room(comer):
                break
            self._line.popleft()
            if not comer.gone:
                self.backlog.remove(comer.size)
                self._begin(comer)
