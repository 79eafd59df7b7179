"""Objects followed for somebody who waits: read only, until they are as wanted or time is up.

Each kind is listed, then watched from there. A stream that ends or is cut is opened again where
it stopped; a place that the API server has forgotten (410) means listing anew. Who may list and
not watch gets a list every other second. Nothing is ever written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import orjson
from kubernetes.aio.client.api_client import ApiClient

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.cluster import decoding
from ingressctl.cluster.answers import FORBIDDEN, GONE, Answered
from ingressctl.cluster.backoff import Backoff
from ingressctl.cluster.connection import Choice, Unusable, connect
from ingressctl.cluster.reader import PASSING, Reader, version_of
from ingressctl.cluster.readonly import AT_ONCE, HOME, Question, Refused, unusable
from ingressctl.plan.kinds import Resource

STREAM = 300
"""Seconds after which the API server is asked to end a stream, so that none is dead unseen."""
GRACE = 30
TOGETHER = 0.05
"""Seconds in which changes are gathered: one write of a controller is seldom alone."""
POLL = 2.0
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0


@dataclass(frozen=True, slots=True)
class Seen:
    """All followed objects at one moment, and what of them may not be read or watched."""

    objects: tuple[Raw, ...]
    refused: tuple[Refused, ...]


See = Callable[[Seen], bool]
"""Looks at what is there; True ends the following."""


def follow(
    questions: Iterable[Question], choice: Choice, see: See, *, seconds: float, home: str
) -> bool:
    """Shows `see` what is there, at first and after changes, until it is content.

    False when that was not within `seconds`. Raises Unusable if the cluster cannot be asked
    at the beginning; later faults pass, or the time does.
    """
    return asyncio.run(_follow(tuple(questions), choice, see, seconds, home))


async def _follow(
    questions: tuple[Question, ...], choice: Choice, see: See, seconds: float, home: str
) -> bool:
    connection = await connect(choice)
    begun = False
    try:
        async with (
            asyncio.timeout(seconds),
            ApiClient(configuration=connection.configuration) as client,
        ):
            slots = await _begin(questions, Reader(client, choice), home)
            begun = True
            return await _until(slots, see)
    except TimeoutError:
        if begun:
            return False
        host = connection.configuration.host
        raise Unusable(f"the cluster at {host} did not answer within {seconds:g} s") from None
    except (aiohttp.ClientError, OSError, Answered) as fault:
        raise unusable(fault, connection) from None


async def _begin(questions: tuple[Question, ...], reader: Reader, home: str) -> list[_Slot]:
    """Every kind that is served, listed once. Raises Answered."""
    served = await reader.served()
    changed = asyncio.Event()
    slots = [
        _Slot(reader, item.resource, version, home if space == HOME else space, changed)
        for item in questions
        if (version := version_of(item.resource, served))
        for space in item.namespaces or ("",)
    ]
    limit = asyncio.Semaphore(AT_ONCE)

    async def first(slot: _Slot) -> None:
        async with limit:
            await slot.list()

    tried = await asyncio.gather(*map(first, slots), return_exceptions=True)
    for fault in tried:
        if fault is not None:
            raise fault
    return slots


async def _until(slots: list[_Slot], see: See) -> bool:
    """Watches every slot until `see` is content."""
    changed = slots[0].changed if slots else asyncio.Event()
    tasks = [asyncio.create_task(slot.keep()) for slot in slots if slot.is_readable]
    try:
        while not see(_seen(slots)):
            await changed.wait()
            await asyncio.sleep(TOGETHER)
            changed.clear()
            _raise_fault(tasks)
        return True
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _raise_fault(tasks: Iterable[asyncio.Task[None]]) -> None:
    """A slot ends only by a fault of this program, which must not look like patience."""
    for task in tasks:
        if task.done() and not task.cancelled():
            task.result()


def _seen(slots: Iterable[_Slot]) -> Seen:
    slots = tuple(slots)
    return Seen(
        tuple(obj for slot in slots for obj in slot.objects.values()),
        tuple(slot.refused for slot in slots if slot.refused is not None),
    )


class _Again(Exception):
    """The place in the stream is forgotten: list anew."""


@dataclass(slots=True)
class _Slot:
    """The objects of one kind in one namespace, kept as the API server tells them."""

    reader: Reader
    resource: Resource
    version: str
    namespace: str
    changed: asyncio.Event
    objects: dict[Ref, Raw] = field(default_factory=dict)
    at: str = ""
    refused: Refused | None = None
    is_readable: bool = True
    may_watch: bool = True

    async def list(self) -> None:
        """Everything as it is now. A list that may not be read is remembered. Raises Answered."""
        try:
            found, self.at = await self.reader.snapshot(self.resource, self.version, self.namespace)
        except Answered as fault:
            if fault.status != FORBIDDEN:
                raise
            self.refused = Refused(self.resource, self.namespace, fault.message)
            self.is_readable = False
            return
        self.objects = {ref_of(obj): obj for obj in found}
        self.changed.set()

    async def keep(self) -> None:
        """Follows for ever; pauses grow while the API server does not answer."""
        backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        while True:
            try:
                if self.may_watch:
                    await self._watch()
                else:
                    await asyncio.sleep(POLL)
                    await self.list()
                backoff.reset()
            except _Again:
                self.at = ""
            except Answered as fault:
                self._learn(fault)
                await asyncio.sleep(backoff.next())
            except (aiohttp.ClientError, OSError, ValueError):
                await asyncio.sleep(backoff.next())  # a cut stream goes on where it stopped

    def _learn(self, fault: Answered) -> None:
        """A watch that is not allowed is replaced by lists; what passes is asked again."""
        if fault.status == FORBIDDEN and self.may_watch:
            self.may_watch = False
            self.refused = Refused(self.resource, self.namespace, fault.message, verb="watch")
            self.changed.set()
        elif fault.status not in PASSING and fault.status != FORBIDDEN:
            self.at = ""

    async def _watch(self) -> None:
        """One stream to its end, after a list where the place is lost. Raises _Again, Answered."""
        if not self.at:
            await self.list()
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self.at,
            "timeoutSeconds": str(STREAM),
        }
        path = self.resource.path(self.version, self.namespace)
        try:
            async with self.reader.open(path, query, timeout=STREAM + GRACE) as answer:
                async for line in decoding.lines(answer.content):
                    self._take(orjson.loads(line))
        except Answered as fault:
            if fault.status == GONE:
                raise _Again from None
            raise

    def _take(self, event: dict[str, Any]) -> None:
        """One event. Raises _Again, Answered."""
        kind, obj = event.get("type"), event.get("object") or {}
        if kind == "ERROR":
            code = int(obj.get("code") or 0)
            if code == GONE:
                raise _Again
            raise Answered(code, str(obj.get("message") or "the stream ended"))
        self.at = str((obj.get("metadata") or {}).get("resourceVersion") or self.at)
        if kind == "BOOKMARK":
            return
        if kind == "DELETED":
            self.objects.pop(ref_of(obj), None)
        else:
            self.objects[ref_of(obj)] = obj
        self.changed.set()
