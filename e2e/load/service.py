"""The service that is rolled out: its objects, and where it is asked for."""

from __future__ import annotations

import json
from typing import Any

from e2e import doors

Object = dict[str, Any]

NAMESPACE = "team-a"
GRACE = 600
"""Seconds that a pod has for streams that are still open when it is to end."""


def container(version: str, *, drain: float) -> Object:
    """The image `echo`, which serves for `drain` seconds after it was asked to end."""
    variables = {"VERSION": version, "DRAIN": f"{drain:g}", "GRPC_PORT": "8081"}
    return {
        "name": "kserve-container",
        "image": "echo",
        "env": [{"name": name, "value": value} for name, value in variables.items()],
        "ports": [
            {"containerPort": 8080, "name": "http1", "protocol": "TCP"},
            {"containerPort": 8081, "name": "grpc", "protocol": "TCP"},
        ],
        "readinessProbe": {
            "httpGet": {"path": "/ready", "port": 8080},
            "periodSeconds": 1,
            "failureThreshold": 1,
        },
    }


def predictor(version: str, *, drain: float, name: str = "") -> Object:
    """A predictor whose streams may last an hour."""
    return {
        **({"name": name} if name else {}),
        "timeout": 3600,
        "terminationGracePeriodSeconds": GRACE,
        "containers": [container(version, drain=drain)],
    }


def service(name: str, stable: Object, canary: Object | None = None, percent: int = 0) -> Object:
    """An InferenceService, with a canary that has its share."""
    spec: Object = {"predictor": stable}
    if canary is not None:
        spec["canary"] = [{"trafficPercent": percent, "predictor": canary}]
    return {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "annotations": {"serving.kserve.io/deploymentMode": "Standard"},
        },
        "spec": spec,
    }


def config(domain: str) -> Object:
    """KServe's ConfigMap, with this domain for hosts."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "inferenceservice-config", "namespace": "kserve"},
        "data": {
            "deploy": '{"defaultDeploymentMode": "Standard"}',
            "ingress": json.dumps({**doors.INGRESS, "ingressDomain": domain}),
        },
    }


def host(name: str, domain: str) -> str:
    """Where the service is asked for, while hosts are below that domain."""
    return f"{name}.{NAMESPACE}.{domain}"
