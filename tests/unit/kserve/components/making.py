"""Small worlds for the components phase."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core.differences import Compat
from ingressctl.core.outcome import Outcome
from ingressctl.core.settings import Part, Settings
from ingressctl.core.world import Reads, World
from ingressctl.plan import cascade, registry
from ingressctl.sources.kserve import reconcile as kserve

NOW = datetime(2026, 1, 1, tzinfo=UTC)
EVERYTHING = frozenset[Part](("routes", "workloads"))
UID = "0b0e1f4e-0000-0000-0000-000000000001"
INGRESS = {
    "enableGatewayApi": True,
    "kserveIngressGateway": "kserve/kserve-gateway",
    "ingressGateway": "knative-serving/knative-ingress-gateway",
    "localGateway": "knative-serving/knative-local-gateway",
    "localGatewayService": "knative-local-gateway.istio-system.svc.cluster.local",
}


def config(mode: str) -> Raw:
    data = {
        "ingress": json.dumps(INGRESS),
        "deploy": json.dumps({"defaultDeploymentMode": mode}),
        "inferenceService": "{}",
    }
    return configmap("inferenceservice-config", "kserve", data)


def configmap(name: str, namespace: str, data: Mapping[str, str]) -> Raw:
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": dict(data)}


def model(name: str = "sklearn", **fields: Any) -> dict[str, Any]:
    return {"modelFormat": {"name": name}, "storageUri": "s3://bucket/model", **fields}


def service(spec: Mapping[str, Any], **meta: Any) -> Raw:
    return {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": "iris", "namespace": "team-a", "uid": UID, **meta},
        "spec": dict(spec),
    }


def runtime(name: str, *formats: Mapping[str, Any], **spec: Any) -> Raw:
    return {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "ClusterServingRuntime",
        "metadata": {"name": name},
        "spec": {
            "supportedModelFormats": [dict(entry) for entry in formats],
            "containers": [{"name": "kserve-container", "image": f"example/{name}:1"}],
            **spec,
        },
    }


SKLEARN = {"name": "sklearn", "version": "1", "autoSelect": True}
XGBOOST = {"name": "xgboost", "version": "1", "autoSelect": True}


def owned(kind: str, name: str, status: Mapping[str, Any] | None = None, **fields: Any) -> Raw:
    """A workload that the service controls, with KServe's two labels."""
    versions = {"Deployment": "apps/v1", "Service": "v1", "KService": "serving.knative.dev/v1"}
    reference = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "name": "iris",
        "uid": UID,
        "controller": True,
    }
    labels = {"serving.kserve.io/inferenceservice": "iris", "component": "predictor"}
    meta = {
        "name": name,
        "namespace": "team-a",
        "labels": labels,
        "ownerReferences": [reference],
    }
    obj: dict[str, Any] = {
        "apiVersion": versions[kind],
        "kind": kind.removeprefix("K"),
        "metadata": meta,
        "spec": {},
        **fields,
    }
    return obj if status is None else {**obj, "status": dict(status)}


AVAILABLE = {
    "availableReplicas": 1,
    "conditions": [{"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}],
}


def settings(compat: str = "better", **changes: Any) -> Settings:
    return replace(Settings(compat=Compat.parse(compat), write=EVERYTHING), **changes)


def reads(objects: Iterable[Raw], chosen: Settings | None = None) -> Reads:
    return Reads(World.of(objects), chosen or settings(), providers=registry.providers())


def reconcile(
    obj: Raw, *others: Raw, mode: str = "Standard", chosen: Settings | None = None
) -> Outcome:
    """One reconcile of `obj` in a world of these objects."""
    return kserve.reconcile(obj, reads=reads((config(mode), obj, *others), chosen), now=NOW)


def step(
    obj: Raw, *others: Raw, mode: str = "Standard", chosen: Settings | None = None
) -> cascade.Step:
    """As reconcile, settled against the world."""
    world = World.of((config(mode), obj, *others))
    return cascade.reconcile_one(obj, kserve.reconcile, world, chosen or settings(), now=NOW)


def child(outcome: Outcome, kind: str, name: str) -> Raw:
    """The body of one wanted workload."""
    group, _, plain = kind.rpartition("/")
    bodies = {item.ref: item.body for item in outcome.children}
    return bodies[Ref(group, plain, "team-a", name)]


def condition(outcome: Outcome, kind: str) -> Mapping[str, Any]:
    assert outcome.status is not None
    found = {item["type"]: item for item in outcome.status["conditions"]}
    missing: dict[str, Any] = {}
    return found.get(kind, missing)


def refs(objects: Iterable[Raw]) -> list[str]:
    return sorted(str(ref_of(obj)) for obj in objects)
