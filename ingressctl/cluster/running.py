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
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ingressctl.api.refs import Kind, Raw, Ref
from ingressctl.cluster.certificates import Keeper
from ingressctl.cluster.client import Client, Observer
from ingressctl.cluster.connection import Choice
from ingressctl.cluster.controller import Carrier, Controller, Options
from ingressctl.cluster.informers import Informer, State, Timing
from ingressctl.cluster.leases import Election, Terms
from ingressctl.cluster.metrics import Metrics
from ingressctl.cluster.probes import Probes
from ingressctl.cluster.recorder import Recorder
from ingressctl.core import findings
from ingressctl.core.outcome import Event, Finding
from ingressctl.core.ports import Provider
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import intake, rights
from ingressctl.plan.cascade import Reconcile
from ingressctl.plan.kinds import Resource

LOG = logging.getLogger("ingressctl.run")

LEASE = rights.LEASE
THRESHOLDS = (50_000, 50, 1000)
"""Of the garbage collector: objects of a cluster live long, its default looks at all of them
again and again (measured: half of the CPU of a start)."""

FINISHING = 0.5
"""Seconds that requests under way may take at a clean end: the lease waits so long."""


class Follower(Carrier, Protocol):
    """A carrier that looks at the cluster itself: it needs Services and their endpoints."""

    @property
    def unready(self) -> str:
        """Why proxies are not answered yet; "" when they are."""
        ...

    def start(self, world: World, wake: Callable[[Ref], None]) -> None:
        """Know the picture; who waits for proxies is woken so."""
        ...

    def trust(self, authority: bytes, certificate: bytes, key: bytes) -> None:
        """Show this certificate from now on, and admit whom these authorities know."""
        ...

    async def serve(self) -> None:
        """Answer proxies, once the first picture is complete and there is a certificate."""
        ...

    def moved(self, ref: Ref) -> None:
        """A Service or an EndpointSlice changed."""
        ...

    async def stop(self) -> None:
        """No answer any more."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run. Ports of 0 are left out; `namespaces` () means everywhere, and with some
    `cluster_scoped` tells whether kinds outside of namespaces are read all the same."""

    settings: Settings
    providers: Mapping[str, Provider]
    sources: Mapping[Kind, Reconcile]
    options: Options
    namespaces: tuple[str, ...] = ()
    knative: bool = True
    cluster_scoped: bool = True
    elect: bool = True
    lease_namespace: str = ""
    identity: str = ""
    health_port: int = 8081
    metrics_port: int = 9090
    resync: float = 0.0
    timing: Timing = field(default_factory=Timing)
    terms: Terms = field(default_factory=Terms)
    request_seconds: float = 30.0


async def run(plan: Plan, choice: Choice, carrier: Follower | None = None) -> None:
    """Until a signal. Raises connection.Unusable, probes.PortTaken."""
    gc.set_threshold(*THRESHOLDS)
    metrics = Metrics()
    async with Client(choice, seconds=plan.request_seconds, observe=_counting(metrics)) as client:
        await _Run(plan, client, metrics, carrier).until_signalled()


def _counting(metrics: Metrics) -> Observer:
    counter = metrics.requests

    def observe(verb: str, path: str, status: int) -> None:
        counter.labels(str(status or "<error>"), verb, "").inc()

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
            heard=self,
            recorder=recorder,
            may_write=self._may_write,
            carrier=carrier,
        )
        self._informers = tuple(self._informed())
        self._waiting = "the first lists are not complete"

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
            self._waiting = f"there is no {config}"
            if not told:
                told = True
                LOG.warning(
                    "waiting for the configuration", extra={"keys": {"object": str(config)}}
                )
            await asyncio.sleep(0.2)
        gc.collect()
        gc.freeze()
        self._waiting = ""
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
        return [reason for reason in (self._waiting, proxies) if reason]

    def _signalled(self) -> None:
        if self._ended.is_set():
            os._exit(1)
        self._ended.set()

    def kind(self, resource: Resource, namespace: str, state: State, message: str) -> None:
        """As mirror.Heard: said once for each change."""
        self._metrics.lists.labels(resource.group, resource.kind).set(float(state == "live"))
        keys = {"group": resource.group, "resource": resource.plural, "namespace": namespace}
        if state == "forbidden":
            LOG.error(
                "may not be listed: grant get, list and watch",
                extra={"keys": {**keys, "error": message}},
            )
        elif state == "failing":
            LOG.warning("cannot be listed for now", extra={"keys": {**keys, "error": message}})
        else:
            LOG.info("listed" if state == "live" else "not served", extra={"keys": keys})

    def unreadable(self, ref: Ref, text: str) -> None:
        """As mirror.Heard."""
        keys = {"kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
        if text:
            LOG.warning("object left out", extra={"keys": {**keys, "error": text}})
        else:
            LOG.info("object read again", extra={"keys": keys})

    def configuration(self, obj: Raw | None, refused: tuple[Finding, ...]) -> None:
        """As mirror.Heard: the last good one stays in force, and people are told."""
        ref = intake.config_map(self._plan.settings)
        self._metrics.routes.note(ref, (), not refused, refused)
        if obj is None:
            LOG.error(
                "configuration deleted, the last one stays in force",
                extra={"keys": {"object": str(ref)}},
            )
            return
        if not refused:
            LOG.info("configuration in force", extra={"keys": {"object": str(ref)}})
        for finding in refused:
            text = findings.message(finding)
            LOG.error(
                "configuration refused, the last good one stays in force",
                extra={"keys": {"object": str(ref), "path": finding.path, "error": text}},
            )
            note = f"{finding.path}: {text}; the last good configuration stays in force"
            self._recorder.tell(obj, Event("Warning", "ConfigurationRefused", note))

    def moved(self, ref: Ref) -> None:
        """As mirror.Heard."""
        if self._carrier is not None and ref.kind in ("Service", "EndpointSlice"):
            self._carrier.moved(ref)


def watched(plan: Plan) -> Iterator[tuple[Resource, str]]:
    """Every kind with the namespace to follow it in; "" is everywhere."""
    on = rights.features(providers=plan.providers, write=plan.settings.write, knative=plan.knative)
    roles = rights.roles(plan.providers.values())
    seen: set[tuple[Resource, str]] = set()
    for resource, place in rights.watched(roles, on):
        for namespace in _namespaces(resource, place, plan):
            if (resource, namespace) not in seen:
                seen.add((resource, namespace))
                yield resource, namespace


def _namespaces(resource: Resource, place: rights.Place, plan: Plan) -> tuple[str, ...]:
    if place == "config":
        return (plan.settings.config_namespace,)
    if place == "knative":
        return (plan.settings.knative_namespace,)
    if not resource.namespaced:
        # A role in one namespace cannot grant what lies in none.
        return ("",) if plan.cluster_scoped or not plan.namespaces else ()
    return plan.namespaces or ("",)


async def _cancelled(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    for task in tasks:
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await task
