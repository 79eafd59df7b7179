"""One kind in one place, followed: listed in pages, then watched, for ever.

A cut stream, a stream that falls silent, an expired resourceVersion, a busy server, a CRD
that is not there yet or any more, a right that is missing: each leads back to a list or a
watch after a while, none needs a restart. What is known stays known meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.cluster import answers, decoding
from ingressctl.cluster.answers import Answered
from ingressctl.cluster.backoff import Backoff
from ingressctl.cluster.client import Client, Lost, wait
from ingressctl.plan.kinds import Resource

State = Literal["starting", "live", "absent", "forbidden", "failing"]
"""`live` has a whole list; `absent` is not served; the others have no list, or an old one."""

SILENCE = 90.0
"""Seconds without a line after which a watch counts as dead: bookmarks come every minute."""

WATCH_SECONDS = (240, 480)
"""How long a watch is asked for, at random between these, so that not all end at once."""

ABSENT_AGAIN = 10.0
"""Seconds until a kind that is not served is looked for again."""


class Listener(Protocol):
    """What an informer tells."""

    def put(self, obj: Raw, *, whatever_was: bool = False) -> None:
        """An object came or changed; `whatever_was`: the server is at an earlier state, as after
        the restore of a backup, so that a lower version is no old news."""
        ...

    def remove(self, ref: Ref, version: str) -> None:
        """An object is gone, as of a resourceVersion."""
        ...

    def known(self, resource: Resource, namespace: str) -> tuple[Ref, ...]:
        """The objects of a kind in a namespace ("": everywhere) that are known so far."""
        ...

    def state(self, informer: Informer, state: State, message: str) -> None:
        """The list became whole, or the kind cannot be read for now."""
        ...


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds that tests shorten."""

    silence: float = SILENCE
    absent_again: float = ABSENT_AGAIN
    first_retry: float = 0.2
    most_retry: float = 30.0


class Informer:
    """Follows `resource` in `namespace` ("": everywhere) until `ended`."""

    def __init__(
        self,
        client: Client,
        resource: Resource,
        namespace: str,
        listener: Listener,
        timing: Timing,
    ) -> None:
        self.resource = resource
        self.namespace = namespace
        self.now: State = "starting"
        self._client = client
        self._listener = listener
        self._timing = timing
        self._backoff = Backoff(timing.first_retry, timing.most_retry)
        self.offered: frozenset[str] = frozenset()
        """The versions that the server has of the group."""
        self._version = self._last = ""
        self._path = ""
        self._head: Mapping[str, str] = {}

    @property
    def reached(self) -> int:
        """The version up to which everything was told; 0 where none is known, or is no number."""
        return int(self._version) if self._version.isdecimal() else 0

    async def run(self, ended: asyncio.Event) -> None:
        """List, watch, and again."""
        while not ended.is_set():
            try:
                await self._list()
                await self._follow(ended)
                delay = 0.0
            except Answered as answered:
                delay = self._answered(answered)
            except Lost as lost:
                self._tell("failing", str(lost))
                delay = self._backoff.next()
            if delay and await wait(delay, ended):
                return

    async def _list(self) -> None:
        """The whole list; only when its last page is there are others taken away."""
        before, self._version = self._version or self._last, ""
        found: set[Ref] = set()
        served = await self._served()
        self._head = {"apiVersion": self.resource.api_version(served), "kind": self.resource.kind}
        self._path = self.resource.path(served, self.namespace)
        async for items, version in self._client.pages(self._path):
            for item in items:
                obj = {**self._head, **item}
                found.add(ref_of(obj))
                self._listener.put(obj, whatever_was=_went_back(before, version))
            self._version = self._last = version
            await asyncio.sleep(0)
        as_of = before if _went_back(before, self._version) else self._version
        for ref in self._listener.known(self.resource, self.namespace):
            if ref not in found:
                self._listener.remove(ref, as_of)
        self._tell("live", "")

    async def _served(self) -> str:
        """The first of our versions that the server has."""
        group, versions = self.resource.group, self.resource.versions
        if not group:
            return versions[0]
        body = await self._client.get(f"/apis/{group}")
        self.offered = frozenset(str(item.get("version")) for item in body.get("versions") or ())
        version = next((item for item in versions if item in self.offered), "")
        if not version:
            raise Answered(answers.NOT_FOUND, f"{group} is served in no version that is known")
        return version

    async def _follow(self, ended: asyncio.Event) -> None:
        """Watch after watch from the version that is reached, until it has expired."""
        while not ended.is_set():
            query = {
                "resourceVersion": self._version,
                "allowWatchBookmarks": "true",
                "timeoutSeconds": str(random.randint(*WATCH_SECONDS)),
            }
            before, delay = self._version, 0.0
            try:
                lines = self._client.watch(self._path, query, silence=self._timing.silence)
                async with contextlib.aclosing(lines):
                    async for line in lines:
                        self._line(line)
            except Answered as answered:
                if answered.status not in answers.PASSING:
                    raise  # expired, forbidden or gone: the list tells more
                delay = self._backoff.next(answered.retry_after)
            except Lost:
                delay = self._backoff.next()
            if not delay and self._version == before:
                delay = self._backoff.next()  # an end at once, again and again, is no progress
            if delay and await wait(delay, ended):
                return

    def _line(self, line: bytes) -> None:
        """One event. Raises Answered for one that ends the watch."""
        try:
            event: dict[str, Any] = decoding.event(line)
            kind, obj = event["type"], event["object"]
        except (ValueError, KeyError, TypeError):
            raise Lost("half an event came") from None
        if kind == "ERROR":
            code = int(obj.get("code") or 0) or answers.GONE
            raise Answered(code, str(obj.get("message") or "the watch failed"))
        # A list alone is no progress: where watches are refused it would be the next hot loop.
        self._backoff.reset()
        self._version = str((obj.get("metadata") or {}).get("resourceVersion") or self._version)
        if kind == "DELETED":
            self._listener.remove(ref_of({**self._head, **obj}), self._version)
        elif kind in ("ADDED", "MODIFIED"):
            self._listener.put({**self._head, **obj})

    def _answered(self, answered: Answered) -> float:
        """What an answer means for the kind; seconds until another try."""
        if answered.status == answers.NOT_FOUND:
            self._tell("absent", answered.message)
            return self._timing.absent_again
        if answered.status == answers.GONE:
            return self._backoff.next()
        state: State = "forbidden" if answered.status == answers.FORBIDDEN else "failing"
        self._tell(state, answered.message)
        return self._backoff.next(answered.retry_after)

    def _tell(self, state: State, message: str) -> None:
        before, self.now = self.now, state
        if state != before:
            self._listener.state(self, state, message)


def _went_back(before: str, version: str) -> bool:
    """Whether a list is of a lower version than what was followed before."""
    try:
        return bool(before) and int(version) < int(before)
    except ValueError:  # versions are opaque in principle
        return False
