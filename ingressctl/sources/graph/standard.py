"""Service and Deployment of a graph's router in Standard mode (spec/inferencegraph.md 7)."""

from __future__ import annotations

from typing import Any

from ingressctl.api.refs import Raw
from ingressctl.core.kserve import configuration
from ingressctl.sources.graph import pods
from ingressctl.sources.graph.scope import CLASS_ANNOTATION, DEPLOYMENT, GRAPH_LABEL, Scope

PORT = 80


def app(scope: Scope) -> str:
    """What the pods are selected by."""
    return f"isvc.{scope.graph.name}"


def labels(scope: Scope) -> dict[str, str]:
    """The labels of all objects."""
    graph = scope.graph
    return {**graph.labels, GRAPH_LABEL: graph.name, "app": app(scope)}


def service(scope: Scope) -> Raw:
    """The Service in front of the router."""
    port = {"name": scope.graph.name, "protocol": "TCP", "port": PORT, "targetPort": pods.PORT}
    spec: dict[str, Any] = {"ports": [port], "selector": {"app": app(scope)}}
    if configuration.headless(scope.reads):
        spec["clusterIP"] = "None"
    return {**scope.frame("v1", "Service", labels(scope), scope.annotations()), "spec": spec}


def deployment(scope: Scope) -> Raw:
    """The Deployment of the router. Raises configmaps.ConfigFault."""
    frame = scope.frame("apps/v1", "Deployment", labels(scope), scope.annotations())
    metadata = {key: value for key, value in frame["metadata"].items() if key != "ownerReferences"}
    spec: dict[str, Any] = {
        "selector": {"matchLabels": {"app": app(scope)}},
        "strategy": _strategy(scope),
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
        "template": {"metadata": metadata, "spec": _pod(scope)},
    }
    fixed = scope.graph.annotations.get(CLASS_ANNOTATION) == "none"
    if fixed and scope.graph.spec.minReplicas is not None:
        spec["replicas"] = scope.graph.spec.minReplicas
    return {**frame, "spec": spec}


def _strategy(scope: Scope) -> dict[str, Any]:
    chosen = configuration.rollout_strategy(scope.reads)
    default = {"maxSurge": "25%", "maxUnavailable": "25%"}
    return {"type": "RollingUpdate", "rollingUpdate": dict(chosen) or default}


def _pod(scope: Scope) -> dict[str, Any]:
    router = {
        "name": scope.graph.name,
        "imagePullPolicy": scope.router.imagePullPolicy or "IfNotPresent",
        **pods.container(scope, scope.reads.get(scope.ref(DEPLOYMENT))),
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }
    return {
        **pods.spec(scope, router),
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "securityContext": {},
        "schedulerName": "default-scheduler",
    }
