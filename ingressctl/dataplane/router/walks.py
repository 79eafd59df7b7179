"""What happens to one request on its way through a graph, for a person who asks.

An engine that is made with somebody to tell tells it; any other has none of this in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from ingressctl.dataplane.router.faults import Failed
from ingressctl.dataplane.router.ports import Answer
from ingressctl.dataplane.router.steps import Payload, Run, Step


class Telling(Protocol):
    """Who is told. Steps are called by their name, or their index."""

    def skipped(self, node: str, step: str, why: str) -> None:
        """A step was not taken."""
        ...

    def taken(self, node: str, step: str, why: str) -> None:
        """A step was taken, or decides what its node answers."""
        ...

    def asked(self, node: str, step: str, body: bytes) -> None:
        """A step gets a body."""
        ...

    def answered(self, node: str, step: str, status: int, body: bytes) -> None:
        """It gave an answer; of one that streams the body is not known."""
        ...

    def failed(self, node: str, step: str, why: str) -> None:
        """It gave none."""
        ...


class Told:
    """A step of which is told what it gets and gives."""

    __slots__ = ("name", "node", "step", "telling")

    def __init__(self, step: Step, node: str, name: str, telling: Telling) -> None:
        self.step = step
        self.node = node
        self.name = name
        self.telling = telling

    async def run(self, run: Run, payload: Payload, *, stream: bool) -> Answer:
        """See Step."""
        self.telling.asked(self.node, self.name, payload.body)
        try:
            answer = await self.step.run(run, payload, stream=stream)
        except Failed as failed:
            self.telling.failed(self.node, self.name, failed.cause)
            raise
        self.telling.answered(self.node, self.name, answer.status, answer.body)
        return answer


Kind = Literal["skipped", "taken", "asked", "answered", "failed"]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened: why (skipped, taken, failed), or the body that went."""

    kind: Kind
    node: str
    step: str
    why: str = ""
    status: int = 0
    body: bytes = b""


class Walk:
    """A request's way, event by event. See Telling."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def skipped(self, node: str, step: str, why: str) -> None:
        """See Telling."""
        self.events.append(Event("skipped", node, step, why))

    def taken(self, node: str, step: str, why: str) -> None:
        """See Telling."""
        self.events.append(Event("taken", node, step, why))

    def asked(self, node: str, step: str, body: bytes) -> None:
        """See Telling."""
        self.events.append(Event("asked", node, step, body=body))

    def answered(self, node: str, step: str, status: int, body: bytes) -> None:
        """See Telling."""
        self.events.append(Event("answered", node, step, status=status, body=body))

    def failed(self, node: str, step: str, why: str) -> None:
        """See Telling."""
        self.events.append(Event("failed", node, step, why))
