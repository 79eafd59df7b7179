"""Graphs, what they stand on, and what becomes of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ingressctl.api.refs import Raw, Ref
from ingressctl.core.differences import Compat
from ingressctl.core.settings import Part, Settings
from ingressctl.core.world import World
from ingressctl.plan import cascade, registry
from ingressctl.sources.graph import reconcile as graphs

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BOTH: frozenset[Part] = frozenset({"routes", "workloads"})
ROUTES: frozenset[Part] = frozenset({"routes"})
STANDARD = {"serving.kserve.io/deploymentMode": "Standard"}
KNATIVE = {"serving.kserve.io/deploymentMode": "Knative"}
GRAPH = Ref("serving.kserve.io", "InferenceGraph", "team-a", "pipe")
DEPLOYMENT = Ref("apps", "Deployment", "team-a", "pipe")
SERVICE = Ref("", "Service", "team-a", "pipe")
KSERVICE = Ref("serving.knative.dev", "Service", "team-a", "pipe")
HPA = Ref("autoscaling", "HorizontalPodAutoscaler", "team-a", "pipe")
SCALED = Ref("keda.sh", "ScaledObject", "team-a", "pipe")
MOUNTED = Ref("", "ConfigMap", "team-a", "pipe-graph")
ROUTE = Ref("gateway.networking.k8s.io", "HTTPRoute", "team-a", "pipe-graph")
ROUTER = {
    "image": "router:1",
    "memoryRequest": "100Mi",
    "memoryLimit": "1Gi",
    "cpuRequest": "100m",
    "cpuLimit": "1",
}
INGRESS = {
    "enableGatewayApi": True,
    "kserveIngressGateway": "kserve/gateway",
    "ingressGateway": "a/b",
    "ingressDomain": "example.com",
    "urlScheme": "https",
}


def config(router: Mapping[str, Any] | None = None, **ingress: Any) -> Raw:
    """inferenceservice-config with further keys of `router` and `ingress`."""
    data = {
        "ingress": json.dumps(INGRESS | ingress),
        "deploy": json.dumps({"defaultDeploymentMode": "Standard"}),
        "router": json.dumps(ROUTER | dict(router or {})),
    }
    meta = {"name": "inferenceservice-config", "namespace": "kserve"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def graph(
    *steps: Mapping[str, Any],
    name: str = "pipe",
    annotations: Mapping[str, str] = STANDARD,
    labels: Mapping[str, str] | None = None,
    status: Mapping[str, Any] | None = None,
    created: str = "2026-01-01T00:00:00Z",
    **spec: Any,
) -> dict[str, Any]:
    """A graph with a Sequence of these steps; without any it calls a URL."""
    listed = [*steps] or [{"serviceUrl": "http://model.elsewhere/"}]
    obj: dict[str, Any] = {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "InferenceGraph",
        "metadata": {
            "name": name,
            "namespace": "team-a",
            "uid": f"uid-{name}",
            "generation": 3,
            "creationTimestamp": created,
            "annotations": dict(annotations),
            "labels": dict(labels or {}),
        },
        "spec": {"nodes": {"root": {"routerType": "Sequence", "steps": listed}}, **spec},
    }
    return obj | ({"status": status} if status is not None else {})


def service(name: str = "iris", address: str = "http://iris.team-a.svc", **model: Any) -> Raw:
    """An InferenceService with an address; "" is none yet."""
    predictor = {"model": {"modelFormat": {"name": "sklearn"}, "storageUri": "s3://x", **model}}
    return {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": name, "namespace": "team-a", "annotations": dict(STANDARD)},
        "spec": {"predictor": predictor},
        "status": {"address": {"url": address}} if address else {},
    }


@dataclass
class Cluster:
    """A world in which graphs are reconciled, with what the others there would say."""

    world: World
    settings: Settings

    @classmethod
    def of(
        cls, *objects: Raw, compat: str = "better", write: frozenset[Part] = BOTH, **more: Any
    ) -> Cluster:
        return cls(World.of(objects), Settings(compat=Compat.parse(compat), write=write, **more))

    def put(self, *objects: Raw) -> None:
        self.world = self.world.overlay(objects)

    def get(self, ref: Ref) -> Any:
        return self.world.get(ref)

    def look(self, ref: Ref = GRAPH) -> cascade.Step:
        """One reconcile of a graph, carried out."""
        obj = self.world.get(ref)
        assert obj is not None
        step = cascade.reconcile_one(
            obj,
            graphs.reconcile,
            self.world,
            self.settings,
            now=NOW,
            providers=registry.providers(),
        )
        made = (*step.settlement.created, *step.settlement.changed)
        new = cascade.with_status(obj, step.status)
        written = (*made, *([new] if new is not None else []))
        self.world = self.world.overlay(written, without=step.settlement.deleted)
        return step

    def available(self, status: str = "True", reason: str = "") -> None:
        """The Deployment says whether it is available."""
        said = {"type": "Available", "status": status, "reason": reason}
        self.put({**self.get(DEPLOYMENT), "status": {"conditions": [said]}})

    def accepted(self) -> None:
        """The gateway takes the route."""
        told = [{"type": kind, "status": "True"} for kind in ("Accepted", "ResolvedRefs")]
        route = self.get(ROUTE)
        parent = {
            "parentRef": route["spec"]["parentRefs"][0],
            "controllerName": "x",
            "conditions": told,
        }
        self.put({**route, "status": {"parents": [parent]}})

    def condition(self, kind: str, ref: Ref = GRAPH) -> tuple[str, str, str]:
        """Status, reason and message of a condition of a graph."""
        found = [item for item in self.get(ref)["status"]["conditions"] if item["type"] == kind]
        (one,) = found
        return one["status"], one.get("reason", ""), one.get("message", "")

    def url(self) -> str:
        return str(self.get(GRAPH)["status"].get("url", ""))


def serving(*objects: Raw, **settings: Any) -> Cluster:
    """A cluster whose graph is ready: its router available, its route accepted."""
    cluster = Cluster.of(*(objects or (config(), graph())), **settings)
    cluster.look()
    cluster.available()
    cluster.look()
    cluster.accepted()
    cluster.look()
    return cluster


def argument(obj: Raw) -> Any:
    """The graph that the router of a Deployment or Knative Service is given."""
    (router,) = obj["spec"]["template"]["spec"]["containers"]
    return json.loads(router["args"][1])


def kinds(refs: Iterable[Ref]) -> set[str]:
    return {ref.kind for ref in refs}
