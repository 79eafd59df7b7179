"""`ingressctl run` put together: client, informers, lease, controller, ports.

Everything ends together and in order: no new write, those under way finish, the lease is given
up, all else is let go of. A second signal ends at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
import uuid
from collections.abc import Coroutine, Iterator, Sequence
from typing import Any

from ingressctl.cluster.certificates import Keeper
from ingressctl.cluster.client import Client, Observer
from ingressctl.cluster.connection import Choice
from ingressctl.cluster.controller import Controller
from ingressctl.cluster.hearing import Hearing
from ingressctl.cluster.informers import Informer
from ingressctl.cluster.installation import Follower, Plan, watched
from ingressctl.cluster.leases import Election
from ingressctl.cluster.metrics import Metrics
from ingressctl.cluster.probes import Probes
from ingressctl.cluster.recorder import Recorder
from ingressctl.plan import intake, rights

LOG = logging.getLogger("ingressctl.run")

LEASE = rights.LEASE
THRESHOLDS = (50_000, 50, 1000)
"""Of the garbage collector: objects of a cluster live long, its default looks at all of them
again and again (measured: half of the CPU of a start)."""

FINISHING = 0.5
"""Seconds that requests under way may take at a clean end: the lease waits so long."""


async def run(plan: Plan, choice: Choice, carrier: Follower | None = None) -> None:
    """Until a signal. Raises connection.Unusable, probes.PortTaken."""
    gc.set_threshold(*THRESHOLDS)
    metrics = Metrics()
    async with Client(choice, seconds=plan.request_seconds) as client:
        client.observe = _counting(metrics, client.host)
        await _Run(plan, client, metrics, carrier).until_signalled()


def _counting(metrics: Metrics, host: str) -> Observer:
    counter, host = metrics.requests, host.partition("://")[2]

    def observe(verb: str, path: str, status: int) -> None:
        counter.labels(str(status or "<error>"), verb, host).inc()

    return observe


class _Run:
    """One process: what its parts share."""

    def __init__(
        self, plan: Plan, client: Client, metrics: Metrics, carrier: Follower | None
    ) -> None:
        self._plan = plan
        self._client = client
        self._metrics = metrics
        self._carrier = carrier
        self._ended = asyncio.Event()
        self._silent = asyncio.Event()
        self._identity = plan.identity or f"{socket.gethostname()}_{uuid.uuid4().hex[:8]}"
        self._namespace = plan.lease_namespace or client.namespace or plan.settings.config_namespace
        self._election = Election(
            client,
            namespace=self._namespace,
            name=LEASE,
            identity=self._identity,
            changed=self._leads,
            terms=plan.terms,
        )
        recorder = Recorder(
            client,
            controller="ingressctl.dev/controller",
            instance=self._identity,
            may_write=self._may_write,
        )
        self._recorder = recorder
        self._controller = Controller(
            client,
            plan.settings,
            providers=plan.providers,
            sources=plan.sources,
            options=plan.options,
            metrics=metrics,
            heard=Hearing(plan.settings, metrics, recorder, carrier),
            recorder=recorder,
            may_write=self._may_write,
            carrier=carrier,
        )
        self._informers = tuple(self._informed())
        self._begun = False

    async def until_signalled(self) -> None:
        """Run all parts; end them in order."""
        probes = Probes(self._metrics, self._unready)
        await probes.start(health_port=self._plan.health_port, metrics_port=self._plan.metrics_port)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._signalled)
        loop.add_signal_handler(signal.SIGHUP, self._controller.resync)
        LOG.info("started", extra={"keys": {"identity": self._identity, "host": self._client.host}})
        tasks: list[asyncio.Task[None]] = [asyncio.create_task(part) for part in self._parts()]
        leading = asyncio.create_task(self._lead())
        ended = asyncio.create_task(self._ended.wait())
        electing = {leading} if self._electing else set()
        try:
            done, _ = await asyncio.wait(
                {*tasks, *electing, ended}, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done - {ended}:
                task.result()  # a part that ends by itself ends by a defect
        finally:
            self._ended.set()
            await self._controller.close(FINISHING)
            self._silent.set()
            await leading
            await _cancelled(tasks)
            await self._let_proxies_go()
            await probes.stop()
            LOG.info("ended", extra={"keys": {"identity": self._identity}})

    def _parts(self) -> Iterator[Coroutine[Any, Any, None]]:
        yield from (informer.run(self._ended) for informer in self._informers)
        yield self._recorder.run()
        yield self._reconcile()
        if self._carrier is not None:
            yield self._carrier.serve()
            yield self._keeper(self._carrier).run()
        if self._plan.resync:
            yield self._resync()

    async def _reconcile(self) -> None:
        """Once there is a whole picture and a configuration."""
        mirror = self._controller.mirror
        while not mirror.complete:
            await asyncio.sleep(0.02)
        config, told = intake.config_map(self._plan.settings), False
        while mirror.picture.get(config) is None:
            if not told:
                told = True
                LOG.warning(
                    "waiting for the configuration", extra={"keys": {"object": str(config)}}
                )
            await asyncio.sleep(0.2)
        gc.collect()
        gc.freeze()
        self._begun = True
        if self._carrier is not None:
            self._carrier.start(mirror.picture, self._controller.wake)
        await self._controller.run()

    async def _let_proxies_go(self) -> None:
        if self._carrier is not None:
            await self._carrier.stop()

    def _keeper(self, carrier: Follower) -> Keeper:
        """Of the certificates that proxies and replicas know each other by."""
        host = f"{rights.XDS_SERVICE}.{self._namespace}.svc"
        return Keeper(
            self._client,
            namespace=self._namespace,
            name=rights.CERTIFICATES,
            hosts=(host, f"{host}.cluster.local"),
            may_write=self._may_write,
            told=carrier.trust,
        )

    async def _resync(self) -> None:
        while True:
            await asyncio.sleep(self._plan.resync)
            self._controller.resync()

    async def _lead(self) -> None:
        if self._electing:
            await self._election.run(self._silent)

    @property
    def _electing(self) -> bool:
        return self._plan.elect and not self._plan.options.dry_run

    def _informed(self) -> Iterator[Informer]:
        """An informer for each kind and place that rights tell."""
        for resource, namespace in watched(self._plan):
            informer = Informer(
                self._client, resource, namespace, self._controller.mirror, self._plan.timing
            )
            self._controller.mirror.expect(informer)
            yield informer

    def _may_write(self) -> bool:
        if self._plan.options.dry_run:
            return False
        return not self._plan.elect or self._election.leading

    def _leads(self, leading: bool) -> None:
        self._metrics.leading.labels(LEASE).set(float(leading))
        LOG.info(
            "leading" if leading else "not leading", extra={"keys": {"identity": self._identity}}
        )
        if leading:
            self._controller.resync()
        else:
            self._controller.fall_silent()

    def _unready(self) -> Sequence[str]:
        proxies = self._carrier.unready if self._carrier is not None else ""
        return [reason for reason in (self._not_begun(), proxies) if reason]

    def _not_begun(self) -> str:
        """What the first reconcile waits for; "" once it has begun."""
        if self._begun:
            return ""
        if not self._controller.mirror.complete:
            return f"not listed yet: {', '.join(self._controller.mirror.unlisted)}"
        return f"there is no {intake.config_map(self._plan.settings)}"

    def _signalled(self) -> None:
        if self._ended.is_set():
            os._exit(1)
        self._ended.set()


async def _cancelled(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    for task in tasks:
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await task
