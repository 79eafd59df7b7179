"""Objects that tests of the controller put into a cluster."""

from __future__ import annotations

import json
from typing import Any

from tests.apiserver.server import ApiServer

INGRESS = {
    "enableGatewayApi": True,
    "kserveIngressGateway": "kserve/kserve-ingress-gateway",
    "ingressGateway": "knative-serving/knative-ingress-gateway",
    "localGateway": "knative-serving/knative-local-gateway",
    "localGatewayService": "knative-local-gateway.istio-system.svc.cluster.local",
    "ingressDomain": "example.com",
    "ingressClassName": "istio",
    "domainTemplate": "{{ .Name }}-{{ .Namespace }}.{{ .IngressDomain }}",
    "urlScheme": "http",
}

Object = dict[str, Any]


def config(**changes: Any) -> Object:
    """KServe's configuration with other keys of `ingress`."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "inferenceservice-config", "namespace": "kserve"},
        "data": {
            "deploy": '{"defaultDeploymentMode": "Standard"}',
            "ingress": json.dumps({**INGRESS, **changes}),
        },
    }


def gateway() -> Object:
    """Open to every namespace."""
    listener = {
        "name": "http",
        "port": 80,
        "protocol": "HTTP",
        "allowedRoutes": {"namespaces": {"from": "All"}},
    }
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {"name": "kserve-ingress-gateway", "namespace": "kserve"},
        "spec": {"gatewayClassName": "istio", "listeners": [listener]},
    }


def namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def service(name: str, namespace: str = "team-a", *, image: str = "stub", **meta: Any) -> Object:
    """An InferenceService of one container."""
    container = {
        "name": "kserve-container",
        "image": image,
        "ports": [{"containerPort": 8080, "protocol": "TCP"}],
    }
    return {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": name, "namespace": namespace, **meta},
        "spec": {"predictor": {"containers": [container]}},
    }


AVAILABLE: Object = {
    "status": {
        "conditions": [
            {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}
        ],
        "observedGeneration": 1,
        "replicas": 1,
        "readyReplicas": 1,
        "availableReplicas": 1,
        "updatedReplicas": 1,
    }
}
"""What the Deployment controller says once pods run."""


def base(server: ApiServer) -> None:
    """A cluster that services can be made in."""
    server.put(namespace("kserve"), namespace("team-a"), namespace("team-b"))
    server.put(config(), gateway())


def available(server: ApiServer, name: str, namespace: str = "team-a") -> None:
    """The Deployment's pods run."""
    server.patch("Deployment", name, AVAILABLE, namespace=namespace, subresource="status")


def condition(obj: Object | None, kind: str) -> str:
    """The status of a condition; "" without it."""
    found = (item for item in ((obj or {}).get("status") or {}).get("conditions") or ())
    return next((item["status"] for item in found if item["type"] == kind), "")
