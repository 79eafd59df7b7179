"""Stage `select`: admission, then passes until nothing changes (runtime-selection README).

Between passes Deployments are marked available and Knative Services ready, as the
recording did, so that routes are made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core.settings import Settings
from ingressctl.core.world import Kind, World
from ingressctl.plan import cascade
from ingressctl.sources.kserve import reconcile as kserve
from tests.cases import admission_stage, comparing
from tests.cases.loading import Run
from tests.cases.results import Result

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ISVC: Kind = ("serving.kserve.io", "InferenceService")
SHIPPED = Path(__file__).parent / "suites" / "runtime-selection" / "shipped-runtimes.yaml"
MAX_PASSES = 10

KNATIVE_AUTOSCALER = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "config-autoscaler", "namespace": "knative-serving"},
    "data": {},
}
"""Knative installs it; the recorded cluster had it."""


def play(run: Run, settings: Settings) -> Result:
    """The input, then each update after all is at rest."""
    cluster = _Cluster(run, settings, World.of([KNATIVE_AUTOSCALER]))
    objects = comparing.documents(run.case["input"])
    if run.case.get("shipped"):
        objects[1:1] = comparing.documents(SHIPPED.read_text())
    for step in (objects, *map(comparing.documents, run.case.get("updates") or ())):
        for obj in step:
            cluster.put(obj)
        cluster.settle()
    stored = next(iter(cluster.world.list(ISVC)), None)
    return Result(cluster.world, cluster.faults, tuple(cluster.steps.values()), stored=stored)


@dataclass
class _Cluster:
    """The world of one case while it is played through."""

    run: Run
    settings: Settings
    world: World
    faults: list[str] = field(default_factory=list)
    steps: dict[Ref, cascade.Step] = field(default_factory=dict)
    created: int = 0

    def put(self, obj: dict[str, Any]) -> None:
        """Create, update or delete one object through admission; a refusal is a fault."""
        ref = ref_of(obj)
        if obj.pop("delete", False):
            self.world = self.world.overlay((), without=[ref])
            return
        stored = {ref_of(other): other for other in self.world}
        after = admission_stage.admit([obj], run=self.run, stored=stored)
        self.faults += after.messages
        if ref not in after.refused:
            self.world = self.world.overlay([self._kept(after.stored[ref], stored.get(ref))])

    def _kept(self, new: Raw, old: Raw | None) -> Raw:
        """With the creation time and the status that the API server keeps."""
        self.created += 1
        second = self.created if self.run.case.get("created_apart") else 0
        created = f"2026-01-01T00:00:{second:02d}Z"
        if old is not None:
            created = old["metadata"].get("creationTimestamp", created)
        kept = {**new, "metadata": {**new["metadata"], "creationTimestamp": created}}
        if old is not None and "status" in old:
            kept["status"] = old["status"]
        return kept

    def settle(self) -> None:
        """Passes until nothing changes any more."""
        sources = {ISVC: kserve.reconcile}
        for _ in range(MAX_PASSES):
            before = self.world
            after = cascade.one_pass(
                before, self.settings, now=NOW, sources=sources, steps=self.steps
            )
            self.faults += [fault.message for step in self.steps.values() for fault in step.faults]
            ready = list(marked(after))
            self.world = after.overlay(ready) if ready else after
            if self.world is before:
                return
        raise AssertionError(f"not at rest after {MAX_PASSES} passes")


def marked(world: World) -> Iterable[Raw]:
    """Deployments and Knative Services without a status, as they are when they are ready."""
    for obj in world.list(("apps", "Deployment")):
        if "status" not in obj:
            yield {**obj, "status": AVAILABLE}
    for obj in world.list(("serving.knative.dev", "Service")):
        if "status" not in obj:
            yield {**obj, "status": _knative_status(obj["metadata"])}


AVAILABLE = {
    "availableReplicas": 1,
    "conditions": [{"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}],
}


def _knative_status(meta: Raw) -> Raw:
    name, namespace = meta["name"], meta["namespace"]
    types = ("ConfigurationsReady", "RoutesReady", "Ready")
    return {
        "url": f"http://{name}.{namespace}.example.com",
        "address": {"url": f"http://{name}.{namespace}.svc.cluster.local"},
        "latestCreatedRevisionName": f"{name}-00001",
        "latestReadyRevisionName": f"{name}-00001",
        "conditions": [{"type": kind, "status": "True"} for kind in types],
    }
