"""From a world to the world after all reconciles: what preview, render, check and up share.

One pass reconciles every object of a source once and settles what it wants; passes follow
one another until nothing changes. The controller does the same for one object at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from ingressctl.api.refs import Raw, Ref, owner_of, ref_of
from ingressctl.core import ports
from ingressctl.core.outcome import Fault, Finding, Outcome
from ingressctl.core.settings import Settings
from ingressctl.core.world import Kind, Reads, World
from ingressctl.plan import registry
from ingressctl.plan.settle import Settlement, settle
from ingressctl.sources.kserve import reconcile as kserve

MAX_PASSES = 10


class Reconcile(Protocol):
    """A source's pure function."""

    def __call__(self, obj: Raw, *, reads: Reads, now: datetime) -> Outcome:
        """All that follows from one object."""
        ...


SOURCES: Mapping[Kind, Reconcile] = {
    ("serving.kserve.io", "InferenceService"): kserve.reconcile,
}


@dataclass(frozen=True, slots=True)
class Step:
    """One reconciled object: its outcome, what was emitted and what changes."""

    ref: Ref
    outcome: Outcome
    emission: ports.Emission
    settlement: Settlement

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
    """The world after all passes, and the last step of every reconciled object."""

    world: World
    steps: tuple[Step, ...]
    passes: int


def run(
    world: World,
    settings: Settings,
    *,
    now: datetime,
    sources: Mapping[Kind, Reconcile] = SOURCES,
    providers: Mapping[str, ports.Provider] | None = None,
    passes: int = MAX_PASSES,
) -> Cascade:
    """Reconcile until nothing changes, at most `passes` times."""
    steps: dict[Ref, Step] = {}
    for number in range(1, passes + 1):
        before = world
        world = one_pass(
            world, settings, now=now, sources=sources, steps=steps, providers=providers
        )
        if world is before:
            return Cascade(world, tuple(steps.values()), number)
    return Cascade(world, tuple(steps.values()), passes)


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
    written: dict[Ref, Raw] = {}
    gone: list[Ref] = []
    for kind, reconcile in sources.items():
        for obj in world.list(kind):
            step = reconcile_one(obj, reconcile, world, settings, now=now, providers=providers)
            steps[step.ref] = step
            for changed in (*step.settlement.created, *step.settlement.changed):
                written[ref_of(changed)] = changed
            gone.extend(step.settlement.deleted)
            new = with_status(obj, step.outcome.status)
            if new is not None:
                written[step.ref] = new
    return world.overlay(written.values(), without=gone) if written or gone else world


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
    reads = Reads(world, settings, providers=providers)
    outcome = reconcile(obj, reads=reads, now=now)
    emission = emit(outcome, reads)
    settlement = settle(
        owner_of(obj),
        (*emission.objects, *(child.body for child in outcome.children)),
        kinds=registry.routing_kinds(providers),
        keep=outcome.keep,
        reads=reads,
    )
    return Step(ref_of(obj), outcome, emission, settlement)


def emit(outcome: Outcome, reads: Reads) -> ports.Emission:
    """The provider's objects for the outcome's routes."""
    if not outcome.routes:
        return ports.nothing()
    return reads.providers[outcome.provider].emit(outcome.routes, reads=reads)


def with_status(obj: Raw, status: Mapping[str, Any] | None) -> Raw | None:
    """The object with a new status, or None if it already has it."""
    if status is None or status == (obj.get("status") or {}):
        return None
    return {**obj, "status": status}
