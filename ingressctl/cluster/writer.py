"""Carries plans out: applies, statuses, deletions, one owner at a time, stage by stage.

What the server answers is in the picture before the next look, so nothing is written twice
because a watch is late. A request that is refused stops what would come after it. Nothing is
sent while `may_write` says no: a replica that lost its lease falls silent at once, and lets go
of what it has begun.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ingressctl.api.refs import Kind, Raw, Ref, ref_of
from ingressctl.cluster import answers
from ingressctl.cluster.answers import Answered
from ingressctl.cluster.client import APPLY, MERGE, Client
from ingressctl.core import conditions, findings, managed
from ingressctl.core.outcome import Finding
from ingressctl.plan import kinds
from ingressctl.plan.contests import Contests, leftover, merge_patch
from ingressctl.plan.contests import Step as How
from ingressctl.plan.leaving import Delete
from ingressctl.plan.status_contests import StatusContests
from ingressctl.plan.writes import Apply, Plan

AT_ONCE = 32
"""Writes in flight: the API server's own fairness gives a client about as many seats."""

BULK_AT_ONCE = AT_ONCE - 4
"""Of those, the seats that bulk work may have: whoever edits must find one free."""

REMEMBERED = 10_000
"""Deletions that are not asked for twice."""


class NotLeading(Exception):
    """Somebody else may write now."""


@dataclass(slots=True)
class Done:
    """What came of a plan: findings about writes, and whether all of it was carried out."""

    findings: list[Finding] = field(default_factory=list)
    refused: list[tuple[Ref, Answered]] = field(default_factory=list)
    writes: int = 0


Learn = Callable[[Ref, Raw | None], None]
"""Puts into the picture what the server said of an object (None: there is none)."""

Version = Callable[[Kind, str], str]
"""The version to write a kind in, given the one it is rendered in."""


