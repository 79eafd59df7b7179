"""The kinds that questions are answered from: what a cluster is asked for, what a file may hold.

One table. A kind that is not in it is kept in the world and never looked at, which inputs say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from ingressctl.api import spelling
from ingressctl.core.world import Kind


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind as an API server serves it: versions in the order of preference."""

    group: str
    kind: str
    plural: str
    versions: tuple[str, ...]
    namespaced: bool = True

    @property
    def identity(self) -> Kind:
        """(group, kind)"""
        return (self.group, self.kind)

    def api_version(self, version: str) -> str:
        """``group/version``; the core group has no name."""
        return f"{self.group}/{version}" if self.group else version

    def path(self, version: str, namespace: str = "") -> str:
        """Where a kind is listed: in a namespace, or everywhere."""
        root = f"{'/apis' if self.group else '/api'}/{self.api_version(version)}"
        place = f"/namespaces/{namespace}" if namespace else ""
        return f"{root}{place}/{self.plural}"


KSERVE = "serving.kserve.io"
INFERENCE_SERVICE: Kind = ("serving.kserve.io", "InferenceService")

_ISTIO = ("v1", "v1beta1", "v1alpha3")
_GATEWAY = ("v1", "v1beta1")

RESOURCES: tuple[Resource, ...] = (
    Resource("", "ConfigMap", "configmaps", ("v1",)),
    Resource("", "Namespace", "namespaces", ("v1",), namespaced=False),
    Resource("", "Service", "services", ("v1",)),
    Resource("apps", "Deployment", "deployments", ("v1",)),
    Resource("discovery.k8s.io", "EndpointSlice", "endpointslices", ("v1",)),
    Resource("serving.kserve.io", "InferenceService", "inferenceservices", ("v1beta1",)),
    Resource("serving.kserve.io", "ServingRuntime", "servingruntimes", ("v1alpha1",)),
    Resource(
        "serving.kserve.io",
        "ClusterServingRuntime",
        "clusterservingruntimes",
        ("v1alpha1",),
        namespaced=False,
    ),
    Resource("serving.kserve.io", "InferenceGraph", "inferencegraphs", ("v1alpha1",)),
    Resource("serving.knative.dev", "Service", "services", ("v1",)),
    Resource("networking.istio.io", "VirtualService", "virtualservices", _ISTIO),
    Resource("networking.istio.io", "Gateway", "gateways", _ISTIO),
    Resource("networking.istio.io", "DestinationRule", "destinationrules", _ISTIO),
    Resource("networking.istio.io", "ServiceEntry", "serviceentries", _ISTIO),
    Resource("security.istio.io", "AuthorizationPolicy", "authorizationpolicies", _GATEWAY),
    Resource("gateway.networking.k8s.io", "HTTPRoute", "httproutes", _GATEWAY),
    Resource("gateway.networking.k8s.io", "GRPCRoute", "grpcroutes", ("v1",)),
    Resource("gateway.networking.k8s.io", "Gateway", "gateways", _GATEWAY),
    Resource(
        "gateway.networking.k8s.io",
        "GatewayClass",
        "gatewayclasses",
        _GATEWAY,
        namespaced=False,
    ),
    Resource("gateway.networking.k8s.io", "ReferenceGrant", "referencegrants", ("v1", "v1beta1")),
    Resource("networking.k8s.io", "Ingress", "ingresses", ("v1",)),
    Resource("networking.k8s.io", "IngressClass", "ingressclasses", ("v1",), namespaced=False),
    Resource("autoscaling", "HorizontalPodAutoscaler", "horizontalpodautoscalers", ("v2",)),
    Resource("keda.sh", "ScaledObject", "scaledobjects", ("v1alpha1",)),
    Resource("route.openshift.io", "Route", "routes", ("v1",)),
    Resource("traefik.io", "IngressRoute", "ingressroutes", ("v1alpha1",)),
    Resource("traefik.io", "Middleware", "middlewares", ("v1alpha1",)),
)

BY_IDENTITY: Mapping[Kind, Resource] = {resource.identity: resource for resource in RESOURCES}


def namespaced(kind: Kind) -> bool:
    """Whether objects of the kind live in a namespace; unknown kinds are taken as if not."""
    resource = BY_IDENTITY.get(kind)
    return resource is not None and resource.namespaced


def known(kind: Kind) -> bool:
    """Whether anything here looks at objects of the kind."""
    return kind in BY_IDENTITY


ROUTELESS: tuple[Kind, ...] = (
    ("serving.kserve.io", "InferenceGraph"),
    ("serving.kserve.io", "LLMInferenceService"),
    ("serving.kserve.io", "TrainedModel"),
)
"""Kinds that KServe makes routes of, and that may have no source here."""

_OTHERS: Mapping[str, str] = {
    "serving.kserve.io": "ClusterStorageContainer LLMInferenceService LLMInferenceServiceConfig "
    "LocalModelCache LocalModelNamespaceCache LocalModelNode LocalModelNodeGroup TrainedModel",
    "serving.knative.dev": "Configuration DomainMapping Revision Route",
    "networking.istio.io": "EnvoyFilter ProxyConfig Sidecar WorkloadEntry WorkloadGroup",
    "gateway.networking.k8s.io": "BackendLBPolicy BackendTLSPolicy BackendTrafficPolicy "
    "ListenerSet TCPRoute TLSRoute UDPRoute XBackendTrafficPolicy XListenerSet XMesh",
}
"""Further kinds of the groups that routes are written in: nothing here looks at them."""

_OLDER: Mapping[str, tuple[str, ...]] = {
    "gateway.networking.k8s.io": ("v1alpha2", "v1alpha3"),
}
"""Versions that some clusters still serve beside those of `RESOURCES`."""


@lru_cache(maxsize=256)
def meant(group: str, kind: str) -> str:
    """``Kind (group)`` that an unknown one resembles; "" where it is known or like none."""
    if known((group, kind)) or kind in _OTHERS.get(group, "").split():
        return ""
    if group in _OTHERS:
        inside = [item.kind for item in RESOURCES if item.group == group]
        found = spelling.closest(kind, inside)
        return f"{found} ({group})" if found else ""
    ours = {item.group for item in RESOURCES if item.kind == kind and item.group in _OTHERS}
    alone = KSERVE if KSERVE in ours else ""  # nobody else has kinds of these names
    found = spelling.closest(group, ours) or alone
    return f"{kind} ({found})" if found else ""


@lru_cache(maxsize=256)
def unserved(group: str, kind: str, version: str) -> tuple[str, ...]:
    """The versions that are served, where `version` is none of them; () where it may be."""
    resource = BY_IDENTITY.get((group, kind))
    if resource is None or group not in _OTHERS:
        return ()
    fine = version in resource.versions or version in _OLDER.get(group, ())
    return () if fine else resource.versions
