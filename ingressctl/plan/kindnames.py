"""What people call kinds: the words that kubectl takes, and the kinds below a route.

A word may be a kind, its plural, its singular or a short name, with a group behind a dot where
two groups share a word. The kinds of `BENEATH` are only looked at below an object that somebody
asks about: pods say why a model does not start, and nobody's routes follow from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from ingressctl.core.world import Kind
from ingressctl.plan.kinds import RESOURCES, Resource

KNATIVE, INTERNAL = "serving.knative.dev", "networking.internal.knative.dev"

BENEATH: tuple[Resource, ...] = (
    Resource("", "Pod", "pods", ("v1",)),
    Resource("apps", "ReplicaSet", "replicasets", ("v1",)),
    Resource(KNATIVE, "Configuration", "configurations", ("v1",)),
    Resource(KNATIVE, "Revision", "revisions", ("v1",)),
    Resource(KNATIVE, "Route", "routes", ("v1",)),
    Resource(INTERNAL, "Ingress", "ingresses", ("v1alpha1",)),
)

EVERY: tuple[Resource, ...] = (*RESOURCES, *BENEATH)
BY_IDENTITY: Mapping[Kind, Resource] = {resource.identity: resource for resource in EVERY}

SHORT: Mapping[str, tuple[Kind, ...]] = {
    "cm": (("", "ConfigMap"),),
    "deploy": (("apps", "Deployment"),),
    "ns": (("", "Namespace"),),
    "po": (("", "Pod"),),
    "rs": (("apps", "ReplicaSet"),),
    "svc": (("", "Service"),),
    "hpa": (("autoscaling", "HorizontalPodAutoscaler"),),
    "ing": (("networking.k8s.io", "Ingress"),),
    "isvc": (("serving.kserve.io", "InferenceService"),),
    "ig": (("serving.kserve.io", "InferenceGraph"),),
    "vs": (("networking.istio.io", "VirtualService"),),
    "gw": (("networking.istio.io", "Gateway"),),
    "dr": (("networking.istio.io", "DestinationRule"),),
    "se": (("networking.istio.io", "ServiceEntry"),),
    "gtw": (("gateway.networking.k8s.io", "Gateway"),),
    "gc": (("gateway.networking.k8s.io", "GatewayClass"),),
    "ksvc": ((KNATIVE, "Service"),),
    "kservice": ((KNATIVE, "Service"),),
    "rt": ((KNATIVE, "Route"),),
    "cfg": ((KNATIVE, "Configuration"),),
    "config": ((KNATIVE, "Configuration"),),
    "rev": ((KNATIVE, "Revision"),),
    "king": ((INTERNAL, "Ingress"),),
    "kingress": ((INTERNAL, "Ingress"),),
}
"""Short names as the kinds' own definitions have them (`gw` is Istio's, `gtw` Gateway API's)."""


def named(word: str) -> tuple[Resource, ...]:
    """The kinds that a word stands for, the most usual one first; () where it is none.

    ``vs``, ``VirtualService``, ``virtualservices`` and ``virtualservice.networking.istio.io``.
    """
    plain, _, group = word.lower().partition(".")
    return tuple(
        resource
        for resource in EVERY
        if plain in _words(resource) and group in ("", resource.group)
    )


def called(resource: Resource) -> str:
    """``httproutes.gateway.networking.k8s.io``, as kubectl and RBAC spell a resource."""
    return f"{resource.plural}.{resource.group}" if resource.group else resource.plural


def one(resource: Resource) -> str:
    """``httproute.gateway.networking.k8s.io``, as `-o name` begins."""
    kind = resource.kind.lower()
    return f"{kind}.{resource.group}" if resource.group else kind


@cache
def _words(resource: Resource) -> frozenset[str]:
    short = (word for word, meant in SHORT.items() if resource.identity in meant)
    return frozenset((resource.kind.lower(), resource.plural, *short))


def plurals() -> Iterator[str]:
    """Every plural once, with its group only where another kind has the same."""
    count: dict[str, int] = {}
    for resource in EVERY:
        count[resource.plural] = count.get(resource.plural, 0) + 1
    return (
        resource.plural if count[resource.plural] == 1 else called(resource) for resource in EVERY
    )