class Writer:
    """Writes under the field manager of a controller."""

    def __init__(
        self,
        client: Client,
        *,
        learn: Learn,
        version: Version,
        may_write: Callable[[], bool],
        contests: Contests,
    ) -> None:
        self._client = client
        self._learn = learn
        self._version = version
        self._may_write = may_write
        self._contests = contests
        self._statuses = StatusContests()
        self._seats = asyncio.Semaphore(AT_ONCE)
        self._bulk_seats = asyncio.Semaphore(BULK_AT_ONCE)
        self._deleted: dict[Ref, str] = {}
        self._under_way: set[asyncio.Timeout] = set()
        self._closed = False

    def fall_silent(self) -> None:
        """Let go of all requests under way: another one may lead soon."""
        for limit in self._under_way:
            limit.reschedule(0.0)

    async def close(self, seconds: float) -> None:
        """Begin nothing more; what is under way may finish for so long."""
        self._closed = True
        end = time.monotonic() + seconds
        while self._under_way and time.monotonic() < end:
            await asyncio.sleep(0.01)

    async def carry_out(self, plan: Plan, obj: Raw, *, bulk: bool = False) -> Done:
        """Everything of a plan for `obj`, which may be a part of bulk work. Raises Answered or
        Lost for what passes by itself, NotLeading."""
        done = Done()
        manager = managed.manager_of(ref_of(obj).kind)
        all_of = partial(_all, turn=self._bulk_seats if bulk else contextlib.nullcontext())
        await all_of(partial(self._delete, one, done) for one in plan.deletes if one.first)
        for stage in plan.stages:
            await all_of(partial(self._apply, apply, manager, done) for apply in stage)
            if done.refused:
                break
        if plan.status is not None or done.refused:
            told = _with_refusals(plan, obj, done)
            await all_of([partial(self._status, obj, told, manager, done)])
        if not done.refused:
            await all_of(partial(self._delete, one, done) for one in plan.deletes if not one.first)
        return done

    def forget(self, ref: Ref) -> None:
        """The owner is gone."""
        self._statuses.forget(ref)

    async def _apply(self, apply: Apply, manager: str, done: Done) -> None:
        now = time.monotonic()
        how = self._contests.judge(apply, now)
        if how == "leave":
            done.findings += self._contests.findings(apply.ref)
            return
        try:
            stored = await self._applied(apply, manager)
            if how == "trim" and apply.uid:
                stored = await self._trimmed(apply, stored, manager)
        except Answered as answered:
            self._contests.forget(apply.ref)
            if answered.passes:
                raise
            await self._not_applied(apply, answered, done)
            return
        except BaseException:
            self._contests.forget(apply.ref)
            raise
        done.writes += 1
        self._wrote(apply.ref, stored, how)

    async def _applied(self, apply: Apply, manager: str) -> Raw:
        """Server-side apply. An object that we create is not forced: somebody else's of that
        name, made meanwhile, is a conflict. One that we own is pinned by its uid."""
        api_version, path = self._place(apply.ref, str(apply.body.get("apiVersion")))
        meta = dict(apply.body.get("metadata") or {})
        query = {"fieldManager": manager, "fieldValidation": "Ignore"}
        if apply.uid:
            meta["uid"] = apply.uid
            query["force"] = "true"
        body = {**apply.body, "apiVersion": api_version, "metadata": meta}
        return await self._send("PATCH", path, query, body, APPLY)

    async def _trimmed(self, apply: Apply, stored: Raw, manager: str) -> Raw:
        """What other managers left over goes: the object is ours."""
        patch = leftover(apply)
        if not patch:
            return stored
        meta = {**patch.get("metadata", {}), "uid": apply.uid}
        _, path = self._place(apply.ref, str(apply.body.get("apiVersion")))
        query = {"fieldManager": manager}
        return await self._send("PATCH", path, query, {**patch, "metadata": meta}, MERGE)

    async def _not_applied(self, apply: Apply, answered: Answered, done: Done) -> None:
        """A conflict means that the picture is behind; anything else is the server's no."""
        if answered.status == answers.CONFLICT or (
            apply.uid and answered.status == answers.NOT_FOUND
        ):
            await self.refresh(apply.ref, str(apply.body.get("apiVersion")))
            raise Answered(answered.status, answered.message, reason="Stale")
        done.refused.append((apply.ref, answered))
        done.findings.append(
            Finding.of("IC7104", apply.ref, object=str(apply.ref), text=answered.message)
        )

    async def refresh(self, ref: Ref, api_version: str) -> None:
        """Read one object again that somebody else changed under us."""
        _, path = self._place(ref, api_version)
        try:
            self._learn(ref, await self._client.get(path))
        except Answered as answered:
            if answered.status != answers.NOT_FOUND:
                raise
            self._learn(ref, None)

    async def _status(
        self, obj: Raw, status: Mapping[str, Any] | None, manager: str, done: Done
    ) -> None:
        stored = obj.get("status") or {}
        if status is None or status == stored:
            return
        ref, meta = ref_of(obj), obj["metadata"]
        if not self._statuses.may_write(obj, status, time.monotonic()):
            done.findings += self._statuses.findings(ref)
            return
        _, path = self._place(ref, str(obj.get("apiVersion")))
        body = {
            "metadata": {"resourceVersion": meta.get("resourceVersion"), "uid": meta.get("uid")},
            "status": merge_patch(status, stored),
        }
        query = {"fieldManager": manager}
        try:
            new = await self._send("PATCH", f"{path}/status", query, body, MERGE)
        except Answered as answered:
            self._statuses.forget(ref)
            if answered.passes or answered.status in (answers.CONFLICT, answers.NOT_FOUND):
                await self.refresh(ref, str(obj.get("apiVersion")))
                raise
            done.refused.append((ref, answered))
            text = f"its status: {answered.message}"
            done.findings.append(Finding.of("IC7104", ref, object=str(ref), text=text))
            return
        except BaseException:
            self._statuses.forget(ref)
            raise
        done.writes += 1
        self._statuses.wrote(new)
        self._learn(ref, new)

    async def _delete(self, delete: Delete, done: Done) -> None:
        if self._deleted.get(delete.ref) == delete.uid:
            return  # it is on its way: a finalizer or a grace period holds it
        _, path = self._place(delete.ref, "")
        options = {
            "kind": "DeleteOptions",
            "apiVersion": "v1",
            "preconditions": {"uid": delete.uid},
            "propagationPolicy": "Background",
        }
        try:
            await self._send("DELETE", path, {}, options)
        except Answered as answered:
            if answered.status in (answers.NOT_FOUND, answers.CONFLICT):
                await self.refresh(delete.ref, "")
                return
            if answered.passes:
                raise
            done.refused.append((delete.ref, answered))
            text = f"to be deleted: {answered.message}"
            done.findings.append(
                Finding.of("IC7104", delete.ref, object=str(delete.ref), text=text)
            )
            return
        done.writes += 1
        if len(self._deleted) >= REMEMBERED:
            self._deleted.clear()
        self._deleted[delete.ref] = delete.uid
        self._contests.forget(delete.ref)

    def _wrote(self, ref: Ref, stored: Raw, how: How) -> None:
        self._contests.wrote(ref, stored, how)
        self._learn(ref, stored)

    def _place(self, ref: Ref, api_version: str) -> tuple[str, str]:
        """The apiVersion to write an object in, and its path."""
        resource = kinds.BY_IDENTITY[ref.group, ref.kind]
        version = self._version(resource.identity, api_version.rpartition("/")[2])
        path = resource.path(version, ref.namespace)
        return resource.api_version(version), f"{path}/{ref.name}"

    async def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: Any,
        content_type: str = "application/json",
    ) -> Raw:
        async with self._seats:
            if self._closed or not self._may_write():
                raise NotLeading
            try:
                async with asyncio.timeout(None) as limit:
                    self._under_way.add(limit)
                    return await self._client.send(method, path, query, body, content_type)
            except TimeoutError:
                raise NotLeading from None
            finally:
                self._under_way.discard(limit)


async def _all(
    writes: Iterable[Callable[[], Coroutine[Any, Any, None]]],
    *,
    turn: contextlib.AbstractAsyncContextManager[None],
) -> None:
    """Await every write, also when one fails: none goes on behind the back of its owner's
    worker. Raises what failed first in their order."""

    async def one(write: Callable[[], Coroutine[Any, Any, None]]) -> None:
        async with turn:
            await write()

    for done in await asyncio.gather(*map(one, writes), return_exceptions=True):
        if done is not None:
            raise done


def _with_refusals(plan: Plan, obj: Raw, done: Done) -> Mapping[str, Any] | None:
    """The status tells what the server refused; the routes are not as they should be."""
    status = plan.status
    if not (done.refused and plan.answers_for):
        return status
    stored = obj.get("status") or {}
    text = "; ".join(findings.message(found) for found in done.findings if found.code == "IC7104")
    told = conditions.denied(
        status if status is not None else stored,
        "IngressReady",
        reason="WriteRefused",
        message=text,
    )
    told = dict(conditions.with_times(told, stored))
    return conditions.stamped(told, stored, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
