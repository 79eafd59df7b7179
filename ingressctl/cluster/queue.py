"""The objects that have to be looked at: each once, what people did first.

One worker has an object at a time. What is asked for while somebody has it comes again when
he is done; failures come back later and later, with jitter; a timer brings an object again.
An object that was looked at a moment ago rests, so that what follows from one write (statuses
of several objects, our own answer) is one look; what a person does is never held up. What
follows from bulk work is bulk work as well, and makes room once a person has changed something,
for people do one thing after the other.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections import deque
from collections.abc import Callable
from enum import IntEnum
from itertools import count

from ingressctl.api.refs import Ref
from ingressctl.cluster.backoff import Backoff

FIRST_RETRY, MOST_RETRY = 0.1, 300.0

HUSH = 2.0
"""Seconds for which bulk work makes room after a person has changed something."""


class Urgency(IntEnum):
    """Why an object is in the queue: the smaller, the sooner."""

    EDIT = 0
    """Somebody changed the object itself."""
    CHANGE = 1
    """Something that it looked at changed."""
    BULK = 2
    """Everything is looked at: a start, a resync, a change of configuration."""


Told = Callable[[Ref], None]


class Queue:
    """For one event loop. `added` hears of every object that is put in, `retried` of every one
    that comes again after a failure. Of bulk work at most `bulk` objects are given out at once
    (None: any number), and `hushed` while people are at work, so that the server has an ear for
    them. `rest` is in seconds."""

    def __init__(
        self,
        *,
        first_retry: float = FIRST_RETRY,
        most_retry: float = MOST_RETRY,
        rest: float = 0.0,
        bulk: int | None = None,
        hushed: int | None = None,
        added: Told | None = None,
        retried: Told | None = None,
    ) -> None:
        self._rest = rest
        self._bulk = bulk
        self._hushed = bulk if hushed is None else hushed
        self._hush: asyncio.TimerHandle | None = None
        self._in_bulk: set[Ref] = set()
        self._finished: dict[Ref, float] = {}
        self._heap: list[tuple[Urgency, int, Ref]] = []
        self._waiting: dict[Ref, Urgency] = {}
        self._since: dict[Ref, float] = {}
        self._active: dict[Ref, Urgency | None] = {}
        self._begun: dict[Ref, float] = {}
        self._timers: dict[Ref, tuple[float, asyncio.Handle]] = {}
        self._bulky: set[Ref] = set()
        self._failing: dict[Ref, Backoff] = {}
        self._retry = (first_retry, most_retry)
        self._order = count()
        self._idlers: deque[asyncio.Future[None]] = deque()
        self._added = added or _nobody
        self._retried = retried or _nobody

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def waiting(self) -> tuple[Ref, ...]:
        """What is to be looked at."""
        return tuple(self._waiting)

    @property
    def idle(self) -> bool:
        """Whether nothing waits and nobody works. Timers do not count."""
        return not (self._waiting or self._active)

    @property
    def active(self) -> int:
        """How many objects are worked on."""
        return len(self._active)

    def is_bulk(self, ref: Ref) -> bool:
        """Whether an object is worked on as a part of bulk work."""
        return ref in self._in_bulk

    def ages(self) -> tuple[tuple[Ref, float], ...]:
        """What is worked on, and for how many seconds."""
        now = time.monotonic()
        return tuple((ref, now - begun) for ref, begun in self._begun.items())

    @property
    def timers(self) -> int:
        """How many objects come again when their time is up."""
        return len(self._timers)

    def add(self, ref: Ref, urgency: Urgency) -> None:
        """Have an object looked at; asked for twice, the more urgent reason holds."""
        if urgency is Urgency.CHANGE and ref in self._bulky:
            urgency = Urgency.BULK
        if urgency is Urgency.EDIT:
            self._make_room()
        if ref in self._active:
            before = self._active[ref]
            self._active[ref] = urgency if before is None else min(before, urgency)
            return
        known = self._waiting.get(ref)
        if known is not None and known <= urgency:
            return
        if urgency > Urgency.EDIT and self._rests(ref, urgency):
            return
        self._added(ref)
        self._waiting[ref] = urgency
        self._since.setdefault(ref, time.monotonic())
        heapq.heappush(self._heap, (urgency, next(self._order), ref))
        self._wake_one()

    async def get(self) -> tuple[Ref, float]:
        """The next object, and the seconds that it waited. It is the caller's until `done`."""
        while True:
            while self._heap:
                urgency, _, ref = self._heap[0]
                if self._waiting.get(ref) != urgency:
                    heapq.heappop(self._heap)  # it was asked for more urgently since
                    continue
                if urgency is Urgency.BULK and not self._has_room():
                    break
                heapq.heappop(self._heap)
                del self._waiting[ref]
                self._active[ref] = None
                self._begun[ref] = time.monotonic()
                self._mark(ref, urgency)
                self._stop_timer(ref)
                return ref, time.monotonic() - self._since.pop(ref)
            await self._woken()

    def done(self, ref: Ref) -> None:
        """The object is nobody's again."""
        urgency = self._active.pop(ref)
        self._begun.pop(ref, None)
        if ref in self._in_bulk:
            self._in_bulk.discard(ref)
            self._wake_one()
        if self._rest:
            self._finished[ref] = time.monotonic()
        if urgency is not None:
            self.add(ref, urgency)

    def succeeded(self, ref: Ref) -> None:
        """Earlier failures of the object are forgotten."""
        self._failing.pop(ref, None)

    def failed(self, ref: Ref, at_least: float = 0.0) -> float:
        """Bring the object again, later than the last time; seconds until then."""
        self._retried(ref)
        backoff = self._failing.setdefault(ref, Backoff(*self._retry))
        delay = backoff.next(at_least)
        self.after(ref, delay)
        return delay

    def after(self, ref: Ref, seconds: float, urgency: Urgency = Urgency.CHANGE) -> None:
        """Bring the object in so many seconds, unless it comes sooner anyway."""
        loop = asyncio.get_running_loop()
        due = loop.time() + seconds
        timer = self._timers.get(ref)
        if timer is not None and timer[0] <= due:
            return
        self._stop_timer(ref)
        self._timers[ref] = due, loop.call_later(seconds, self._due, ref, urgency)

    def forget(self, ref: Ref) -> None:
        """The object is gone."""
        self._failing.pop(ref, None)
        self._finished.pop(ref, None)
        self._bulky.discard(ref)
        self._stop_timer(ref)

    def close(self) -> None:
        """No timer fires any more."""
        for ref in tuple(self._timers):
            self._stop_timer(ref)
        if self._hush is not None:
            self._hush.cancel()

    async def _woken(self) -> None:
        """Until there may be something to do. One waits for one thing: where all were woken
        for each, ten thousand objects would wake every idle worker ten thousand times."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._idlers.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._wake_one()  # it was his turn, and he goes: it is somebody else's
            raise

    def _wake_one(self) -> None:
        while self._idlers:
            turn = self._idlers.popleft()
            if not turn.done():
                turn.set_result(None)
                return

    def _has_room(self) -> bool:
        """Whether one more object of bulk work may be given out."""
        most = self._bulk if self._hush is None else self._hushed
        return not most or len(self._in_bulk) < most

    def _make_room(self) -> None:
        """Somebody has changed something, and may do so again."""
        if self._hushed == self._bulk:
            return
        if self._hush is not None:
            self._hush.cancel()
        self._hush = asyncio.get_running_loop().call_later(HUSH, self._take_room)

    def _take_room(self) -> None:
        """Nobody has for a while."""
        self._hush = None
        for _ in range((self._bulk or 0) - len(self._in_bulk)):
            self._wake_one()

    def _mark(self, ref: Ref, urgency: Urgency) -> None:
        """Remember bulk work: while it lasts, and for what follows from it."""
        if urgency is Urgency.BULK:
            self._bulky.add(ref)
            self._in_bulk.add(ref)
        else:
            self._bulky.discard(ref)

    def _rests(self, ref: Ref, urgency: Urgency) -> bool:
        """Whether the object was looked at a moment ago: then it comes when it has rested."""
        finished = self._finished.pop(ref, None)
        left = 0.0 if finished is None else finished + self._rest - time.monotonic()
        if left <= 0.0:
            return False
        self._finished[ref] = finished or 0.0
        self.after(ref, left, urgency)
        return True

    def _due(self, ref: Ref, urgency: Urgency) -> None:
        self._timers.pop(ref, None)
        self.add(ref, urgency)

    def _stop_timer(self, ref: Ref) -> None:
        timer = self._timers.pop(ref, None)
        if timer is not None:
            timer[1].cancel()


def _nobody(ref: Ref) -> None:
    """Nobody listens."""
