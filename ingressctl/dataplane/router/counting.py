"""What is counted of a router: requests, and calls of each step.

Counting is on the way of every call: a dict, a list and a sum, no labels looked up and no
lock. Numbers become text when somebody asks, over all worker processes (sharing.py).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

import msgspec

from ingressctl.dataplane.router.ports import Outcome, Request

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of the buckets; one more is for what took longer."""


class Tally:
    """A Series of one step, or of the graph."""

    __slots__ = ("_codes", "buckets", "fallbacks", "in_flight", "retries", "total")

    def __init__(self) -> None:
        self._codes: dict[Outcome, int] = {}
        self.buckets = [0] * (len(SECONDS) + 1)
        self.in_flight = self.retries = self.fallbacks = 0
        self.total = 0.0

    def begin(self) -> None:
        """A call is sent."""
        self.in_flight += 1

    def end(self, outcome: Outcome, seconds: float) -> None:
        """It is over."""
        self.in_flight -= 1
        self._codes[outcome] = self._codes.get(outcome, 0) + 1
        self.buckets[bisect_left(SECONDS, seconds)] += 1
        self.total += seconds

    def refused(self, status: Outcome) -> None:
        """One that was never sent: it took no time that would say anything."""
        self._codes[status] = self._codes.get(status, 0) + 1

    def retried(self) -> None:
        """It is sent again."""
        self.retries += 1

    def fell_back(self) -> None:
        """Its fallback is asked."""
        self.fallbacks += 1

    @property
    def codes(self) -> dict[str, int]:
        """How many calls ended how."""
        return {str(outcome): number for outcome, number in self._codes.items()}

    def row(self, node: str, step: str) -> Row:
        """The numbers of now."""
        return Row(
            node,
            step,
            self.in_flight,
            self.codes,
            list(self.buckets),
            self.total,
            self.retries,
            self.fallbacks,
        )

    def resume(self, row: Row) -> None:
        """Go on from what a process before had counted."""
        self._codes = {int(key) if key.isdecimal() else key: n for key, n in row.codes.items()}  # type: ignore[misc]
        self.buckets = list(row.buckets)
        self.total, self.retries, self.fallbacks = row.total, row.retries, row.fallbacks


class Row(msgspec.Struct, array_like=True):
    """The numbers of one step, or of the graph, whose node and step are ""."""

    node: str
    step: str
    in_flight: int
    codes: dict[str, int]
    buckets: list[int]
    total: float
    retries: int
    fallbacks: int

    def add(self, other: Row) -> None:
        """The numbers of another process besides."""
        self.in_flight += other.in_flight
        for code, number in other.codes.items():
            self.codes[code] = self.codes.get(code, 0) + number
        self.buckets = [one + two for one, two in zip(self.buckets, other.buckets, strict=True)]
        self.total += other.total
        self.retries += other.retries
        self.fallbacks += other.fallbacks


class Snapshot(msgspec.Struct, array_like=True):
    """All numbers of one process."""

    rows: list[Row]
    waiting: int = 0
    reloads: dict[str, int] = {}


class Counts:
    """The numbers of this process: an Observer for engines, a Watcher for the server."""

    def __init__(self) -> None:
        self._graph = Tally()
        self._steps: dict[tuple[str, str], Tally] = {}
        self.reloads = {"taken": 0, "refused": 0}
        self.waiting = 0

    def step(self, node: str, step: str) -> Tally:
        """The series of a step; a graph that is read again goes on with the old numbers."""
        return self._steps.setdefault((node, step), Tally())

    def begun(self) -> None:
        """A request for the graph is there."""
        self._graph.begin()

    def ended(
        self, request: Request, status: int, size: int, seconds: float, cause: str = ""
    ) -> None:
        """It was answered, or its client has left."""
        self._graph.end(status or "cancelled", seconds)

    def refused(self, status: int, cause: str, request: Request | None = None) -> None:
        """The server did not take it for the graph."""
        self._graph.refused(status or "cancelled")

    def snapshot(self) -> Snapshot:
        """The numbers of now."""
        rows = [self._graph.row("", "")]
        rows += [tally.row(*names) for names, tally in self._steps.items()]
        return Snapshot(rows, self.waiting, dict(self.reloads))

    def resume(self, snapshot: Snapshot) -> None:
        """Go on from the numbers of a process that this one stands in for."""
        for row in snapshot.rows:
            tally = self.step(row.node, row.step) if row.node else self._graph
            tally.resume(row)
        self.reloads.update(snapshot.reloads)


def total(snapshots: Iterable[Snapshot]) -> Snapshot:
    """The numbers of several processes."""
    rows: dict[tuple[str, str], Row] = {}
    waiting, reloads = 0, dict[str, int]()
    for snapshot in snapshots:
        waiting += snapshot.waiting
        for result, number in snapshot.reloads.items():
            reloads[result] = reloads.get(result, 0) + number
        for row in snapshot.rows:
            known = rows.get((row.node, row.step))
            if known is None:
                rows[row.node, row.step] = row
            else:
                known.add(row)
    return Snapshot(list(rows.values()), waiting, reloads)
