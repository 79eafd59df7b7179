"""An Ensemble: all steps at a time, and one object of their answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ingressctl.api import gjson
from ingressctl.dataplane.router import bodies, faults, packing, reference
from ingressctl.dataplane.router.faults import Failed
from ingressctl.dataplane.router.nodes import Entry, Manner, Steps, Telling
from ingressctl.dataplane.router.ports import Answer
from ingressctl.dataplane.router.propagation import ENTITY
from ingressctl.dataplane.router.steps import Payload, Run

Task = asyncio.Task[Answer]

_OF_MEMBER = ENTITY | {b"location"}
"""What is about the body or the status of one answer, which the merged one has not."""


class Decided(Exception):
    """A Hard step has failed: its answer is that of the node."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


class Ensemble(Steps):
    """See the module. A Hard step that fails decides, and the rest is cancelled."""

    __slots__ = ("keys",)

    def __init__(
        self, name: str, entries: Sequence[Entry], manner: Manner, telling: Telling | None
    ) -> None:
        super().__init__(name, entries, manner, telling)
        self.keys = tuple(bodies.key(entry.name) for entry in entries)

    async def run(self, run: Run, payload: Payload, *, stream: bool) -> Answer:
        """See Step."""
        loop = asyncio.get_running_loop()
        tasks = [loop.create_task(self._member(entry, run, payload)) for entry in self.entries]
        try:
            if self.manner.decides_at_once:
                answers = await asyncio.gather(*tasks)
            else:
                answers = await self._in_order(tasks)
        except Decided as decided:
            return decided.answer
        finally:
            _end(tasks)
        return self._merged(answers)

    async def _member(self, entry: Entry, run: Run, payload: Payload) -> Answer:
        """The answer of one step, its body as the value that is merged."""
        try:
            answer = await entry.step.run(run, payload, stream=False)
        except Failed as failed:
            if entry.hard or not self.manner.tolerates(failed, run):
                raise
            return Answer(failed.status, (), faults.member(failed))
        failing = entry.hard and not 200 <= answer.status < 300
        if failing and self.manner.decides_at_once:
            raise Decided(self._deciding(entry, answer))
        if not failing or not self.manner.splices:
            answer.body = self._value(entry, answer)
        return answer

    def _value(self, entry: Entry, answer: Answer) -> bytes:
        body = _readable(entry, answer)
        if self.manner.soft_calls:
            body = bodies.as_value(body)
        elif not _is_object(body):
            raise _no_object(entry)
        if self.manner.splices:
            return gjson.in_utf8(body)  # or it would spoil the object for all readers
        try:
            return reference.again(body)
        except ValueError:
            raise _no_object(entry) from None

    def _deciding(self, entry: Entry, answer: Answer) -> Answer:
        self._tell(entry, "it is Hard and failed: it decides")
        if not self.manner.splices:
            answer.body = self._value(entry, answer)
        return answer

    async def _in_order(self, tasks: list[Task]) -> list[Answer]:
        """The answers in the order of the steps; an error of any of them ends it."""
        waiting = set(tasks)
        for entry, task in zip(self.entries, tasks, strict=True):
            while not task.done():
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for other in done:
                    other.result()
            if entry.hard and not 200 <= task.result().status < 300:
                raise Decided(task.result())
        return [task.result() for task in tasks]

    def _merged(self, answers: Sequence[Answer]) -> Answer:
        members = list(zip(self.keys, (answer.body for answer in answers), strict=True))
        if not self.manner.splices:  # the last one of a name counts, and names are sorted
            members = sorted(dict(members).items())
        handed_on = [
            field for answer in answers for field in answer.headers if field[0] not in _OF_MEMBER
        ]
        return Answer(200, [faults.JSON, *handed_on], bodies.merged(members))


def _end(tasks: list[Task]) -> None:
    """Cancel what still runs; an error that nobody waits for any more is not told as lost.

    The tasks are forgotten: an error keeps the frame that it came through, which would keep
    the task with the error in turn, and with both all bodies until somebody looks for circles.
    """
    for task in tasks:
        if not task.done():
            task.cancel()
        elif not task.cancelled():
            task.exception()
    tasks.clear()


def _readable(entry: Entry, answer: Answer) -> bytes:
    packed = bodies.coding(answer.headers)
    try:
        return bodies.unpacked(answer.body, packed) if packed else answer.body
    except packing.Unreadable as error:
        raise Failed(
            "step", 502, f"step {entry.name}: its answer cannot be read: {error}"
        ) from None


def _no_object(entry: Entry) -> Failed:
    return Failed("graph", 500, f"step {entry.name}: cannot decode its answer as a JSON object")


def _is_object(body: bytes) -> bool:
    start = body.lstrip()[:4]
    return (start[:1] == b"{" or start == b"null") and gjson.is_json(body)
