"""Which objects of a world count for a case, and which of their fields.

cases/kserve-ingress/INDEX.md "Comparing" and cases/runtime-selection/README.md "Reduced
objects".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ingressctl.api.refs import Raw, ref_of
from ingressctl.core.world import Kind, World
from tests.cases.loading import Run

VIRTUAL_SERVICE: Kind = ("networking.istio.io", "VirtualService")
HTTP_ROUTE: Kind = ("gateway.networking.k8s.io", "HTTPRoute")
INGRESS: Kind = ("networking.k8s.io", "Ingress")
KNATIVE_SERVICE: Kind = ("serving.knative.dev", "Service")
SERVICE: Kind = ("", "Service")
DEPLOYMENT: Kind = ("apps", "Deployment")
ROUTING = frozenset({VIRTUAL_SERVICE, HTTP_ROUTE, INGRESS})
TEMPLATE_LIMITS = ("timeoutSeconds", "responseStartTimeoutSeconds", "containerConcurrency")
CONTAINER_FIELDS = ("name", "image", "command", "args", "env", "ports")


def is_alias(obj: Raw) -> bool:
    return ref_of(obj)[:2] == SERVICE and (obj.get("spec") or {}).get("type") == "ExternalName"


def of_reconcile(run: Run, world: World, expected: Iterable[Raw]) -> list[Raw]:
    """At stage reconcile only the kinds of the folder count."""
    kinds = {ref_of(obj)[:2] for obj in expected}
    if run.suite == "ksvc-traffic":
        return [_traffic_view(obj) for obj in world.list(KNATIVE_SERVICE)]
    if run.group == "component-service":
        return [_service_view(obj) for obj in world.list(SERVICE) if not is_alias(obj)]
    if run.suite == "isvc-status" and not kinds & ROUTING:
        return [_replicas_view(obj) for obj in world.list(DEPLOYMENT)]
    return [obj for obj in world if ref_of(obj)[:2] in ROUTING or is_alias(obj)]


def of_select(world: World) -> list[Raw]:
    """The reduced objects; what has no view does not count."""
    views = {
        SERVICE: _select_service,
        DEPLOYMENT: _select_deployment,
        KNATIVE_SERVICE: _select_knative,
        HTTP_ROUTE: _select_route,
        VIRTUAL_SERVICE: _labels_only,
        INGRESS: _labels_only,
    }
    return [
        views[ref_of(obj)[:2]](obj)
        for obj in world
        if ref_of(obj)[:2] in views and not is_alias(obj)
    ]


def _frame(obj: Raw, *kept: str) -> dict[str, Any]:
    meta = obj["metadata"]
    keys = ("name", "namespace", *kept)
    return {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "metadata": {key: meta[key] for key in keys if meta.get(key)},
    }


def _picked(values: Raw, *keys: str) -> dict[str, Any]:
    return {key: values[key] for key in keys if values.get(key) not in (None, "", [], {})}


def _traffic_view(obj: Raw) -> Raw:
    template = obj["spec"]["template"]
    view: dict[str, Any] = _picked(template, "metadata")
    limits = _picked(template.get("spec") or {}, *TEMPLATE_LIMITS)
    if limits:
        view["spec"] = limits
    return {
        **_frame(obj, "labels", "annotations"),
        "spec": {"template": view, "traffic": obj["spec"]["traffic"]},
    }


def _service_view(obj: Raw) -> Raw:
    return {**_frame(obj), "spec": _picked(obj["spec"], "ports", "selector", "clusterIP")}


def _replicas_view(obj: Raw) -> Raw:
    return {**_frame(obj), "spec": {"replicas": obj["spec"].get("replicas")}}


def _select_service(obj: Raw) -> Raw:
    return {**_frame(obj, "labels"), "spec": _picked(obj["spec"], "ports", "selector", "clusterIP")}


def _containers(pod: Raw) -> list[Raw]:
    return [_picked(container, *CONTAINER_FIELDS) for container in pod["containers"]]


def _select_deployment(obj: Raw) -> Raw:
    pod = obj["spec"]["template"]["spec"]
    return {
        **_frame(obj, "labels"),
        "spec": {"template": {"spec": {"containers": _without_empty_values(_containers(pod))}}},
    }


def _without_empty_values(containers: list[Raw]) -> list[Raw]:
    """An empty value of a variable is not stored."""
    return [
        {**item, "env": [_picked(entry, *entry) for entry in item["env"]]}
        if "env" in item
        else item
        for item in containers
    ]


def _select_knative(obj: Raw) -> Raw:
    template = obj["spec"]["template"]
    view = {
        "metadata": {"labels": template["metadata"]["labels"]},
        "spec": {"containers": _without_empty_values(_containers(template["spec"]))},
    }
    return {**_frame(obj, "labels"), "spec": {"template": view}}


def _select_route(obj: Raw) -> Raw:
    rules = [
        {"backendRefs": [_backend(entry) for entry in rule["backendRefs"]]}
        for rule in obj["spec"]["rules"]
    ]
    return {**_frame(obj, "labels"), "spec": {"rules": rules}}


def _backend(entry: Raw) -> Raw:
    """The API server writes a missing weight as 1."""
    return {"name": entry["name"], "port": entry["port"], "weight": entry.get("weight", 1)}


def _labels_only(obj: Raw) -> Raw:
    return _frame(obj, "labels")
