"""`ingressctl run` in the loop of a test: the same parts, without ports and signals' help."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ingressctl.cluster import running
from ingressctl.cluster.connection import Choice
from ingressctl.cluster.controller import Options
from ingressctl.cluster.informers import Timing
from ingressctl.cluster.installation import Follower, Plan
from ingressctl.cluster.leases import Terms
from ingressctl.core.settings import Settings
from ingressctl.plan import cascade, registry

SECONDS = 30.0
"""Until then what is waited for is there, on the slowest machine."""

FAST = Timing(silence=2.0, absent_again=0.1, first_retry=0.01, most_retry=0.2)
TERMS = Terms(duration=1.0, deadline=0.6, period=0.05)


def plan(*providers: str, **changes: Any) -> Plan:
    """What a replica does: everything of Standard mode, by the Gateway API, unless told else."""
    named = providers or ("gateway_api",)
    made = Plan(
        settings=Settings(write=frozenset({"routes", "workloads"})),
        providers={name: registry.providers()[name] for name in named},
        sources=cascade.SOURCES,
        options=Options(settle=0.05, workers=8),
        knative=False,
        lease_namespace="kserve",
        identity="replica-0",
        health_port=0,
        metrics_port=0,
        timing=FAST,
        terms=TERMS,
        request_seconds=5.0,
    )
    return replace(made, **changes)


@contextlib.asynccontextmanager
async def running_replica(
    kubeconfig: Path, given: Plan | None = None, carrier: Follower | None = None
) -> AsyncIterator[asyncio.Task[None]]:
    """A replica from here to the end of the block; it fails the test if it ended by itself."""
    choice = Choice(kubeconfig=str(kubeconfig))
    task = asyncio.ensure_future(running.run(given or plan(), choice, carrier))
    try:
        yield task
        if task.done() and not task.cancelled():
            task.result()
            raise AssertionError("the replica ended by itself")
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def eventually(what: str, ask: Callable[[], Any], seconds: float = SECONDS) -> Any:
    """The first true answer."""
    end = time.monotonic() + seconds
    while not (found := ask()):
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds:g} s; the last answer: {found!r}")
        await asyncio.sleep(0.01)
    return found


async def quiet(ask: Callable[[], int], *, for_seconds: float = 0.4) -> int:
    """The count once it has stood still for a while."""
    last, since, end = ask(), time.monotonic(), time.monotonic() + SECONDS
    while time.monotonic() - since < for_seconds:
        await asyncio.sleep(0.02)
        now = ask()
        if now != last:
            last, since = now, time.monotonic()
        assert time.monotonic() < end, f"it never stands still: {now}"
    return last
