"""The autoscaler of a graph in Standard mode: an HPA, a ScaledObject of KEDA, or none."""

from __future__ import annotations

from typing import Any

from ingressctl.api.refs import Raw, Ref
from ingressctl.sources.graph import standard
from ingressctl.sources.graph.scope import CLASS_ANNOTATION, HPA, SCALED_OBJECT, Scope

CLASSES = ("hpa", "keda", "none", "external")
DEFAULT_TARGET = 80


class UnknownClass(ValueError):
    """The annotation names no class of autoscaler."""


def wanted(scope: Scope) -> tuple[Ref, Raw] | None:
    """The autoscaler there should be; None without one. Raises UnknownClass.

    While IG-R5 is off a stored HPA is kept up to date whatever the class says.
    """
    chosen = scope.graph.annotations.get(CLASS_ANNOTATION, "hpa")
    if chosen not in CLASSES:
        raise UnknownClass(f"unknown autoscaler class type: {chosen}")
    if chosen == "keda":
        return scope.ref(SCALED_OBJECT), _scaled_object(scope)
    if chosen == "hpa" or stays(scope):
        return scope.ref(HPA), _hpa(scope)
    return None


def stays(scope: Scope) -> bool:
    """Whether a stored HPA stays that nobody wants any more (IG-R5)."""
    if scope.reads.differs("IG-R5"):
        return False
    stored = scope.reads.get(scope.ref(HPA))
    return stored is not None and scope.graph.owner.controls(stored)


def _bounds(scope: Scope) -> tuple[int, int]:
    spec = scope.graph.spec
    least = max(1 if spec.minReplicas is None else spec.minReplicas, 1)
    return least, max(spec.maxReplicas or 0, least)


def _hpa(scope: Scope) -> Raw:
    least, most = _bounds(scope)
    spec: dict[str, Any] = {
        "scaleTargetRef": _target(scope),
        "minReplicas": least,
        "maxReplicas": most,
        "behavior": {},
    }
    metrics = _metrics(scope)
    if metrics:
        spec["metrics"] = metrics
    return {**_frame(scope, "autoscaling/v2", HPA[1]), "spec": spec}


def _frame(scope: Scope, api_version: str, kind: str) -> dict[str, Any]:
    return scope.frame(api_version, kind, standard.labels(scope), scope.annotations())


def _target(scope: Scope) -> dict[str, str]:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "name": scope.graph.name}


def _metrics(scope: Scope) -> list[dict[str, Any]]:
    """By processor unless said otherwise; what an HPA cannot scale by makes no metric."""
    metric, target = scope.graph.spec.scaleMetric or "cpu", scope.graph.spec.scaleTarget
    if metric == "cpu":
        target = DEFAULT_TARGET if target is None else target
    if metric not in ("cpu", "memory") or target is None:
        return []
    utilization = {"type": "Utilization", "averageUtilization": target}
    return [{"type": "Resource", "resource": {"name": metric, "target": utilization}}]


def _scaled_object(scope: Scope) -> Raw:
    least, most = _bounds(scope)
    spec: dict[str, Any] = {
        "scaleTargetRef": {"name": scope.graph.name},
        "minReplicaCount": least,
        "maxReplicaCount": most,
    }
    triggers = _triggers(scope)
    if triggers:
        spec["triggers"] = triggers
    return {**_frame(scope, "keda.sh/v1alpha1", SCALED_OBJECT[1]), "spec": spec}


def _triggers(scope: Scope) -> list[dict[str, Any]]:
    """KServe writes none, and KEDA refuses the object (IG-R10)."""
    if not scope.reads.differs("IG-R10"):
        return []
    return [
        {
            "type": metric["resource"]["name"],
            "metricType": "Utilization",
            "metadata": {"value": str(metric["resource"]["target"]["averageUtilization"])},
        }
        for metric in _metrics(scope)
    ]
