"""States of a field case: the input, its variants and steps, each run until all is quiet.

A state is the world after `apply`, `observe` and `delete`, and the world that the cascade
makes of it. Routing takes readiness and URLs from the stored status; workloads (Knative
Services, Deployments) are made beside it with the serving runtimes that KServe ships,
because every cluster that runs KServe has them.
"""

from __future__ import annotations

import copy
import functools
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core import values
from ingressctl.core.outcome import Outcome
from ingressctl.core.settings import Settings
from ingressctl.core.world import Kind, Reads, World
from ingressctl.plan import cascade
from ingressctl.sources.graph import reconcile as graph
from ingressctl.sources.kserve import reconcile as kserve
from tests.cases import comparing, selecting

ISVC: Kind = ("serving.kserve.io", "InferenceService")
GRAPH: Kind = ("serving.kserve.io", "InferenceGraph")
RUNTIMES = Path(__file__).parent / "suites" / "runtime-selection" / "shipped-runtimes.yaml"
MAX_PASSES = 10
RESTLESS = "never comes to rest"
FIELDS = frozenset(
    "name apply observe delete missingGroups clusterDomain probes reconcile restart within "
    "checks preview traffic".split()
)
GROUP_KINDS: Mapping[str, tuple[str, ...]] = {
    "networking.istio.io": ("VirtualService", "Gateway", "DestinationRule", "Sidecar"),
    "gateway.networking.k8s.io": ("HTTPRoute", "Gateway", "GRPCRoute", "ReferenceGrant"),
    "networking.k8s.io": ("Ingress", "IngressClass"),
    "serving.knative.dev": ("Service", "Route", "Configuration", "Revision"),
    "networking.internal.knative.dev": ("Ingress", "Certificate", "ServerlessService"),
    "keda.sh": ("ScaledObject",),
}


@dataclass
class State:
    """One state after it came to rest: what was before, what is after, what happened."""

    name: str
    settings: Settings
    before: World
    after: World
    cascade: cascade.Cascade
    faults: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    writes: list[Ref] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def generated(self) -> tuple[Raw, ...]:
        """Every object that the last reconciles want, as it is stored."""
        wanted = {
            ref_of(obj)
            for step in self.cascade.steps
            for obj in (
                *step.emission.objects,
                *(child.body for child in step.outcome.children),
            )
        }
        return tuple(obj for obj in self.after if ref_of(obj) in wanted)

    def measure(self, word: str, of: str) -> Any:
        """A measure of the README's table. Raises LookupError for one that is not taken."""
        if of and word != "writes":
            raise LookupError(f"`of` has no meaning with measure {word}")
        measures: dict[str, Any] = {
            "writes": sum(1 for ref in self.writes if not of or str(ref) == of),
            "errors": len(self.faults),
            "events": self.events,
            "seconds": self.seconds,
        }
        if word not in measures:
            raise LookupError(f"measure {word} is not taken")
        return measures[word]


def settle(name: str, world: World, settings: Settings, *, workloads: bool) -> State:
    """Reconcile until a pass writes nothing; a world that never rests is a fault."""
    sources = {
        ISVC: with_workloads if workloads else kserve.reconcile_routes,
        GRAPH: graph.reconcile,
    }
    if workloads:
        settings = replace(settings, write=frozenset({"routes", "workloads"}))
    start = time.process_time()
    before = world
    steps: dict[Ref, cascade.Step] = {}
    state = State(name, settings, before, world, cascade.Cascade(world, (), 0, world))
    for number in range(1, MAX_PASSES + 1):
        passed: dict[Ref, cascade.Step] = {}
        after = cascade.one_pass(world, settings, now=_now(number), sources=sources, steps=passed)
        steps.update(passed)
        state.writes += _written(world, after)
        state.events += _warnings(passed.values())
        if after is world:
            break
        world = after
    else:
        state.faults.append(RESTLESS)
    state.after = world
    state.cascade = cascade.Cascade(world, tuple(steps.values()), number, before)
    state.faults += [fault.message for step in steps.values() for fault in step.faults]
    state.seconds = time.process_time() - start
    return state


def _now(number: int) -> datetime:
    return datetime.fromisoformat(f"2026-01-01T00:00:{number:02d}+00:00")


def _written(before: World, after: World) -> list[Ref]:
    """Objects that a pass created, changed or deleted; spec and status are two writes."""
    old = {ref_of(obj): obj for obj in before}
    new = {ref_of(obj): obj for obj in after}
    refs = [ref for ref in old if ref not in new]
    for ref, obj in new.items():
        mine = old.get(ref)
        if mine is None:
            refs.append(ref)
        elif mine != obj:
            refs += [ref] * (_without_status(mine) != _without_status(obj))
            refs += [ref] * (mine.get("status") != obj.get("status"))
    return refs


def _without_status(obj: Raw) -> dict[str, Any]:
    return {key: value for key, value in obj.items() if key != "status"}


def _warnings(steps: Iterable[cascade.Step]) -> list[str]:
    return [
        str(step.ref) for step in steps for event in step.outcome.events if event.type == "Warning"
    ]


def with_workloads(obj: Raw, *, reads: Reads, now: datetime) -> Outcome:
    """The routing step on the stored status, and beside it the workloads of the service."""
    routes = kserve.reconcile_routes(obj, reads=reads, now=now)
    full = kserve.reconcile(obj, reads=reads.over(_runtimes()), now=now)
    return values.replace(
        routes,
        children=full.children,
        findings=tuple(dict.fromkeys((*routes.findings, *full.findings))),
        faults=tuple(dict.fromkeys((*routes.faults, *full.faults))),
    )


@functools.cache
def _runtimes() -> tuple[Raw, ...]:
    return (*comparing.documents(RUNTIMES.read_text()), selecting.KNATIVE_AUTOSCALER)


def changed(world: World, entry: Mapping[str, Any], *, keep_status: bool) -> World:
    """The world after `apply`, `observe` and `delete` of a state, in this order."""
    unknown = set(entry) - FIELDS
    if unknown:
        raise ValueError(f"a state has no field {sorted(unknown)}")
    world = _applied(world, comparing.documents(entry.get("apply")), keep_status=keep_status)
    world = world.overlay(
        {**(world.get(ref_of(seen)) or seen), "status": seen.get("status") or {}}
        for seen in comparing.documents(entry.get("observe"))
    )
    gone = [_named(world, text) for text in entry.get("delete") or ()]
    return world.overlay((), without=gone) if gone else world


def _applied(world: World, objects: Iterable[Raw], *, keep_status: bool) -> World:
    new = []
    for obj in objects:
        stored = world.get(ref_of(obj)) or {}
        body = copy.deepcopy(dict(obj))
        for key in ("uid", "creationTimestamp"):
            if key in (stored.get("metadata") or {}):
                body["metadata"].setdefault(key, stored["metadata"][key])
        if keep_status and "status" not in body and "status" in stored:
            body["status"] = stored["status"]
        new.append(body)
    return world.overlay(new)


def _named(world: World, text: str) -> Ref:
    found = [ref_of(obj) for obj in world if str(ref_of(obj)) == text]
    if not found:
        raise ValueError(f"no object {text} to delete")
    return found[0]


def adjusted(settings: Settings, entry: Mapping[str, Any]) -> Settings:
    """The settings with a state's `missingGroups` and `clusterDomain`."""
    absent = frozenset(
        (group, kind)
        for group in entry.get("missingGroups") or ()
        for kind in GROUP_KINDS.get(group, ())
    )
    return replace(
        settings,
        absent=settings.absent | absent,
        cluster_domain=entry.get("clusterDomain") or settings.cluster_domain,
    )
