"""From a world to the world after all reconciles: what preview, render, check and up share.

One pass reconciles every object of a source once and settles what it wants; passes follow
one another until nothing changes, and leave out what read nothing that the last one wrote.
The controller does the same for one object at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from ingressctl.api.refs import Owner, Raw, Ref, owner_of, ref_of, uid_of
from ingressctl.core import conditions, ports
from ingressctl.core.outcome import Fault, Finding, Keep, Outcome
from ingressctl.core.settings import Settings
from ingressctl.core.values import Value, replace
from ingressctl.core.world import Claimant, Kind, Lookup, Reads, World
from ingressctl.plan import external, registry
from ingressctl.plan.settle import Settlement, settle
from ingressctl.sources.graph import claims as graph_claims
from ingressctl.sources.graph import reconcile as graph
from ingressctl.sources.knative import reconcile as knative
from ingressctl.sources.knative import traffic
from ingressctl.sources.kserve import claims as kserve_claims
from ingressctl.sources.kserve import reconcile as kserve

MAX_PASSES = 10


class Reconcile(Protocol):
    """A source's pure function."""

    def __call__(self, obj: Raw, *, reads: Reads, now: datetime) -> Outcome:
        """All that follows from one object."""
        ...


SOURCES: Mapping[Kind, Reconcile] = {
    ("serving.kserve.io", "InferenceService"): kserve.reconcile,
    ("serving.kserve.io", "InferenceGraph"): graph.reconcile,
}
SECOND_HOPS: Mapping[Kind, Reconcile] = {
    traffic.KNATIVE_SERVICE: knative.reconcile,
}
"""Sources beside these where proxies of our own serve the cluster's routes."""
CLAIMANTS: tuple[Claimant, ...] = (kserve_claims.CLAIMANT, graph_claims.CLAIMANT)


class Touched:
    """Objects that changed, arranged so that it is quick to see which lookups they answer.

    `writers` are the owners whose reconcile changed them, where one did; `settled` are
    objects that are assumed ready (Settings.fresh).
    """

    __slots__ = ("places", "refs", "settled", "sources", "writers")

    def __init__(
        self,
        refs: Iterable[Ref],
        writers: Mapping[Ref, Ref] | None = None,
        settled: frozenset[Ref] = frozenset(),
    ) -> None:
        self.refs = frozenset(refs)
        self.writers = writers or {}
        self.settled = settled
        self.places: set[tuple[str, str, str | None]] = set()
        for ref in self.refs:
            self.places |= {(ref.group, ref.kind, ref.namespace), (ref.group, ref.kind, None)}
        self.sources = any(
            (ref.group, ref.kind) in SOURCES for ref in self.refs if ref not in settled
        )

    def concerns(self, step: Step) -> bool:
        """Whether the object of a step has to be looked at again.

        One that is assumed ready, and waits for nothing, has taken for granted what it made.
        """
        owner = step.ref
        if owner not in self.settled or step.outcome.again is not None:
            return owner in self.refs or step.read_any(self)
        return any(
            self.answers(lookup)
            for lookup in step.lookups
            if lookup.what != "get" or self.writers.get(Ref(*lookup.key)) != owner
        )

    def answers(self, lookup: Lookup) -> bool:
        """Whether the answer to a lookup may be another one now.

        What an owner owns is changed by its own reconcile alone, which asks again itself.
        """
        what, key = lookup.what, lookup.key
        if what in ("get", "exists"):
            return key in self.refs
        if what == "config":
            return Ref("", "ConfigMap", key[0], key[1]) in self.refs
        if what in ("list", "holds"):
            return key[:3] in self.places
        return what == "claims" and self.sources


