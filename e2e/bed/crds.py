"""The kinds that the cluster serves beside Kubernetes' own.

Vendors' CRDs come from their Go modules, KServe's from crds/ of this project. What neither has
(Knative's, and KServe's until crds/ holds them) is served by CRDs that accept any field: enough
to store and watch objects, not to refuse bad ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from e2e.bed import modules

OWN = Path(__file__).resolve().parents[2] / "crds"

_GATEWAY_API = "sigs.k8s.io/gateway-api@v1.6.3"
_ISTIO = "istio.io/api@v1.32.0"
_OPENSHIFT = "github.com/openshift/api@v0.0.0-20260501191448-a49973eaef53"
_TRAEFIK = "github.com/traefik/traefik/v3@v3.7.13"

VENDORS = (
    (_GATEWAY_API, "config/crd/standard/*.yaml"),
    (_ISTIO, "kubernetes/customresourcedefinitions.gen.yaml"),
    (_OPENSHIFT, "route/v1/zz_generated.crd-manifests/routes.crd.yaml"),
    (_TRAEFIK, "integration/fixtures/k8s/01-traefik-crd.yml"),
)
"""Module and files in it."""


@dataclass(frozen=True, slots=True)
class Open:
    """A kind of which any field is accepted."""

    group: str
    kind: str
    plural: str
    version: str
    namespaced: bool = True
    short: tuple[str, ...] = ()


_KSERVE, _SERVING = "serving.kserve.io", "serving.knative.dev"
_NETWORKING, _AUTOSCALING = "networking.internal.knative.dev", "autoscaling.internal.knative.dev"

OPEN = (
    Open("keda.sh", "ScaledObject", "scaledobjects", "v1alpha1", short=("so",)),
    Open(_KSERVE, "TrainedModel", "trainedmodels", "v1alpha1", short=("tm",)),
    Open(_SERVING, "Service", "services", "v1", short=("ksvc", "kservice")),
    Open(_SERVING, "Configuration", "configurations", "v1", short=("cfg",)),
    Open(_SERVING, "Revision", "revisions", "v1", short=("rev",)),
    Open(_SERVING, "Route", "routes", "v1", short=("rt",)),
    Open(_SERVING, "DomainMapping", "domainmappings", "v1beta1", short=("dm",)),
    Open(_NETWORKING, "Ingress", "ingresses", "v1alpha1", short=("kingress", "king")),
    Open(_NETWORKING, "ServerlessService", "serverlessservices", "v1alpha1", short=("sks",)),
    Open(
        _NETWORKING,
        "ClusterDomainClaim",
        "clusterdomainclaims",
        "v1alpha1",
        namespaced=False,
        short=("cdc",),
    ),
    Open(_AUTOSCALING, "PodAutoscaler", "podautoscalers", "v1alpha1", short=("kpa", "pa")),
)


def fetched() -> None:
    """Have vendors' modules in Go's cache: where pods are there is no way out. Raises Absent."""
    for module, _ in VENDORS:
        modules.folder(module)


def everything() -> list[dict[str, Any]]:
    """All CRDs, each once: this project's before the open ones. Raises Absent."""
    found: dict[str, dict[str, Any]] = {}
    for crd in (*_vendors(), *_in_files(sorted(OWN.glob("*.yaml"))), *map(make_open, OPEN)):
        found.setdefault(crd["metadata"]["name"], crd)
    return list(found.values())


def paths(crds: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Where the API server lists the objects of each served version."""
    for crd in crds:
        spec = crd["spec"]
        for version in spec["versions"]:
            if version["served"]:
                yield f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}"


def make_open(kind: Open) -> dict[str, Any]:
    """The CRD of a kind of which any field is accepted."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    names = {"kind": kind.kind, "plural": kind.plural, "singular": kind.kind.lower()}
    version = {
        "name": kind.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{kind.group}"},
        "spec": {
            "group": kind.group,
            "names": {**names, "shortNames": list(kind.short)},
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": [version],
        },
    }


def _vendors() -> Iterator[dict[str, Any]]:
    for module, pattern in VENDORS:
        yield from _in_files(sorted(modules.folder(module).glob(pattern)))


def _in_files(files: Iterable[Path]) -> Iterator[dict[str, Any]]:
    for path in files:
        for obj in yaml.load_all(path.read_text(), yaml.CSafeLoader):
            if obj and obj.get("kind") == "CustomResourceDefinition":
                yield obj
