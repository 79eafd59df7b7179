"""Stages about InferenceGraphs (suites graph-validation and graph-render)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from ingressctl.api import admission, inferencegraphs
from ingressctl.api.admission import Operation, schema
from ingressctl.api.models.inferencegraphs import InferenceGraph
from ingressctl.api.refs import Raw, Ref, owner_of, ref_of
from ingressctl.core.differences import Compat
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import cascade
from ingressctl.sources.graph import reconcile as graph
from tests.cases import comparing
from tests.cases.admission_stage import differs_of
from tests.cases.loading import Run
from tests.cases.results import Result

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OPERATIONS: dict[str, Operation] = {"CREATE": "create", "UPDATE": "update", "DELETE": "delete"}
KINDS = (
    ("serving.knative.dev", "Service"),
    ("apps", "Deployment"),
    ("", "Service"),
    ("autoscaling", "HorizontalPodAutoscaler"),
    ("keda.sh", "ScaledObject"),
)
"""What counts of the world afterwards (graph-render/README.md)."""


def validate(run: Run) -> Result:
    """The webhook alone, or the schema of the CRD alone (graph-validation/README.md)."""
    (obj,) = comparing.documents(run.case["input"])
    if run.case["level"] == "schema":
        refused = schema.parse(InferenceGraph, obj)[1]
        return Result(World.of([]), [refusal.message for refusal in refused])
    differs, operation = differs_of(run), OPERATIONS[run.case["operation"]]
    refused = admission.validate(obj, operation=operation, config={}, differs=differs)
    admitted = admission.admit(obj, operation=operation, config={}, differs=differs)
    warnings = [warning.message for warning in admitted.warnings]
    return Result(World.of([]), [refusal.message for refusal in refused], warnings=warnings)


def render(run: Run) -> Result:
    """One reconcile of the last document; the same graph again must write nothing."""
    objects = comparing.documents(run.case["input"])
    settings = _settings(run)
    world = World.of(objects)
    steps: dict[Ref, cascade.Step] = {}
    sources = {inferencegraphs.KIND: graph.reconcile}
    after = cascade.one_pass(world, settings, now=NOW, sources=sources, steps=steps)
    again: dict[Ref, cascade.Step] = {}
    as_before = after.overlay([objects[-1]])
    cascade.one_pass(as_before, settings, now=NOW, sources=sources, steps=again)
    loud = [str(ref) for ref, step in again.items() if not step.settlement.quiet]
    assert not loud, f"a second pass writes again for {loud}"
    return Result(
        after,
        [fault.message for step in steps.values() for fault in step.faults],
        tuple(steps.values()),
        objects=[_view(obj) for kind in KINDS for obj in after.list(kind) if not _is_route(obj)],
        stored=after.get(ref_of(objects[-1])),
    )


def _settings(run: Run) -> Settings:
    installed = (run.case.get("cluster") or {}).get("knativeServing", True)
    absent = frozenset() if installed else frozenset({("serving.knative.dev", "Service")})
    return replace(
        Settings(compat=Compat.parse(run.compat), absent=absent),
        write=frozenset({"routes", "workloads"}),
    )


def _is_route(obj: Raw) -> bool:
    return (obj.get("spec") or {}).get("type") == "ExternalName"


def _view(obj: Raw) -> Raw:
    """The object with the graph of its argument as JSON (graph-render/README.md)."""
    template = (obj.get("spec") or {}).get("template") or {}
    containers = (template.get("spec") or {}).get("containers")
    if not containers:
        return obj
    read = [{**item, "args": _args(item.get("args") or [])} for item in containers]
    pod = {**template["spec"], "containers": read}
    return {**obj, "spec": {**obj["spec"], "template": {**template, "spec": pod}}}


def _args(args: list[str]) -> list[Any]:
    return [args[0], json.loads(args[1])] if args[:1] == ["--graph-json"] else list(args)


def adopt(objects: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Workloads without owner that are called like a graph belong to it."""
    objects = list(objects)
    graphs = {
        ref_of(obj)[2:]: owner_of(obj).reference()
        for obj in objects
        if ref_of(obj)[:2] == inferencegraphs.KIND
    }
    for obj in objects:
        owner = graphs.get(ref_of(obj)[2:])
        if owner and ref_of(obj)[:2] in KINDS:
            obj["metadata"].setdefault("ownerReferences", [owner])
    return objects


def router_configs(ran: cascade.Cascade) -> Iterator[tuple[Ref, Any]]:
    """What the router of each graph is given."""
    for step in ran.steps:
        for child in step.outcome.children:
            template = (child.body.get("spec") or {}).get("template") or {}
            for item in (template.get("spec") or {}).get("containers") or ():
                if item.get("args", [""])[0] == "--graph-json":
                    yield step.ref, json.loads(item["args"][1])


def judge(run: Run, result: Result) -> list[str]:
    """Objects, status, event and the wish to be asked again."""
    faults: list[str] = []
    if "expected" in run.expect:
        wanted = [_view(obj) for obj in comparing.documents(run.expect["expected"])]
        faults += comparing.compare_objects(result.objects or (), wanted)
    stored = (result.stored or {}).get("status") or {}
    if "status" in run.expect:
        wanted = comparing.documents(run.expect["status"])[0]
        faults += comparing.subset(stored, wanted, "status")
    absent = (field for field in run.expect.get("statusAbsent") or () if stored.get(field))
    faults += [f"status.{field} must not be there: {stored[field]!r}" for field in absent]
    if "event" in run.expect:
        events = [event for step in result.steps for event in step.outcome.events]
        wanted = run.expect["event"]
        found = [event for event in events if event.reason == wanted["reason"]]
        if not found or found[0].type != wanted["type"]:
            faults.append(f"no event {wanted}; there are {events}")
    if run.expect.get("retry") and "error" not in run.expect:
        waits = any(step.outcome.again is not None for step in result.steps)
        faults += [] if waits else ["the reconcile is not tried again"]
    return faults
