"""Objects that tests of pods begin with: pods, Services, and a Deployment of the image `echo`."""

from __future__ import annotations

from typing import Any

import yaml

Object = dict[str, Any]


def pod(name: str, container: Object, **spec: Any) -> Object:
    """A pod with one container, named c unless it has a name."""
    containers = {"containers": [{"name": "c", **container}], "terminationGracePeriodSeconds": 5}
    meta = {"name": name, "labels": {"app": name}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": containers | spec}


def service(name: str, *, namespace: str = "default", **spec: Any) -> Object:
    """A Service with this spec."""
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}


def echo(
    name: str, *, replicas: int = 1, namespace: str = "default", version: str = "v1"
) -> list[Object]:
    """A Deployment of `echo` and its Service, which has port 80."""
    labels = {"app": name}
    ready = {"httpGet": {"path": "/ready", "port": "http"}}
    container = {
        "name": "echo",
        "image": "echo",
        "env": [{"name": "VERSION", "value": version}],
        "ports": [{"name": "http", "containerPort": 8080}],
        "readinessProbe": {**ready, "periodSeconds": 1, "failureThreshold": 1},
    }
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }
    ports = [{"name": "http", "port": 80, "targetPort": "http"}]
    return [deployment, service(name, namespace=namespace, selector=labels, ports=ports)]


def namespace(name: str) -> Object:
    """A namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def text(*objects: Object) -> str:
    """YAML of all of them."""
    return yaml.safe_dump_all(objects)
