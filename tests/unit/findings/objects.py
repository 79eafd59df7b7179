"""Small objects to build the worlds of finding tests from."""

from __future__ import annotations

import json
from typing import Any

Obj = dict[str, Any]
READY = [{"type": f"{part}Ready", "status": "True"} for part in ("Predictor", "Transformer")]
STANDARD = {"serving.kserve.io/deploymentMode": "Standard"}
INGRESS: dict[str, Any] = {
    "kserveIngressGateway": "kserve/kserve-ingress-gateway",
    "ingressGateway": "knative-serving/knative-ingress-gateway",
    "localGateway": "knative-serving/knative-local-gateway",
    "localGatewayService": "knative-local-gateway.istio-system.svc.cluster.local",
    "ingressDomain": "example.com",
    "ingressClassName": "nginx",
}


def obj(api: str, kind: str, name: str, namespace: str = "team-a", **parts: Any) -> Obj:
    """Any object; `labels`, `annotations`, `created` and `uid` go to its metadata."""
    meta: Obj = {"name": name} | ({"namespace": namespace} if namespace else {})
    for key in ("labels", "annotations", "uid"):
        if parts.get(key):
            meta[key] = parts[key]
    if parts.get("created"):
        meta["creationTimestamp"] = parts["created"]
    body = {key: parts[key] for key in ("spec", "status", "data") if parts.get(key) is not None}
    return {"apiVersion": api, "kind": kind, "metadata": meta, **body}


def config(**ingress: Any) -> Obj:
    """inferenceservice-config with changed keys of `ingress`."""
    data = {
        "ingress": json.dumps(INGRESS | ingress),
        "deploy": json.dumps({"defaultDeploymentMode": "Knative"}),
    }
    return obj("v1", "ConfigMap", "inferenceservice-config", "kserve", data=data)


def config_map(name: str, data: dict[str, str], namespace: str = "knative-serving") -> Obj:
    return obj("v1", "ConfigMap", name, namespace, data=data)


def standard(name: str = "iris", namespace: str = "team-a", **parts: Any) -> Obj:
    """An InferenceService in Standard mode whose parts are ready."""
    annotations = STANDARD | parts.pop("annotations", {})
    return knative(name, namespace, annotations=annotations, url="", **parts)


def knative(name: str = "iris", namespace: str = "team-a", **parts: Any) -> Obj:
    """An InferenceService in Knative mode whose predictor has a URL."""
    predictor = {"model": {"modelFormat": {"name": "sklearn"}}} | parts.pop("predictor", {})
    url = parts.pop("url", f"http://{name}-predictor.{namespace}.example.com")
    status: Obj = {"conditions": READY}
    if url:
        status["components"] = {part: {"url": url} for part in ("predictor", "transformer")}
    spec = {"predictor": predictor} | parts.pop("spec", {})
    status |= parts.pop("status", {})
    return obj(
        "serving.kserve.io/v1beta1",
        "InferenceService",
        name,
        namespace,
        spec=spec,
        status=status,
        **parts,
    )


def graph(*steps: Obj, nodes: Any = None, **parts: Any) -> Obj:
    """An InferenceGraph in Knative mode; without steps it has one that can be called."""
    listed = list(steps) or [{"serviceUrl": "http://iris.team-a.svc.cluster.local/"}]
    return obj(
        "serving.kserve.io/v1alpha1",
        "InferenceGraph",
        "pipe",
        **parts,
        spec={"nodes": {"root": {"routerType": "Sequence", "steps": listed}, **(nodes or {})}},
    )


def runtime() -> Obj:
    """A runtime of the cluster that serves sklearn."""
    spec = {
        "supportedModelFormats": [{"name": "sklearn", "autoSelect": True}],
        "containers": [{"name": "kserve-container", "image": "server:1"}],
    }
    return obj("serving.kserve.io/v1alpha1", "ClusterServingRuntime", "sklearn", "", spec=spec)


def service(name: str = "iris-predictor", port: int = 80, namespace: str = "team-a") -> Obj:
    return obj("v1", "Service", name, namespace, spec={"ports": [{"name": "http", "port": port}]})


def gateway(**listener: Any) -> Obj:
    """The Gateway of the configuration with one listener for everybody."""
    one = {
        "name": "http",
        "port": 80,
        "protocol": "HTTP",
        "allowedRoutes": {"namespaces": {"from": "All"}},
    }
    spec = {"gatewayClassName": "envoy", "listeners": [one | listener]}
    return obj(
        "gateway.networking.k8s.io/v1", "Gateway", "kserve-ingress-gateway", "kserve", spec=spec
    )


def istio_gateway(name: str, namespace: str, *hosts: str) -> Obj:
    port = {"name": "http", "number": 80, "protocol": "HTTP"}
    spec = {"servers": [{"port": port, "hosts": list(hosts) or ["*"]}]}
    return obj("networking.istio.io/v1", "Gateway", name, namespace, spec=spec)


def virtual_service(
    name: str, namespace: str, host: str, *, match: Any = None, **parts: Any
) -> Obj:
    """A VirtualService of somebody else at the public gateway."""
    target = parts.pop("target", f"{name}.{namespace}.svc.cluster.local")
    http: Obj = {"route": [{"destination": {"host": target, "port": {"number": 80}}}]}
    http |= {"match": match} if match else {}
    http |= parts.pop("http", {})
    spec = {
        "hosts": [host],
        "gateways": ["knative-serving/knative-ingress-gateway"],
        "http": [http],
    }
    return obj("networking.istio.io/v1", "VirtualService", name, namespace, spec=spec, **parts)


def http_route(name: str, namespace: str, host: str, **parts: Any) -> Obj:
    """An HTTPRoute of somebody else at the configured Gateway, for every path."""
    match = {"path": {"type": "RegularExpression", "value": "^/.*$"}}
    backend = {"name": "iris-predictor", "namespace": "team-a", "port": 80}
    parent = {"name": "kserve-ingress-gateway", "namespace": "kserve"}
    spec = {
        "parentRefs": [parent],
        "hostnames": [host],
        "rules": [{"matches": [match], "backendRefs": [backend]}],
    }
    return obj("gateway.networking.k8s.io/v1", "HTTPRoute", name, namespace, spec=spec, **parts)
