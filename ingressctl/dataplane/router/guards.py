"""What an author asks for beside a call: repeats, a fallback, fewer calls at a time, less time.

Each stands around a step, and only where it is asked for.
"""

from __future__ import annotations

import asyncio

from ingressctl.dataplane.router import faults, wire
from ingressctl.dataplane.router.faults import Failed
from ingressctl.dataplane.router.limits import Gate, Released
from ingressctl.dataplane.router.ports import Answer, Series, StepFailed
from ingressctl.dataplane.router.steps import Calling, Payload, Run, Step


class Retried:
    """A call that is tried again when it certainly did not run, or the author allows it."""

    __slots__ = ("attempts", "backoff", "call", "series", "statuses")

    def __init__(
        self,
        call: Calling,
        *,
        attempts: int,
        backoff: float,
        statuses: frozenset[int],
        series: Series | None,
    ) -> None:
        self.call = call
        self.attempts = attempts
        self.backoff = backoff
        self.statuses = statuses
        self.series = series

    async def run(self, run: Run, payload: Payload, *, stream: bool) -> Answer:
        """See Step."""
        pause = self.backoff
        for _ in range(self.attempts):
            try:
                answer = await self.call.ask(run, payload, stream=stream)
            except StepFailed as failed:
                if failed.sent or failed.failure == "late" or not self._has_time(run, pause):
                    raise faults.of_call(failed, self.call.label) from None
            else:
                if answer.status not in self.statuses or not self._has_time(run, pause):
                    return answer
                await given_up(answer)
            await asyncio.sleep(pause)
            pause *= 2
            if self.series is not None:
                self.series.retried()
        return await self.call.run(run, payload, stream=stream)

    def _has_time(self, run: Run, pause: float) -> bool:
        return run.until is None or asyncio.get_running_loop().time() + pause < run.until


class Gated(Calling):
    """A call of which only some are in flight at a time."""

    __slots__ = ("call", "gate", "label")

    def __init__(self, call: Calling, gate: Gate) -> None:
        self.call = call
        self.gate = gate
        self.label = call.label

    async def ask(self, run: Run, payload: Payload, *, stream: bool) -> Answer:
        """Wait for a place, call, and give the place back when the answer is whole."""
        if not await self.gate.enter(run.until):
            raise StepFailed("late", "the time was over while others were served", sent=False)
        try:
            answer = await self.call.ask(run, payload, stream=stream)
        except BaseException:
            self.gate.leave()
            raise
        if answer.stream is None:
            self.gate.leave()
        else:
            answer.stream = Released(answer.stream, self.gate)
        return answer


class WithFallback:
    """A step, and another one that is asked when it has failed for good."""

    __slots__ = ("other", "series", "statuses", "step")

    def __init__(
        self, step: Step, other: Step, *, statuses: frozenset[int], series: Series | None
    ) -> None:
        self.step = step
        self.other = other
        self.statuses = statuses
        self.series = series

    async def run(self, run: Run, payload: Payload, *, stream: bool) -> Answer:
        """See Step."""
        try:
            answer = await self.step.run(run, payload, stream=stream)
        except Failed as failed:
            if failed.kind == "input":
                raise
        else:
            if answer.status < 500 and answer.status not in self.statuses:
                return answer
            await given_up(answer)
        if self.series is not None:
            self.series.fell_back()
        return await self.other.run(run, payload, stream=stream)


class Within:
    """A step that is a node, with a time limit of its own."""

    __slots__ = ("seconds", "step")

    def __init__(self, step: Step, seconds: float) -> None:
        self.step = step
        self.seconds = seconds

    async def run(self, run: Run, payload: Payload, *, stream: bool) -> Answer:
        """See Step."""
        until = asyncio.get_running_loop().time() + self.seconds
        return await self.step.run(run.sooner(until), payload, stream=stream)


async def given_up(answer: Answer) -> None:
    """Nobody takes the answer: a stream of it is closed."""
    if answer.stream is not None:
        await wire.closed(answer.stream)
