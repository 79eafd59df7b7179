"""The kinds of node: how the steps of each are run (spec/inferencegraph.md 11).

What depends on `compat` is decided when a graph is made, in `Manner`; a request only
follows it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from ingressctl.api import gjson
from ingressctl.core.differences import Compat
from ingressctl.dataplane.router import bodies, faults, looking, packing, reference
from ingressctl.dataplane.router.faults import Failed
from ingressctl.dataplane.router.ports import Answer, NoAnswer
from ingressctl.dataplane.router.propagation import ENTITY
from ingressctl.dataplane.router.steps import Payload, Run, Step

MAX_DEPTH = 64
"""Nodes of a loop that one request enters; only under kserve there are loops (IG-D1)."""


@dataclass(frozen=True, slots=True)
class Manner:
    """Where nodes differ from the reference."""

    soft_calls: bool  # IG-D9
    keeps_status: bool  # IG-D10
    keeps_fields: bool  # IG-D12
    splices: bool  # IG-D13
    hands_on: bool  # IG-D17
    shares: bool  # IG-D19
    decides_at_once: bool  # IG-D29
    knows_type: bool  # IG-D32
    refuses_no_json: bool  # IG-D33
    has_default: bool  # IG-D35

    @staticmethod
    def of(compat: Compat) -> Manner:
        """The manner of a `compat`."""
        return Manner(
            soft_calls=compat.differs("IG-D9"),
            keeps_status=compat.differs("IG-D10"),
            keeps_fields=compat.differs("IG-D12"),
            splices=compat.differs("IG-D13"),
            hands_on=compat.differs("IG-D17"),
            shares=compat.differs("IG-D19"),
            decides_at_once=compat.differs("IG-D29"),
            knows_type=compat.differs("IG-D32"),
            refuses_no_json=compat.differs("IG-D33"),
            has_default=compat.differs("IG-D35"),
        )

    def tolerates(self, failed: Failed, run: Run) -> bool:
        """Whether a Soft step may fail like this, as if it had answered with a status.

        Not when the time of the request is over: then nobody waits for what is left.
        """
        if failed.kind == "step":
            return self.soft_calls and not (failed.status == 504 and run.is_over())
        return failed.kind in ("route", "input") and self.keeps_status

    def payload(self, answer: Answer) -> Payload:
        """An answer as what the next step gets."""
        if not self.hands_on:
            return Payload(answer.body, ())
        return Payload(answer.body, [field for field in answer.headers if field[0] in ENTITY])


@dataclass(frozen=True, slots=True)
class Entry:
    """One step of a node, with what the node asks of it."""

    step: Step
    name: str
    hard: bool = False
    condition: gjson.Condition | None = None
    from_answer: bool = False
    maps: bool = False
    weight: int | None = None


class Telling:
    """Whom a node tells what it decided; `explain` listens, a router does not."""

    def skipped(self, node: str, step: str, why: str) -> None:
        """A step was not taken."""

    def taken(self, node: str, step: str, why: str) -> None:
        """A step was taken, or ended its node."""


class Steps:
    """What the kinds of node have in common: their steps, and whom they tell of them."""

    __slots__ = ("entries", "manner", "name", "telling")

    def __init__(
        self, name: str, entries: Sequence[Entry], manner: Manner, telling: Telling | None
    ) -> None:
        self.name = name
        self.entries = tuple(entries)
        self.manner = manner
        self.telling = telling

    def _tell(self, entry: Entry, why: str) -> None:
        if self.telling is not None:
            self.telling.taken(self.name, entry.name, why)


class Sequence_(Steps):  # noqa: N801 - Sequence is a type of Python
    """One step after the other; the last one that ran gives the answer."""

    __slots__ = ()

    async def run(self, run: Run, payload: Payload, *, stream: bool) -> Answer:
        """See Step."""
        last: Answer | None = None
        final = len(self.entries) - 1
        for index, entry in enumerate(self.entries):
            if entry.condition is not None and not self._goes_on(entry, last):
                self._tell_left_out(index, f"{entry.name} before it was not taken")
                return self._unmet(last)
            given = payload
            if entry.from_answer and last is not None:
                given = self.manner.payload(last)
            if entry.maps:
                given = self._mapped(given)
            try:
                last = await self._step(entry, run, given, stream=stream and index == final)
            except Failed:
                self._tell_left_out(index, f"{entry.name} before it failed")
                raise
            if entry.hard and not 200 <= last.status < 300:
                self._tell(entry, "it is Hard and failed: its answer is that of the node")
                self._tell_left_out(index, f"{entry.name} before it failed")
                return last
        if last is None:
            raise NoAnswer
        return last

    def _tell_left_out(self, index: int, why: str) -> None:
        if self.telling is not None:
            for entry in self.entries[index + 1 :]:
                self.telling.skipped(self.name, entry.name, why)

    async def _step(self, entry: Entry, run: Run, payload: Payload, *, stream: bool) -> Answer:
        try:
            return await entry.step.run(run, payload, stream=stream)
        except Failed as failed:
            if entry.hard or not self.manner.tolerates(failed, run):
                raise
            return faults.answer(failed.status, failed.cause)

    def _goes_on(self, entry: Entry, last: Answer | None) -> bool:
        """Whether the answer before meets the condition of a step."""
        assert entry.condition is not None
        try:
            body = b"" if last is None else looking.into_answer(last)
            met = entry.condition.exists(body)
        except (gjson.NotJson, packing.Unreadable) as error:
            raise self._unreadable(entry, error) from None
        if self.telling is not None:
            tell = self.telling.taken if met else self.telling.skipped
            tell(self.name, entry.name, f"condition {entry.condition.text}")
        return met

    def _unreadable(self, entry: Entry, error: Exception) -> Failed:
        if not self.manner.keeps_status:
            return Failed("graph", 500, "invalid response")
        why = looking.why(error)
        cause = f'step "{entry.name}" has a condition, and the answer before it is {why}'
        return Failed("graph", 502, cause)

    def _unmet(self, last: Answer | None) -> Answer:
        assert last is not None
        if self.manner.keeps_status:
            return last
        kept = [field for field in last.headers if field[0] != b"location"]  # of a status gone
        return Answer(200, kept, last.body)

    def _mapped(self, payload: Payload) -> Payload:
        try:
            body = looking.into(payload)
        except packing.Unreadable:
            return payload
        changed = bodies.mapped(body) if self.manner.keeps_fields else reference.mapped(body)
        if changed is body:
            return payload
        kept = [field for field in payload.entity if field[0] == b"content-type"]
        return Payload(changed, kept, payload.largest)


class Switch(Steps):
    """The first step whose condition the request meets."""

    __slots__ = ("default", "fixed")

    def __init__(
        self,
        name: str,
        entries: Sequence[Entry],
        manner: Manner,
        telling: Telling | None,
        *,
        is_root: bool,
    ) -> None:
        asked = [entry for entry in entries if entry.condition is not None]
        super().__init__(name, asked, manner, telling)
        self.fixed = is_root
        others = [entry for entry in entries if entry.condition is None]
        self.default = others[0] if others and manner.has_default else None

    async def run(self, run: Run, payload: Payload, *, stream: bool) -> Answer:
        """See Step."""
        entry = self._chosen(payload)
        return await entry.step.run(run, payload, stream=stream)

    def _chosen(self, payload: Payload) -> Entry:
        try:
            document = gjson.Document(looking.into(payload))
            for entry in self.entries:
                assert entry.condition is not None
                if entry.condition.holds(document):
                    self._tell(entry, f"condition {entry.condition.text}")
                    return entry
                if self.telling is not None:
                    self.telling.skipped(self.name, entry.name, f"condition {entry.condition.text}")
        except (gjson.NotJson, packing.Unreadable) as error:
            if self.manner.refuses_no_json:
                why = looking.why(error)
                cause = f"the request is {why}, and the conditions of a Switch look into it"
                raise Failed("input", 400, cause, fixed=True) from None
            raise self._no_match() from None
        if self.default is None:
            raise self._no_match()
        self._tell(self.default, "no condition held")
        return self.default

    def _no_match(self) -> Failed:
        cause = "None of the routes matched with the switch condition"
        return Failed("route", 404, cause, fixed=self.fixed)


class Splitter(Steps):
    """One step by chance, as its weight is."""

    __slots__ = ("bounds", "random", "total")

    def __init__(
        self,
        name: str,
        entries: Sequence[Entry],
        manner: Manner,
        telling: Telling | None,
        *,
        random: Callable[[], float],
    ) -> None:
        super().__init__(name, entries, manner, telling)
        self.random = random
        self.bounds = tuple(accumulate(entry.weight or 0 for entry in entries))
        total = self.bounds[-1] if self.bounds else 0
        self.total = float(total) if manner.shares else 100.0

    async def run(self, run: Run, payload: Payload, *, stream: bool) -> Answer:
        """See Step."""
        place = bisect_right(self.bounds, self.random() * self.total)
        if place == len(self.entries):
            raise Failed("graph", 500, "no route was selected by the splitter")
        entry = self.entries[place]
        if self.telling is not None:
            self.telling.taken(self.name, entry.name, f"weight {entry.weight} of {self.total:g}")
        return await entry.step.run(run, payload, stream=stream)


class WithoutWeight(Splitter):
    """A Splitter with a step that has no weight: the reference panics."""

    __slots__ = ()

    async def run(self, run: Run, payload: Payload, *, stream: bool) -> Answer:
        """See Step."""
        raise NoAnswer


class Inner:
    """A step that is a node of the graph."""

    __slots__ = ("bounded", "node")

    def __init__(self) -> None:
        self.node: Step
        self.bounded = False

    async def run(self, run: Run, payload: Payload, *, stream: bool) -> Answer:
        """See Step."""
        if self.bounded:
            run.entered[0] += 1
            if run.entered[0] > MAX_DEPTH:
                raise NoAnswer
        return await self.node.run(run, payload, stream=stream)
