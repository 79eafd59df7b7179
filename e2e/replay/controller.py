"""`ingressctl run` inside of the test's process: begun, waited for until it rests, ended.

Many cases one after the other, each under its own settings, would spend their time starting
interpreters. It is the whole of `running.run` all the same: only its end is not a signal.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest import mock

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.cluster import running
from ingressctl.cluster.connection import Choice
from ingressctl.cluster.controller import Controller, Options
from ingressctl.cluster.installation import Plan
from ingressctl.core.outcome import Outcome
from ingressctl.core.settings import Settings
from ingressctl.core.world import Kind, Reads
from ingressctl.plan import registry
from ingressctl.plan.cascade import Reconcile

PROVIDERS = ("gateway_api", "ingress", "istio")
SECONDS = 30.0
PAUSE = 0.01


class Restless(AssertionError):
    """The controller has always something to do."""


class Replica:
    """A controller under way; `faults` are those of the last reconcile of each object."""

    def __init__(self, faults: Mapping[Ref, tuple[str, ...]], lines: list[str]) -> None:
        self.faults = faults
        self.lines = lines
        self.controller: Controller | None = None
        self.task: asyncio.Task[None]

    async def rest(self) -> None:
        """Wait until it has nothing to do. Raises Restless, and whatever it ended by."""
        end = time.monotonic() + SECONDS
        while not self._rests():
            if self.task.done():
                self.task.result()
                raise Restless("it ended by itself")
            if time.monotonic() > end:
                raise Restless("\n".join((f"not at rest in {SECONDS:g} s:", *self.lines[-20:])))
            await asyncio.sleep(PAUSE)

    async def look_again(self) -> None:
        """Have it look at every object once more, as SIGHUP does."""
        assert self.controller is not None
        self.controller.resync()
        await self.rest()

    def _rests(self) -> bool:
        controller = self.controller
        return (
            controller is not None
            and controller.mirror.running
            and controller.queue.idle
            and not controller.queue.timers
        )


@contextlib.asynccontextmanager
async def replica(
    kubeconfig: Path, settings: Settings, sources: Mapping[Kind, Reconcile]
) -> AsyncIterator[Replica]:
    """A controller that starts now and ends with the block."""
    faults: dict[Ref, tuple[str, ...]] = {}
    with _listening() as lines:
        made = Replica(faults, lines)

        def build(*args: Any, **kwargs: Any) -> Controller:
            made.controller = Controller(*args, **kwargs)
            return made.controller

        plan = Plan(
            settings=settings,
            providers={name: registry.providers()[name] for name in PROVIDERS},
            sources={kind: _noting(source, faults) for kind, source in sources.items()},
            options=Options(settle=0.0),
            elect=False,
            health_port=0,
            metrics_port=0,
        )
        with mock.patch.object(running, "Controller", build), _collecting():
            run = running.run(plan, Choice(kubeconfig=str(kubeconfig)))
            made.task = asyncio.create_task(run)
            try:
                yield made
            finally:
                made.task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await made.task


def _noting(source: Reconcile, faults: dict[Ref, tuple[str, ...]]) -> Reconcile:
    """The source, with the faults of its last outcome written down."""

    def reconcile(obj: Raw, *, reads: Reads, now: datetime) -> Outcome:
        outcome = source(obj, reads=reads, now=now)
        faults[ref_of(obj)] = tuple(str(fault.message) for fault in outcome.faults)
        return outcome

    return reconcile


@contextlib.contextmanager
def _collecting() -> Iterator[None]:
    """The garbage collector as it was, when a run that bent it to its needs is over."""
    before = gc.get_threshold()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


@contextlib.contextmanager
def _listening() -> Iterator[list[str]]:
    """What the controller logs, each line as a text that names its object."""
    lines: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(f"{record.levelname} {record.getMessage()} {vars(record).get('keys')}")

    logger, listener = logging.getLogger("ingressctl"), Listener()
    before = logger.level
    logger.addHandler(listener)
    logger.setLevel(logging.INFO)
    try:
        yield lines
    finally:
        logger.removeHandler(listener)
        logger.setLevel(before)
