"""Which of several replicas may write: a Lease with KServe's timing, given up at a clean end.

The official package's election never gives its lease up, reads the wall clock and ends when a
request fails, so the loop is our own. `leading` needs no task to turn false: it is true only
for a while after each renewal, and that while is shorter than the lease. That it ended is told
at its end, not when the next renewal comes back: what was begun must be let go of in time.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ingressctl.cluster import answers
from ingressctl.cluster.answers import Answered
from ingressctl.cluster.client import Client, Lost, wait

GIVING_UP = 1.0
"""Seconds that a clean end takes at most to hand the lease over."""

LOG = logging.getLogger("ingressctl.lease")

_LEASE = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}


@dataclass(frozen=True, slots=True)
class Terms:
    """Seconds: how long a lease holds, until when it must be renewed, how often it is tried."""

    duration: float = 15.0
    deadline: float = 10.0
    period: float = 1.0


class Election:
    """One replica's part. `changed` is called with True when it leads, False when no more."""

    def __init__(
        self,
        client: Client,
        *,
        namespace: str,
        name: str,
        identity: str,
        changed: Callable[[bool], None],
        terms: Terms | None = None,
    ) -> None:
        self._client = client
        self._root = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        self._name = name
        self._identity = identity
        self._changed = changed
        self._terms = terms or Terms()
        self._until = 0.0
        self._said = False
        self._failure = ""
        self._lapse: asyncio.TimerHandle | None = None
        self._seen = ("", "", 0.0)

    @property
    def leading(self) -> bool:
        """Whether this replica may write now."""
        return time.monotonic() < self._until

    async def run(self, ended: asyncio.Event) -> None:
        """Try to lead, or go on leading, until `ended`; then give the lease up."""
        over = asyncio.ensure_future(ended.wait())
        try:
            while not ended.is_set():
                attempt = asyncio.ensure_future(self._attempt())
                await asyncio.wait({attempt, over}, return_when=asyncio.FIRST_COMPLETED)
                if not attempt.done():
                    attempt.cancel()  # a slow server must not hold up the end
                    break
                attempt.result()
                await wait(self._terms.period, ended)
            await self._give_up()
        finally:
            over.cancel()
            self._stop_timer()

    async def _attempt(self) -> None:
        try:
            async with asyncio.timeout(self._terms.deadline):
                await self._try()
        except (Answered, Lost, TimeoutError) as fault:
            self._failed(str(fault) or "no answer in time")
        else:
            self._failure = ""

    def _failed(self, text: str) -> None:
        """Said once for each reason: it is tried again every second."""
        if text != self._failure:
            self._failure = text
            LOG.warning(
                "the lease cannot be had",
                extra={"keys": {"lease": f"{self._root}/{self._name}", "error": text}},
            )

    async def _try(self) -> None:
        """Renew, or take what nobody holds any longer."""
        asked = time.monotonic()
        try:
            lease = await self._client.get(f"{self._root}/{self._name}")
        except Answered as answered:
            if answered.status != answers.NOT_FOUND:
                raise
            lease = {"metadata": {"name": self._name}}
        spec = lease.get("spec") or {}
        if spec.get("holderIdentity") != self._identity and not self._free(spec):
            self._leads_until(0.0)
            return
        body = {**lease, **_LEASE, "spec": self._spec(spec)}
        known = "resourceVersion" in lease["metadata"]
        path = f"{self._root}/{self._name}" if known else self._root
        try:
            await self._client.send("PUT" if known else "POST", path, None, body)
        except Answered as answered:
            if answered.status == answers.CONFLICT:
                return  # somebody else was faster, or our own late answer: look again
            raise
        self._leads_until(asked + self._terms.deadline)

    def _leads_until(self, moment: float) -> None:
        """A new end of leading. One that had passed is told first: somebody may have relied on
        it, and has to look again."""
        self._say()
        self._until = moment
        self._say()
        self._stop_timer()
        if self.leading:
            left = moment - time.monotonic()
            self._lapse = asyncio.get_running_loop().call_later(left + 0.002, self._say)

    def _stop_timer(self) -> None:
        if self._lapse is not None:
            self._lapse.cancel()
            self._lapse = None

    def _free(self, spec: dict[str, Any]) -> bool:
        """Whether nobody holds the lease: given up, or not renewed for its whole duration as
        seen from here (clocks of other machines are not trusted)."""
        holder, renewed = str(spec.get("holderIdentity") or ""), str(spec.get("renewTime") or "")
        if not holder:
            return True
        if self._seen[:2] != (holder, renewed):
            self._seen = (holder, renewed, time.monotonic())
        held = float(spec.get("leaseDurationSeconds") or self._terms.duration)
        return time.monotonic() - self._seen[2] > held

    def _spec(self, spec: dict[str, Any]) -> dict[str, Any]:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        mine = spec.get("holderIdentity") == self._identity
        changes = int(spec.get("leaseTransitions") or 0)
        return {
            **spec,
            "holderIdentity": self._identity,
            "leaseDurationSeconds": max(1, round(self._terms.duration)),
            "acquireTime": spec.get("acquireTime") if mine else now,
            "renewTime": now,
            "leaseTransitions": changes if mine else changes + 1,
        }

    def _say(self) -> None:
        leading = self.leading
        if leading != self._said:
            self._said = leading
            self._changed(leading)

    async def _give_up(self) -> None:
        """Hand the lease over at once instead of letting it run out.

        It is read again: a renewal that was cut short may have been stored.
        """
        self._leads_until(0.0)
        with contextlib.suppress(Answered, Lost, TimeoutError):
            async with asyncio.timeout(GIVING_UP):
                lease = await self._client.get(f"{self._root}/{self._name}")
                spec = lease.get("spec") or {}
                if spec.get("holderIdentity") != self._identity:
                    return
                body = {**lease, **_LEASE, "spec": {**spec, "holderIdentity": ""}}
                await self._client.send("PUT", f"{self._root}/{self._name}", None, body)
