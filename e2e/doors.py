"""The gateways that KServe and Knative configure, as objects that the bed's one Envoy serves.

Istio's two (public and local) and one of the Gateway API. What leads to the local one is a
Service, as in a cluster; its endpoint is the Envoy here, which only a WorkloadEntry may name,
because an EndpointSlice refuses loopback.
"""

from __future__ import annotations

from typing import Any

from e2e.bed import gateways, ports

PUBLIC = "knative-serving/knative-ingress-gateway"
LOCAL = "knative-serving/knative-local-gateway"
KSERVE = "kserve/kserve-ingress-gateway"
LOCAL_SERVICE = "knative-local-gateway.istio-system.svc.cluster.local"
CLASS = "istio"
KSERVE_PORT = 8090
"""A port of its own, so that each way of routing is asked alone."""

INGRESS: dict[str, Any] = {
    "enableGatewayApi": True,
    "kserveIngressGateway": KSERVE,
    "ingressGateway": PUBLIC,
    "localGateway": LOCAL,
    "localGatewayService": LOCAL_SERVICE,
    "knativeLocalGatewayService": LOCAL_SERVICE,
    "ingressDomain": "example.com",
    "ingressClassName": CLASS,
    "domainTemplate": "{{ .Name }}.{{ .Namespace }}.{{ .IngressDomain }}",
    "urlScheme": "http",
}
"""What KServe's ConfigMap says of these gateways."""


def settings() -> gateways.Settings:
    """Envoy in KServe's namespace, where its Gateway is, on free ports."""
    named = (gateways.PLAIN, gateways.LOCAL, KSERVE_PORT)
    free = dict(zip(named, ports.free(len(named)), strict=True))
    return gateways.Settings(namespace="kserve", ports=free)


def objects(gateway: gateways.Gateway) -> list[dict[str, Any]]:
    """All that has to be there for requests to come in and to go from gateway to gateway."""
    return [
        _istio(PUBLIC, gateways.PLAIN),
        _istio(LOCAL, gateways.LOCAL),
        _gateway_api(),
        *_local_service(gateway.ports[gateways.LOCAL]),
    ]


def _istio(name: str, port: int) -> dict[str, Any]:
    namespace, _, bare = name.partition("/")
    server = {"port": {"number": port, "name": "http", "protocol": "HTTP"}, "hosts": ["*"]}
    return {
        "apiVersion": "networking.istio.io/v1",
        "kind": "Gateway",
        "metadata": {"name": bare, "namespace": namespace},
        "spec": {"selector": gateways.LABELS, "servers": [server]},
    }


def _gateway_api() -> dict[str, Any]:
    namespace, _, bare = KSERVE.partition("/")
    listener = {
        "name": "http",
        "port": KSERVE_PORT,
        "protocol": "HTTP",
        "allowedRoutes": {"namespaces": {"from": "All"}},
    }
    here = gateways.Settings(namespace=namespace).hostname
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {"name": bare, "namespace": namespace},
        "spec": {
            "gatewayClassName": CLASS,
            "addresses": [{"type": "Hostname", "value": here}],
            "listeners": [listener],
        },
    }


def _local_service(port: int) -> list[dict[str, Any]]:
    name, namespace, *_ = LOCAL_SERVICE.split(".")
    place = {"name": name, "namespace": namespace}
    labels = {"app": name}
    return [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": place,
            "spec": {"selector": labels, "ports": [{"name": "http2", "port": 80}]},
        },
        {
            "apiVersion": "networking.istio.io/v1",
            "kind": "WorkloadEntry",
            "metadata": place,
            "spec": {"address": "127.0.0.1", "labels": labels, "ports": {"http2": port}},
        },
    ]