class Step(Value, frozen=True):
    """One reconciled object: its outcome, what was emitted and what changes."""

    ref: Ref
    outcome: Outcome
    emission: ports.Emission
    settlement: Settlement
    lookups: tuple[Lookup, ...] = ()

    def read_any(self, touched: Touched) -> bool:
        """Whether the reconcile looked at one of these objects, or for them in vain."""
        return any(touched.answers(lookup) for lookup in self.lookups)

    @property
    def status(self) -> Mapping[str, Any] | None:
        """The outcome's status; its condition is False while an object is blocked (F110)."""
        status, blocked = self.outcome.status, self.settlement.blocked
        if status is None or not blocked or not self.outcome.answers_for:
            return status
        names = ", ".join(map(str, blocked))
        return conditions.denied(
            {key: value for key, value in status.items() if key != "url"},
            self.outcome.answers_for,
            reason="ObjectNotOwned",
            message=f"{names} exists and is not owned by {self.ref}: it is left alone",
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that the step has to say."""
        return (*self.outcome.findings, *self.emission.findings, *self.settlement.findings)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Why the reconcile did not come to its end."""
        return self.outcome.faults


@dataclass(frozen=True, slots=True)
class Cascade:
    """The world after all passes, and the last step of every reconciled object.

    `start` is the world before the first pass, with the statuses that others wrote.
    """

    world: World
    steps: tuple[Step, ...]
    passes: int
    start: World


def run(
    world: World,
    settings: Settings,
    *,
    now: datetime,
    sources: Mapping[Kind, Reconcile] = SOURCES,
    providers: Mapping[str, ports.Provider] | None = None,
    passes: int = MAX_PASSES,
    only: frozenset[Ref] | None = None,
) -> Cascade:
    """Reconcile until nothing changes, at most `passes` times; `only` these objects if given."""
    steps: dict[Ref, Step] = {}
    start = world
    wrote: Touched | None = None
    for number in range(1, passes + 1):
        due = _due(world, sources, only, steps, wrote)
        before = world
        world, wrote = _pass_over(
            due, world, settings, now=now, sources=sources, steps=steps, providers=providers
        )
        if world is before:
            return Cascade(world, tuple(steps.values()), number, start)
    return Cascade(world, tuple(steps.values()), passes, start)


def one_pass(
    world: World,
    settings: Settings,
    *,
    now: datetime,
    sources: Mapping[Kind, Reconcile],
    steps: dict[Ref, Step],
    providers: Mapping[str, ports.Provider] | None = None,
) -> World:
    """Every object of a source once; the same world comes back if nothing changed."""
    due = _due(world, sources, None, steps, None)
    return _pass_over(
        due, world, settings, now=now, sources=sources, steps=steps, providers=providers
    )[0]


def _due(
    world: World,
    sources: Mapping[Kind, Reconcile],
    only: frozenset[Ref] | None,
    steps: Mapping[Ref, Step],
    wrote: Touched | None,
) -> list[Raw]:
    """The objects to reconcile: all at first, then those whose reading `wrote` touched."""
    due: list[Raw] = []
    for kind in sources:
        for obj in world.list(kind):
            ref = ref_of(obj)
            if only is not None and ref not in only:
                continue
            step = steps.get(ref)
            if step is None or wrote is None or wrote.concerns(step):
                due.append(obj)
    return due


def _pass_over(
    due: Iterable[Raw],
    world: World,
    settings: Settings,
    *,
    now: datetime,
    sources: Mapping[Kind, Reconcile],
    steps: dict[Ref, Step],
    providers: Mapping[str, ports.Provider] | None = None,
) -> tuple[World, Touched]:
    """Reconcile `due` against one world; the world after it, and what was written."""
    written: dict[Ref, Raw] = {}
    gone: list[Ref] = []
    writers: dict[Ref, Ref] = {}
    for obj in due:
        ref = ref_of(obj)
        reconcile = sources[(ref.group, ref.kind)]
        step = reconcile_one(obj, reconcile, world, settings, now=now, providers=providers)
        steps[step.ref] = step
        for changed in (*step.settlement.created, *step.settlement.changed):
            made = ref_of(changed)
            if made in writers and _is_older(writers[made], ref, world):
                continue  # the other one finds a foreign object in its next pass (Q50)
            written[made], writers[made] = changed, ref
        gone.extend(step.settlement.deleted)
        new = with_status(obj, step.status)
        if new is not None:
            written[step.ref] = new
    if not (written or gone):
        return world, Touched(())
    touched = Touched((*written, *gone), writers, settings.fresh)
    return world.overlay(written.values(), without=gone), touched


def _is_older(one: Ref, other: Ref, world: World) -> bool:
    """Whether an owner exists longer than another, or comes first by name."""
    return _age(one, world) < _age(other, world)


def _age(ref: Ref, world: World) -> tuple[bool, str, str, str]:
    created = owner_of(world.get(ref) or {}).created
    return (not created, created, ref.namespace, ref.name)


def reconcile_one(
    obj: Raw,
    reconcile: Reconcile,
    world: World,
    settings: Settings,
    *,
    now: datetime,
    providers: Mapping[str, ports.Provider] | None = None,
) -> Step:
    """One object: reconcile, emit, settle. Without `providers` the installed ones are used."""
    providers = registry.providers() if providers is None else providers
    reads = Reads(world, settings, providers=providers, claimants=CLAIMANTS)
    owner = owner_of(obj)
    outcome = withheld(reconcile(obj, reads=reads, now=now), owner, reads)
    emission = external.with_live_weights(obj, emit(outcome, reads), reads)
    kinds = registry.routing_kinds(providers)
    settlement = settle_parts(owner, outcome, emission, kinds=kinds, reads=reads)
    return Step(ref_of(obj), outcome, emission, settlement, tuple(reads.lookups))


def withheld(outcome: Outcome, owner: Owner, reads: Reads) -> Outcome:
    """The outcome without routes where a Service of somebody else has the name of ours: they
    would show the world what he never asked to show (F110)."""
    ours = (
        child.ref
        for child in outcome.children
        if child.part in reads.settings.write and child.ref.kind == "Service"
    )
    if not outcome.routes or all(_may_lead_to(ref, owner, reads) for ref in ours):
        return outcome
    return replace(outcome, routes=(), keep=Keep(hidden=True))


def _may_lead_to(ref: Ref, owner: Owner, reads: Reads) -> bool:
    """Whether a Service is ours. What no API server holds yet belongs to who wrote the files."""
    stored = reads.get(ref)
    return stored is None or not uid_of(stored) or owner.controls(stored)


def settle_parts(
    owner: Owner,
    outcome: Outcome,
    emission: ports.Emission,
    *,
    kinds: tuple[Kind, ...],
    reads: Reads,
) -> Settlement:
    """The changes of those parts that are ours to write (design.md section 5).

    Workloads of somebody else that do not exist yet are laid into the world all the same:
    routes lead to them, and whoever asks a route goes on to them. Existing ones stay, save
    one that is taken to become ready as it is wanted (`Child.assumed`).
    """
    parts = reads.settings.write
    routes = "routes" in parts
    children = (
        {**child.body, "status": child.assumed} if child.assumed else child.body
        for child in outcome.children
        if child.part in parts or child.assumed or reads.world.get(child.ref) is None
    )
    return settle(
        owner,
        (*(emission.objects if routes else ()), *children),
        kinds=kinds if routes else (),
        keep=outcome.keep,
        reads=reads,
        gone=outcome.gone if "workloads" in parts else (),
    )


def emit(outcome: Outcome, reads: Reads) -> ports.Emission:
    """The provider's objects for the outcome's routes."""
    if not outcome.routes:
        return ports.nothing()
    return reads.providers[outcome.provider].emit(outcome.routes, reads=reads)


def with_status(obj: Raw, status: Mapping[str, Any] | None) -> Raw | None:
    """The object with a new status, or None if it already has it."""
    stored = obj.get("status") or {}
    if status is None or status == stored:
        return None
    timed = conditions.with_times(status, stored)
    return None if timed == stored else {**obj, "status": timed}
