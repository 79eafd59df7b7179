"""What Knative would do for a Knative Service, as far as routes can tell: a stub.

Each revision is a Deployment with a Service of the revision's name; the VirtualService from
Knative's hosts to revisions is what net-istio writes, at both gateways; then the status says
so. A test calls `serve` when a Knative Service is there, and again when it changed.
"""

from __future__ import annotations

import json
from typing import Any

import yaml

from e2e import doors
from e2e.bed import waiting
from e2e.bed.bed import Bed

SECONDS = 60
KIND = "services.serving.knative.dev"


def serve(bed: Bed, name: str, namespace: str, *, revision: int, domain: str) -> None:
    """Its newest revision is `revision` from now on, and gets requests once its pods do."""
    ready = f"{name}-{revision:05d}"
    stored = waiting.until(
        f"Knative Service {name}", lambda: _stored(bed, name, namespace), seconds=SECONDS
    )
    _apply(bed, *_revision(stored, ready))
    available = ("wait", f"deployment/{ready}", "-n", namespace, "--for=condition=Available")
    bed.kubectl(*available, f"--timeout={SECONDS}s")
    hosts = {
        doors.LOCAL: f"{name}.{namespace}.svc.cluster.local",
        doors.PUBLIC: f"{name}.{namespace}.{domain}",
    }
    traffic = _traffic(stored, ready)
    _apply(bed, _virtual_service(name, namespace, hosts, traffic))
    status = {
        "observedGeneration": stored["metadata"]["generation"],
        "url": f"http://{hosts[doors.PUBLIC]}",
        "address": {"url": f"http://{hosts[doors.LOCAL]}"},
        "latestReadyRevisionName": ready,
        "latestCreatedRevisionName": ready,
        "traffic": traffic,
        "conditions": [
            {"type": kind, "status": "True"}
            for kind in ("ConfigurationsReady", "RoutesReady", "Ready")
        ],
    }
    words = ("patch", KIND, name, "-n", namespace, "--subresource=status", "--type=merge")
    bed.kubectl(*words, "-p", json.dumps({"status": status}))


def _stored(bed: Bed, name: str, namespace: str) -> dict[str, Any]:
    text = bed.kubectl("get", KIND, name, "-n", namespace, "-o=json", "--ignore-not-found")
    return dict(json.loads(text)) if text.strip() else {}


def _traffic(stored: dict[str, Any], ready: str) -> list[dict[str, Any]]:
    """The wanted traffic with every revision named."""
    wanted = stored["spec"].get("traffic") or [{"latestRevision": True, "percent": 100}]
    return [{**entry, "revisionName": entry.get("revisionName") or ready} for entry in wanted]


def _revision(stored: dict[str, Any], name: str) -> list[dict[str, Any]]:
    place = {"name": name, "namespace": stored["metadata"]["namespace"]}
    labels = {"serving.knative.dev/revision": name}
    container = dict(stored["spec"]["template"]["spec"]["containers"][0])
    container.setdefault("name", "user-container")
    container["readinessProbe"] = {"tcpSocket": {"port": 8080}, "periodSeconds": 1}
    return [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": place,
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": place,
            "spec": {
                "selector": labels,
                "ports": [{"name": "http", "port": 80, "targetPort": 8080}],
            },
        },
    ]


def _virtual_service(
    name: str, namespace: str, hosts: dict[str, str], traffic: list[dict[str, Any]]
) -> dict[str, Any]:
    """For each gateway its host, and the shares of revisions behind both."""
    route = [
        {
            "destination": {
                "host": f"{entry['revisionName']}.{namespace}.svc.cluster.local",
                "port": {"number": 80},
            },
            "headers": {"request": {"set": {"Knative-Serving-Revision": entry["revisionName"]}}},
            "weight": entry["percent"],
        }
        for entry in traffic
        if entry.get("percent")
    ]
    return {
        "apiVersion": "networking.istio.io/v1",
        "kind": "VirtualService",
        "metadata": {"name": f"{name}-ingress", "namespace": namespace},
        "spec": {
            "gateways": list(hosts),
            "hosts": list(hosts.values()),
            "http": [
                {
                    "match": [{"authority": {"prefix": host}, "gateways": [gateway]}],
                    "retries": {},
                    "route": route,
                }
                for gateway, host in hosts.items()
            ],
        },
    }


def _apply(bed: Bed, *objects: dict[str, Any]) -> None:
    bed.apply(yaml.safe_dump_all(objects))
