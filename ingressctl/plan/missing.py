"""What to say of a request that nothing takes: who would, and which hosts come close.

Asked only after a miss, so that the written services, which an answer looks at as far as
they concern the request, are all derived here.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from datetime import datetime

from ingressctl.api.inferencegraphs import KIND as GRAPH
from ingressctl.api.inferenceservices import (
    KIND,
    STOP_ANNOTATION,
    InferenceService,
    ViewFault,
)
from ingressctl.api.refs import Kind, Raw, Ref, owner_of, ref_of
from ingressctl.core import findings
from ingressctl.core.outcome import Finding, Origin
from ingressctl.core.ports import Provider
from ingressctl.core.settings import Settings
from ingressctl.core.table import Request
from ingressctl.core.world import Reads, World
from ingressctl.plan import applying, cascade, internal, registry, settle
from ingressctl.plan.host_index import EVERYTHING, hosts_of
from ingressctl.plan.overlay import Laid
from ingressctl.sources.kserve import readiness

WAITS = "IC6002"
"""The code of a step that cannot be called: its graph waits."""

MOST_SERVICES = 1000
"""Services beyond which no further ones are derived for the sake of a hint."""

MOST_HOSTS = 3
MOST_HOSTS_COMPARED = 2000
"""Hosts beyond which only those that begin alike are compared letter by letter."""

CUTOFF = 0.6
STANDARD = frozenset({"Standard", "RawDeployment"})
"""Modes in which Knative's domain says nothing about a service."""


def hints(
    request: Request,
    laid: Laid,
    settings: Settings,
    *,
    now: datetime,
    providers: Mapping[str, Provider],
) -> tuple[str, ...]:
    """Sentences for people, the surest first; empty where nothing comes close."""
    done = _derived(laid, settings, now, providers)
    waiting = tuple(_waiting(request, done, registry.routing_kinds(providers)))
    near = _near(request.bare_host, done, providers, settings)
    waiting += tuple(_graphs(request, done))
    return (*waiting, *([f"hosts that are served: {', '.join(near)}"] if near else ()))


def _derived(
    laid: Laid, settings: Settings, now: datetime, providers: Mapping[str, Provider]
) -> cascade.Cascade:
    """All written services, or the world as it is where they are too many."""
    applied, _ = applying.apply(laid, settings)
    only = frozenset(item.ref for item in applied.written)
    if len(only) > MOST_SERVICES:
        only = frozenset()
    return cascade.run(applied.world, settings, now=now, providers=providers, only=only)


def _waiting(request: Request, done: cascade.Cascade, kinds: tuple[Kind, ...]) -> Iterator[str]:
    """Services that the host seems to mean and that have no route, with the reason."""
    made = {step.ref: any(route.groups for route in step.outcome.routes) for step in done.steps}
    for obj in done.world.list(KIND):
        ref = ref_of(obj)
        if not _means(request.bare_host, ref) or made.get(ref):
            continue
        if _is_routed(obj, done.world, kinds):
            continue
        reason = _unready(obj)
        if _is_stopped(obj):
            yield f"{ref} is stopped by its annotation {STOP_ANNOTATION}: it has no route"
        elif reason:
            yield f"{ref} has no route yet: {reason}; ask again with --assume ready"


def unrouted(
    laid: Laid, world: World, providers: Mapping[str, Provider]
) -> Iterator[tuple[Ref, Origin]]:
    """The services and graphs of files to which nothing leads in the world after them."""
    kinds = tuple(kind for kind in registry.routing_kinds(providers) if kind != ("", "Service"))
    for item in laid.written:
        obj = world.get(item.ref)
        if item.ref[:2] not in (KIND, GRAPH) or obj is None:
            continue
        if not _is_routed(obj, world, kinds):
            yield item.ref, item.origin


def _is_routed(obj: Raw, world: World, kinds: tuple[Kind, ...]) -> bool:
    """Whether an object of one of these kinds leads to an owner."""
    return any(settle.is_routing(one, kinds) for one in world.owned(owner_of(obj)))


def _graphs(request: Request, done: cascade.Cascade) -> Iterator[str]:
    """Graphs that the host seems to mean and that cannot be served, with the first reason."""
    for step in done.steps:
        if step.ref[:2] != GRAPH or not _means(request.bare_host, step.ref):
            continue
        reasons = [findings.message(item) for item in step.findings if item.code == WAITS]
        if reasons and not step.outcome.routes:
            yield f"{step.ref} has no route: {reasons[0]}"


def made_internal(request: Request, reads: Reads) -> Iterator[Finding]:
    """Services that the host seems to mean and that Knative's domain keeps inside (F1)."""
    for obj in reads.list(KIND):
        if not _means(request.bare_host, ref_of(obj)):
            continue
        try:
            service = InferenceService(obj)
        except ViewFault:
            continue
        found = internal.by_domain(service, reads)
        if found is not None and service.status.get("deploymentMode") not in STANDARD:
            yield found


def _means(host: str, ref: Ref) -> bool:
    """Whether a host has the service's name as its first word, and its namespace."""
    first = host.partition(".")[0]
    named = first == ref.name or first.startswith(f"{ref.name}-")
    return named and ref.namespace in host.replace(".", "-")


def _is_stopped(obj: Raw) -> bool:
    """Whether the stop annotation keeps the service from having a route."""
    try:
        return InferenceService(obj).stopped
    except ViewFault:
        return False


def _unready(obj: Raw) -> str:
    """The first condition of a component that is not True; "" if every one is."""
    status, spec = obj.get("status") or {}, obj.get("spec") or {}
    conditions = {item.get("type"): item for item in status.get("conditions") or ()}
    for component, kind in readiness.READY.items():
        if component not in spec:
            continue
        condition = conditions.get(kind) or {}
        if condition.get("status") != "True":
            said = condition.get("message") or condition.get("reason") or ""
            told = f"{kind} is {condition.get('status') or 'not in its status'}"
            return f"{told} ({said})" if said else told
    return ""


def _near(
    host: str, done: cascade.Cascade, providers: Mapping[str, Provider], settings: Settings
) -> list[str]:
    """Other hosts that resemble the one that was asked for, which its miss explains itself."""
    domain = settings.cluster_domain
    objects = (
        obj for item in providers.values() for kind in item.kinds for obj in done.world.list(kind)
    )
    named = {name for obj in objects for name in hosts_of(obj, ref_of(obj), domain)}
    named |= {
        item.name.lower()
        for step in done.steps
        for route in step.outcome.routes
        for item in route.hosts()
    }
    start = 1 if len(named) < MOST_HOSTS_COMPARED else 4
    alike = sorted(name for name in named - {EVERYTHING, host} if name[:start] == host[:start])
    return difflib.get_close_matches(host, alike, n=MOST_HOSTS, cutoff=CUTOFF)
