"""Driving one case: its world, its settings, and the stage that it names."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core.differences import Compat
from ingressctl.core.settings import Part, Settings
from ingressctl.core.world import Kind, World
from ingressctl.plan import cascade
from ingressctl.sources.kserve import reconcile as kserve
from tests.cases import admission_stage, comparing, graph_stage, selecting
from tests.cases.loading import Run
from tests.cases.results import Result

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ISVC: Kind = ("serving.kserve.io", "InferenceService")

EVERYTHING = frozenset[Part](("routes", "workloads"))

ROUTING: frozenset[Kind] = frozenset(
    {
        ("networking.istio.io", "VirtualService"),
        ("gateway.networking.k8s.io", "HTTPRoute"),
        ("networking.k8s.io", "Ingress"),
    }
)


def settings_of(run: Run) -> Settings:
    absent = frozenset(_crd_kind(name) for name in run.case.get("absent_crds") or ())
    return Settings(compat=Compat.parse(run.compat), absent=absent)


def _crd_kind(name: str) -> Kind:
    plural, _, group = name.partition(".")
    kinds = {"virtualservices": "VirtualService"}
    return (group, kinds[plural])


def adopt(objects: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Routing objects without owner references belong to the InferenceService (INDEX.md)."""
    objects = list(objects)
    owners = [obj for obj in objects if ref_of(obj)[:2] == ISVC]
    for obj in objects:
        meta = obj["metadata"]
        if ref_of(obj)[:2] not in ROUTING or "ownerReferences" in meta or not owners:
            continue
        owner = _nearest_owner(obj, owners)
        meta["ownerReferences"] = [
            {
                "apiVersion": owner["apiVersion"],
                "kind": owner["kind"],
                "name": owner["metadata"]["name"],
                "uid": owner["metadata"].get("uid", ""),
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ]
    return objects


def _nearest_owner(obj: Raw, owners: list[dict[str, Any]]) -> Raw:
    name = obj["metadata"]["name"]
    fitting = [owner for owner in owners if name.startswith(owner["metadata"]["name"])]
    return max(fitting or owners, key=lambda owner: len(owner["metadata"]["name"]))


def shuffled(objects: list[dict[str, Any]], run: Run) -> list[dict[str, Any]]:
    """Creation times by order, then any order: nothing may depend on it."""
    for place, obj in enumerate(objects):
        obj["metadata"].setdefault("creationTimestamp", f"2026-01-01T00:00:{place:02d}Z")
    random.Random(run.id).shuffle(objects)
    return objects


def run_case(run: Run) -> Result:
    return STAGES[run.case["stage"]](run)


def run_routes(run: Run) -> Result:
    """Only the routing step, then once more: the second pass must change nothing."""
    settings = settings_of(run)
    objects = shuffled(adopt(comparing.documents(run.case["input"])), run)
    world = World.of(objects)
    sources = {ISVC: kserve.reconcile_routes}
    steps: dict[Ref, cascade.Step] = {}
    after = cascade.one_pass(world, settings, now=NOW, sources=sources, steps=steps)
    result = Result(after, [fault.message for step in steps.values() for fault in step.faults])
    result.steps = tuple(steps.values())
    again: dict[Ref, cascade.Step] = {}
    cascade.one_pass(after, settings, now=NOW, sources=sources, steps=again)
    loud = [str(ref) for ref, step in again.items() if not step.settlement.quiet]
    assert not loud, f"a second pass writes again for {loud}"
    return result


def run_validate(run: Run) -> Result:
    return Result(World.of([]), admission_stage.validate(run))


def run_default(run: Run) -> Result:
    return Result(World.of([]), objects=admission_stage.default(run))


def run_admit_runtime(run: Run) -> Result:
    after = admission_stage.admit(comparing.documents(run.case["input"]), run=run)
    return Result(World.of(list(after.stored.values())), after.messages)


def run_select(run: Run) -> Result:
    return selecting.play(run, replace(settings_of(run), write=EVERYTHING))


def run_reconcile(run: Run) -> Result:
    """A whole pass with all workloads ours; the same service again must write nothing."""
    objects = shuffled(adopt(comparing.documents(run.case["input"])), run)
    return _one_pass(run, objects, kserve.reconcile)


def run_status(run: Run) -> Result:
    """Only the status that follows from the workloads in the input."""
    objects = shuffled(comparing.documents(run.case["input"]), run)
    return _one_pass(run, objects, kserve.reconcile_status)


def _one_pass(run: Run, objects: list[dict[str, Any]], source: cascade.Reconcile) -> Result:
    settings = replace(settings_of(run), write=EVERYTHING)
    world = World.of(objects)
    steps: dict[Ref, cascade.Step] = {}
    after = cascade.one_pass(world, settings, now=NOW, sources={ISVC: source}, steps=steps)
    result = Result(after, [fault.message for step in steps.values() for fault in step.faults])
    result.steps = tuple(steps.values())
    again: dict[Ref, cascade.Step] = {}
    as_before = after.overlay(world.list(ISVC))
    cascade.one_pass(as_before, settings, now=NOW, sources={ISVC: source}, steps=again)
    loud = [str(ref) for ref, step in again.items() if not step.settlement.quiet]
    assert not loud, f"a second pass writes again for {loud}"
    return result


STAGES: Mapping[str, Callable[[Run], Result]] = {
    "routes": run_routes,
    "reconcile": run_reconcile,
    "status": run_status,
    "select": run_select,
    "validate": run_validate,
    "default": run_default,
    "admit-runtime": run_admit_runtime,
    "graph-validation": graph_stage.validate,
    "graph-render": graph_stage.render,
}


def routing_objects(world: World) -> list[Raw]:
    """VirtualServices, Ingresses, HTTPRoutes and ExternalName Services."""
    return [
        obj
        for obj in world
        if ref_of(obj)[:2] in ROUTING
        or (
            ref_of(obj)[:2] == ("", "Service")
            and (obj.get("spec") or {}).get("type") == "ExternalName"
        )
    ]


def services(world: World) -> list[Raw]:
    return list(world.list(ISVC))


__all__ = ["Result", "replace", "routing_objects", "run_case", "services", "settings_of"]
