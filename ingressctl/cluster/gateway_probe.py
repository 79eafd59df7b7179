"""Asks gateways whether they follow the routes of owners that wait for their first Ready.

One task an owner, which ends when every gateway said yes some times in a row; whoever waits is
woken then. A gateway that says no keeps the owner waiting, one that says nothing does not:
then time decides (writes.Bearings).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass

import aiohttp

from ingressctl.api.refs import Ref
from ingressctl.plan import probing
from ingressctl.plan.probing import Answer, Question

SECONDS = 2.0
ROUNDS = 3
"""So many in a row, each by a connection of its own: there may be several pods behind it."""
FIRST_PAUSE, LAST_PAUSE = 0.05, 2.0
UPSTREAM = "x-envoy-upstream-service-time"
"""Envoy's word that somebody behind it answered."""


@dataclass(slots=True)
class _Asked:
    """An owner that waits."""

    questions: tuple[Question, ...]
    task: asyncio.Task[None] | None = None
    answer: Answer | None = None


class Prober:
    """The owners that wait, and what was answered for them last."""

    def __init__(self, wake: Callable[[Ref], None]) -> None:
        self._wake = wake
        self._asked: dict[Ref, _Asked] = {}

    def answer(self, ref: Ref) -> Answer | None:
        """The last answer: the first no, else yes. None while there is none."""
        found = self._asked.get(ref)
        return found.answer if found else None

    def watch(self, ref: Ref, questions: tuple[Question, ...], *, anew: bool) -> None:
        """Ask until all say yes. `anew`: what was answered before is about older routes."""
        found = self._asked.get(ref)
        if found is not None and found.questions == questions and not anew:
            return
        self.forget(ref)
        if questions:
            asked = self._asked[ref] = _Asked(questions)
            asked.task = asyncio.create_task(self._ask(ref, asked))

    def forget(self, ref: Ref) -> None:
        """The owner waits no more."""
        found = self._asked.pop(ref, None)
        if found is not None and found.task is not None:
            found.task.cancel()

    async def stop(self) -> None:
        """Ask nobody any more."""
        tasks = [found.task for found in self._asked.values() if found.task]
        for ref in list(self._asked):
            self.forget(ref)
        for task in tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _ask(self, ref: Ref, asked: _Asked) -> None:
        pause, rounds = FIRST_PAUSE, 0
        timeout = aiohttp.ClientTimeout(total=SECONDS)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            while True:
                answer = await _round(session, asked.questions)
                rounds = rounds + 1 if answer.follows else 0
                if rounds == ROUNDS:
                    asked.answer = answer
                    self._wake(ref)
                    return
                if not rounds:
                    asked.answer = answer
                await asyncio.sleep(pause)
                pause = min(LAST_PAUSE, pause * 1.5)


async def _round(session: aiohttp.ClientSession, questions: tuple[Question, ...]) -> Answer:
    """The first answer that is no yes, else the last one."""
    answer = Answer("", follows=True)
    for question in questions:
        answer = await _one(session, question)
        if not answer.follows:
            break
    return answer


async def _one(session: aiohttp.ClientSession, question: Question) -> Answer:
    """A GET at the root, which follows no redirect and keeps no connection."""
    headers = {"Host": question.host, "Connection": "close"}
    url = f"http://{question.address}/"
    try:
        async with session.get(url, headers=headers, allow_redirects=False) as response:
            by_model = UPSTREAM in response.headers
            return probing.judged(question, response.status, by_model=by_model)
    except (aiohttp.ClientError, TimeoutError, OSError) as fault:
        return probing.unanswered(question, str(fault) or type(fault).__name__)
