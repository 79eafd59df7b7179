"""Input of a size: InferenceServices as an API server lists them, and as people write them."""

from __future__ import annotations

from typing import Any

import orjson

INGRESS = {
    "kserveIngressGateway": "kserve/kserve-ingress-gateway",
    "ingressGateway": "knative-serving/knative-ingress-gateway",
    "localGateway": "knative-serving/knative-local-gateway",
    "localGatewayService": "knative-local-gateway.istio-system.svc.cluster.local",
    "ingressDomain": "example.com",
}


def config(mode: str, **ingress: Any) -> dict[str, Any]:
    """The ConfigMap of a cluster in that mode."""
    gateway_api = mode == "Standard"
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "inferenceservice-config", "namespace": "kserve"},
        "data": {
            "ingress": orjson.dumps(
                {**INGRESS, "enableGatewayApi": gateway_api, **ingress}
            ).decode(),
            "deploy": orjson.dumps({"defaultDeploymentMode": mode}).decode(),
            "inferenceService": "{}",
        },
    }


def autoscaler() -> dict[str, Any]:
    """Knative's ConfigMap that KServe insists on."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "config-autoscaler", "namespace": "knative-serving"},
    }


def runtime() -> dict[str, Any]:
    """A runtime for the services below."""
    return {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "ClusterServingRuntime",
        "metadata": {"name": "kserve-sklearnserver"},
        "spec": {
            "supportedModelFormats": [{"name": "sklearn", "version": "1", "autoSelect": True}],
            "containers": [{"name": "kserve-container", "image": "sklearnserver:v1"}],
        },
    }


def service(number: int, *, padding: int = 0) -> dict[str, Any]:
    """A predictor with what a living object carries; `padding` bytes stand for managedFields."""
    name, namespace = f"model-{number:05d}", f"team-{number % 50:02d}"
    return {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"00000000-0000-0000-0000-{number:012d}",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "generation": 3,
            "resourceVersion": str(1000 + number),
            "labels": {"team": namespace, "app.kubernetes.io/part-of": "scoring"},
            "annotations": {"owner": "ml@example.com", "modelFormat": "sklearn"},
            **({"managedFields": [{"fieldsV1": {"f:x": "x" * padding}}]} if padding else {}),
        },
        "spec": {
            "predictor": {
                "minReplicas": 1,
                "model": {
                    "modelFormat": {"name": "sklearn"},
                    "storageUri": f"s3://models/{namespace}/{name}",
                    "resources": {"requests": {"cpu": "1", "memory": "2Gi"}},
                },
            }
        },
        "status": {
            "conditions": [
                {"type": "PredictorReady", "status": "True"},
                {"type": "IngressReady", "status": "True"},
                {"type": "Ready", "status": "True"},
            ],
            "components": {
                "predictor": {"url": f"http://{name}-predictor.{namespace}.example.com"}
            },
        },
    }


def listed(start: int, count: int) -> bytes:
    """A page of services of about 4.5 KB each, as bytes of the API server."""
    return orjson.dumps(
        {
            "apiVersion": "serving.kserve.io/v1beta1",
            "kind": "InferenceServiceList",
            "items": [service(number, padding=3400) for number in range(start, start + count)],
        }
    )
