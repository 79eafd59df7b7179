"""One of the property tests' worlds, with namespaces and domains that are its alone."""

from __future__ import annotations

import json
from typing import Any

from e2e import doors
from ingressctl.api.refs import Raw, ref_of
from tests import worlds

SHARED = frozenset({"Gateway", "GatewayClass"})
"""Kinds that the bed has for all worlds."""
OURS = frozenset({"ConfigMap", "ClusterServingRuntime"})
"""Kinds that only ingressctl reads, and of which every world has its own."""


def placed(seed: int) -> worlds.Generated:
    """The world of a seed at its place."""
    made = worlds.make(seed)
    parts = {
        "objects": made.objects,
        "public": made.public,
        "local": made.local,
        "paths": made.paths,
        "likely": made.likely,
    }
    text = json.dumps(parts)
    for space in worlds.NAMESPACES:
        text = text.replace(space, f"{space}-{seed}")
    for domain in ("example.com", "example.org"):
        text = text.replace(domain, f"w{seed}.{domain}")
    text = text.replace('"to-knative"', f'"to-knative-{seed}"')
    found = json.loads(text)
    found["objects"] = [obj for obj in found["objects"] if not _is_shared(obj)]
    found["likely"] = [tuple(pair) for pair in found["likely"]]
    return worlds.Generated(seed, **found)


def namespaces(seed: int) -> list[str]:
    """Those of the world of a seed."""
    return [f"{space}-{seed}" for space in worlds.NAMESPACES]


def _is_shared(obj: Raw) -> bool:
    name, namespace, *_ = doors.LOCAL_SERVICE.split(".")
    ref = ref_of(obj)
    return ref.kind in SHARED or (ref.namespace, ref.name) == (namespace, name)


def reached(service: Raw, address: str, ports: dict[int, int]) -> list[dict[str, Any]]:
    """The Service with a selector, and the WorkloadEntry that it selects: a stub at `address`."""
    name, namespace = service["metadata"]["name"], service["metadata"]["namespace"]
    labels = {"stub": name}
    listed = {port["name"]: ports[port["port"]] for port in service["spec"]["ports"]}
    return [
        {**service, "spec": {**service["spec"], "selector": labels}},
        {
            "apiVersion": "networking.istio.io/v1",
            "kind": "WorkloadEntry",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"address": address, "labels": labels, "ports": listed},
        },
    ]
