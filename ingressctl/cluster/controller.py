"""The loop: what changed is reconciled by its source's pure function and written by a plan.

A kind is added by registering its reconcile; nothing here knows what an InferenceService is.
A replica that does not lead reconciles all the same, for proxies it serves, and writes nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ingressctl.api import selectors
from ingressctl.api.refs import Kind, Raw, Ref, labels_of
from ingressctl.api.selectors import Selector
from ingressctl.cluster import timed
from ingressctl.cluster.answers import Answered
from ingressctl.cluster.carrying import Carrier, Carrying
from ingressctl.cluster.client import Client, Lost
from ingressctl.cluster.gateway_probe import Prober
from ingressctl.cluster.metrics import Metrics
from ingressctl.cluster.mirror import Heard, Mirror
from ingressctl.cluster.patience import Patience
from ingressctl.cluster.queue import Queue, Urgency
from ingressctl.cluster.recorder import Recorder
from ingressctl.cluster.telling import Telling
from ingressctl.cluster.writer import Done, NotLeading, Writer
from ingressctl.core import conditions
from ingressctl.core.ports import Provider
from ingressctl.core.settings import Settings
from ingressctl.core.world import Lookup
from ingressctl.plan import cascade, probing, registry, told, writes
from ingressctl.plan.cascade import Reconcile, Step
from ingressctl.plan.contests import REST, Contests

WORKERS = 32

REST_AFTER = 0.05
"""Seconds between two looks at one object that no person asked for."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a controller runs. `settle` is in seconds; `selector` are labels that owners have.

    `probes` are addresses of gateways that are asked (plan/probing.py).
    """

    settle: float = 5.0
    workers: int = WORKERS
    dry_run: bool = False
    selector: Selector = selectors.EVERYTHING
    probes: Mapping[str, str] = field(default_factory=dict)


class Controller:
    """Reconciles the objects of `sources` until its task is cancelled."""

    def __init__(
        self,
        client: Client,
        settings: Settings,
        *,
        providers: Mapping[str, Provider],
        sources: Mapping[Kind, Reconcile],
        options: Options,
        metrics: Metrics,
        heard: Heard,
        recorder: Recorder,
        may_write: Callable[[], bool],
        carrier: Carrier | None = None,
    ) -> None:
        self._telling = Telling(recorder, metrics)
        self.queue = Queue(
            rest=REST_AFTER,
            bulk=max(1, options.workers // 2),
            hushed=max(1, options.workers // 8),
            added=self._telling.added,
            retried=self._telling.retried,
        )
        self.mirror = Mirror(
            settings,
            claimants=cascade.CLAIMANTS,
            sources=sources,
            wake=self.queue.add,
            heard=heard,
        )
        self.metrics = metrics
        metrics.watch(self.queue, tuple(kind.lower() for _, kind in sources))
        self._providers = timed.providers(providers, metrics.emit)
        self._kinds = registry.routing_kinds(providers)
        self._sources = sources
        self._options = options
        self._carrying = Carrying(
            carrier,
            usable=lambda: not self.mirror.misconfigured,
            hosts=self._hosts,
        )
        self._may_write = may_write
        self._now = client.now
        self._put_off = Patience()
        self._contests = Contests()
        self._prober = Prober(self.wake)
        self._writer = Writer(
            client,
            learn=self.mirror.learn,
            version=self.mirror.version,
            may_write=may_write,
            contests=self._contests,
        )

    async def run(self) -> None:
        """Work. The mirror has to be complete before."""
        for _, kind in self._sources:
            self.metrics.begin(kind.lower(), self._options.workers)
        await self.mirror.begin()
        self._carrying.expect(self.queue.waiting)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._options.workers):
                    group.create_task(self._work())
                group.create_task(self._carrying.mended(self.resync, lambda: self.queue.idle))
        finally:
            await self._prober.stop()

    def wake(self, ref: Ref) -> None:
        """Look at an object again: what it waited for has come."""
        self.queue.add(ref, Urgency.CHANGE)

    def resync(self) -> None:
        """Look at everything again."""
        if self.mirror.running:
            self.mirror.wake_all()

    def fall_silent(self) -> None:
        """Somebody else may lead: let go of all writes under way."""
        self._writer.fall_silent()

    async def close(self, seconds: float) -> None:
        """Begin no write any more; those under way may finish for so long."""
        await self._writer.close(seconds)

    async def _work(self) -> None:
        while True:
            ref, waited = await self.queue.get()
            began = time.monotonic()
            try:
                await self._one(ref)
            finally:
                self._carrying.looked_at(ref)
                self.queue.done(ref)
                self._telling.worked(ref, waited, time.monotonic() - began)

    async def _one(self, ref: Ref) -> None:
        """One object once; whatever goes wrong is this object's alone."""
        try:
            await self._reconcile(ref)
        except NotLeading:
            self._telling.result(ref, "success")
        except (Answered, Lost) as fault:
            at_least = fault.retry_after if isinstance(fault, Answered) else 0.0
            delay = self._failed(ref, at_least)
            self._telling.failed(ref, fault, delay)
        except Exception as defect:
            delay = self._failed(ref)
            self._telling.defect(ref, defect, delay)

    def _failed(self, ref: Ref, at_least: float = 0.0) -> float:
        """Seconds until the object comes again, as if it had not been looked at."""
        self._put_off.forget(ref)
        return self.queue.failed(ref, at_least)

    async def _reconcile(self, ref: Ref) -> None:
        obj = self.mirror.picture.get(ref)
        if obj is None or not self._is_ours(obj):
            self._forget(ref)
            return
        try:
            step = self._step(ref, obj)
        except Exception:
            self._carrying.keep(obj)
            raise
        self._carrying.carry(obj, step)
        plan = writes.plan(
            obj,
            step,
            self.mirror.picture,
            self.mirror.settings,
            kinds=self._kinds,
            bearings=self._bearings(step),
            now=self._now(),
        )
        if self._is_put_off(ref, plan):
            plan = plan.without_status()
        leading, dry_run = self._may_write(), self._options.dry_run
        self._telling.planned(ref, plan, dry_run=dry_run, leading=leading)
        done = Done()
        if dry_run or not leading or plan.quiet:
            await asyncio.sleep(0)  # many objects in a row must not starve the watches
        else:
            done = await self._writer.carry_out(plan, obj, bulk=self.queue.is_bulk(ref))
        if self._options.probes and not self._options.dry_run and self._may_write():
            self._probe(step, plan)
        self._noted(ref, obj, step, plan, done)

    def _is_put_off(self, ref: Ref, plan: writes.Plan) -> bool:
        """Whether the status waits until gateways have read the routes of bulk work."""
        waits = plan.passing and (plan.routed or ref in self._put_off)
        if waits and self.queue.is_bulk(ref):
            return self._put_off.waits(ref)
        self._put_off.forget(ref)
        return False

    def _hosts(self, obj: Raw) -> Iterable[str]:
        """At which it may have been served by whoever ran before."""
        mirror = self.mirror
        return told.hosts(obj, mirror.picture, mirror.settings.cluster_domain)

    def _step(self, ref: Ref, obj: Raw) -> Step:
        """The reconcile, and what it looked at kept in mind."""
        mirror = self.mirror
        step = cascade.reconcile_one(
            obj,
            self._sources[ref.group, ref.kind],
            mirror.picture,
            mirror.settings,
            now=self._now(),
            providers=self._providers,
        )
        mirror.picture.learn(ref, (*step.lookups, Lookup("get", ref, True)))
        mirror.picture.memo.clear()  # views serve one look; of ten thousand they are many
        return step

    def _probe(self, step: Step, plan: writes.Plan) -> None:
        """Gateways are asked about owners whose first Ready waits, and no others."""
        if plan.held:
            asked = probing.questions(step, self.mirror.picture, self._options.probes)
            self._prober.watch(step.ref, asked, anew=plan.routed)
        else:
            self._prober.forget(step.ref)

    def _bearings(self, step: Step) -> writes.Bearings:
        return writes.Bearings(
            settle=self._options.settle,
            incomplete=self.mirror.incomplete,
            unacknowledged=self._carrying.unacknowledged(step),
            held=self._carrying.held(step),
            probed=self._prober.answer(step.ref),
        )

    def _noted(self, ref: Ref, obj: Raw, step: Step, plan: writes.Plan, done: Done) -> None:
        """After a pass: what is told, and when the object is looked at again."""
        found = (*plan.findings, *done.findings)
        ready = _is_ready(plan.status or obj.get("status") or {}, step)
        self.metrics.routes.note(ref, step.outcome.routes, ready, found)
        self._telling.done(ref, obj, plan, done, found)
        if done.refused:
            self._failed(ref)
            return
        self.queue.succeeded(ref)
        if ref in self._put_off:
            self.queue.after(ref, self._put_off.left(ref))
        if plan.again is not None:
            self.queue.after(ref, plan.again)
        if any(finding.code == "IC7102" for finding in found):
            self.queue.after(ref, REST)

    def _forget(self, ref: Ref) -> None:
        self.mirror.picture.forget(ref)
        self.metrics.routes.forget(ref)
        self._put_off.forget(ref)
        self._writer.forget(ref)
        self.queue.forget(ref)
        self._telling.forget(ref)
        self._prober.forget(ref)
        self._carrying.forget(ref)

    def _is_ours(self, obj: Raw) -> bool:
        return self._options.selector.selects(labels_of(obj))


def _is_ready(status: Mapping[str, object], step: Step) -> bool:
    kind = step.outcome.answers_for
    return not kind or conditions.stored_status(status, kind) == "True"
