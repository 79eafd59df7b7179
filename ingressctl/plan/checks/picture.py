"""What every check looks at: the world after the cascade, the one before, the services.

Checks never reconcile anything: they read what the cascade made and what lies beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ingressctl.api import configmaps
from ingressctl.api.inferenceservices import KIND, InferenceService, ViewFault
from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core.kserve import configuration
from ingressctl.core.settings import Settings
from ingressctl.core.world import Kind, Reads, World
from ingressctl.plan import registry
from ingressctl.plan.cascade import Cascade, Step

VIRTUAL_SERVICE: Kind = ("networking.istio.io", "VirtualService")
ISTIO_GATEWAY: Kind = ("networking.istio.io", "Gateway")
HTTP_ROUTE: Kind = ("gateway.networking.k8s.io", "HTTPRoute")
GATEWAY: Kind = ("gateway.networking.k8s.io", "Gateway")
INGRESS: Kind = ("networking.k8s.io", "Ingress")
INGRESS_CLASS: Kind = ("networking.k8s.io", "IngressClass")
KNATIVE_SERVICE: Kind = ("serving.knative.dev", "Service")
SERVICE: Kind = ("", "Service")
CONFIG_MAP: Kind = ("", "ConfigMap")


@dataclass(frozen=True, slots=True)
class Picture:
    """One cascade with what the checks need of it, computed once."""

    cascade: Cascade
    base: World
    settings: Settings
    reads: Reads
    services: tuple[InferenceService, ...]
    steps: Mapping[Ref, Step]
    ingress: configmaps.IngressConfig
    made: Mapping[Ref, Ref]
    """Every object that the cascade wants, with the InferenceService that it is for."""

    @property
    def world(self) -> World:
        """The world after the cascade."""
        return self.cascade.world

    def mode(self, service: InferenceService) -> str:
        """The deployment mode that the cascade resolved; "" when it came to no end."""
        step = self.steps.get(service.ref)
        status = (step.outcome.status if step else None) or service.status
        return str(status.get("deploymentMode") or "")

    def provider(self, service: InferenceService) -> str:
        """The provider that routes the service; "" when none does."""
        step = self.steps.get(service.ref)
        return step.outcome.provider if step else ""

    def objects(self, kind: Kind) -> Iterator[tuple[Ref, Raw]]:
        """The objects of a kind after the cascade, by namespace and name."""
        return ((ref_of(obj), obj) for obj in self.world.list(kind))

    def setting(self, name: str, key: str, default: str = "") -> str:
        """A value of one of Knative's ConfigMaps."""
        value = self.reads.config(self.settings.knative_namespace, name, key)
        return default if value is None else value

    def owner(self, ref: Ref) -> Ref:
        """The InferenceService that an object is made for, else the object itself."""
        return self.made.get(ref, ref)


def of(cascade: Cascade, *, base: World, settings: Settings) -> Picture:
    """The picture of a cascade."""
    reads = Reads(cascade.world, settings, providers=registry.providers())
    return Picture(
        cascade,
        base,
        settings,
        reads,
        tuple(_services(cascade.world)),
        {step.ref: step for step in cascade.steps},
        _ingress(reads),
        makers(cascade),
    )


def makers(cascade: Cascade) -> Mapping[Ref, Ref]:
    """Every object that the cascade wants, with the reconciled object that wants it."""
    return {
        ref_of(obj): step.ref
        for step in cascade.steps
        for obj in (*step.emission.objects, *(child.body for child in step.outcome.children))
    }


def _services(world: World) -> Iterator[InferenceService]:
    for obj in world.list(KIND):
        try:
            yield InferenceService(obj)
        except ViewFault:
            continue


def _ingress(reads: Reads) -> configmaps.IngressConfig:
    """The ingress configuration; the defaults where it is refused, which is found elsewhere."""
    try:
        return configuration.ingress(reads)
    except configmaps.ConfigFault:
        return configmaps.parse_ingress(None, gateway_optional=True)


def created(obj: Raw) -> tuple[bool, str, str, str]:
    """Sort key of age: created objects first by time, then namespace and name."""
    meta = obj.get("metadata") or {}
    time = str(meta.get("creationTimestamp") or "")
    return (not time, time, str(meta.get("namespace") or ""), str(meta.get("name") or ""))


def spec_of(obj: Raw) -> Mapping[str, Any]:
    """The spec of a raw object, empty if it has none."""
    return obj.get("spec") or {}
