"""The Deployment of a component in Standard mode (spec/kserve-workloads.md 2).

Storage, agent and autoscaler are not here yet: the pod is what runtime and service say.
"""

from __future__ import annotations

from typing import Any

from ingressctl.api.refs import Raw
from ingressctl.sources.kserve.components import pods
from ingressctl.sources.kserve.components.services import CONTAINER_PORT
from ingressctl.sources.kserve.components.workload import CLASS_ANNOTATION, Workload

ROLLING_UPDATE = {
    "type": "RollingUpdate",
    "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
}


def make(workload: Workload) -> Raw:
    """The Deployment of the component's pods."""
    app = f"isvc.{workload.name}"
    labels = {**workload.labels, "app": app}
    frame = workload.frame("apps/v1", "Deployment", labels, workload.annotations)
    spec: dict[str, Any] = {
        "selector": {"matchLabels": {"app": app}},
        **_strategy(workload),
        "template": {"metadata": _template_metadata(frame), "spec": _pod(workload)},
    }
    if workload.replicas is not None and _fixed(workload):
        spec["replicas"] = workload.replicas
    return {**frame, "spec": spec}


def _fixed(workload: Workload) -> bool:
    """Only class none writes replicas: all others are an autoscaler's."""
    return workload.annotations.get(CLASS_ANNOTATION) == "none"


def _strategy(workload: Workload) -> dict[str, Any]:
    given = workload.raw.get("deploymentStrategy")
    if given:
        return {"strategy": given}
    return {
        "strategy": ROLLING_UPDATE,
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    }


def _template_metadata(frame: Raw) -> dict[str, Any]:
    return {key: value for key, value in frame["metadata"].items() if key != "ownerReferences"}


def _pod(workload: Workload) -> dict[str, Any]:
    spec = workload.pod.spec()
    spec["containers"] = [_with_defaults(container) for container in spec["containers"]]
    return spec


def _with_defaults(container: Raw) -> Raw:
    """imagePullPolicy, and a readiness probe for the containers that serve."""
    filled = {"imagePullPolicy": "IfNotPresent", **container}
    if container.get("name") in (pods.MAIN, pods.COLLOCATED):
        filled.setdefault("readinessProbe", _probe(container))
    return filled


def _probe(container: Raw) -> dict[str, Any]:
    ports = container.get("ports") or [{"containerPort": CONTAINER_PORT}]
    return {
        "tcpSocket": {"port": ports[0]["containerPort"]},
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }
