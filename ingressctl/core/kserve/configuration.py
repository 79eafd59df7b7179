"""The configuration that holds for one reconcile, read through the recorder.

Which ConfigMaps and keys: spec/kserve-ingress.md 1. Parsing is cached by text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

from ingressctl.api import configmaps
from ingressctl.api.configchecks import KeyFault
from ingressctl.api.refs import Ref
from ingressctl.core.outcome import Finding
from ingressctl.core.values import Value
from ingressctl.core.world import Reads

NAME = "inferenceservice-config"


class Config(Value, frozen=True):
    """Parsed values of keys that every step needs."""

    default_mode: str
    disallowed_annotations: frozenset[str]
    disallowed_labels: frozenset[str]


def load(reads: Reads) -> Config:
    """What every step needs. Raises configmaps.ConfigFault."""
    always = reads.differs("Q26")

    def make(reads: Reads) -> Config:
        annotations, labels = configmaps.disallowed(_text(reads, "inferenceService"), always=always)
        return Config(configmaps.parse_default_mode(_text(reads, "deploy")), annotations, labels)

    return reads.derived(("config", reads.settings.config_namespace, always), make)


def ingress(reads: Reads) -> configmaps.IngressConfig:
    """Key `ingress`, parsed only where routing starts. Raises configmaps.ConfigFault.

    Beside a KServe that keeps the workloads, its switches for its own routing say who makes
    the routes, not that there are none: they are not obeyed (design.md section 5).
    """
    text, optional = _text(reads, "ingress"), reads.differs("Q28")
    if reads.settings.beside_kserve:
        return configmaps.parse_ingress_beside(text, gateway_optional=optional)
    return configmaps.parse_ingress(text, gateway_optional=optional)


def refused(place: Ref, fault: KeyFault) -> Finding:
    """What is told of a key of a ConfigMap that cannot be used, at that key."""
    return Finding.of(
        "IC1102",
        place,
        path=f"data.{fault.path}",
        text=fault.message,
        name=place.name,
        namespace=place.namespace,
        key=fault.path.partition(".")[0],
    )


def headless(reads: Reads) -> bool:
    """Whether component Services are headless."""
    return configmaps.parse_service(_text(reads, "service")).serviceClusterIPNone


def router(reads: Reads) -> configmaps.RouterConfig:
    """Key `router`. Raises configmaps.ConfigFault."""
    return configmaps.parse_router(_text(reads, "router"))


def rollout_strategy(reads: Reads) -> Mapping[str, str]:
    """How Deployments roll, where somebody chose. Raises configmaps.ConfigFault."""
    return configmaps.rollout_strategy(_text(reads, "deploy"))


def filtered_always(reads: Reads) -> frozenset[str]:
    """Annotations that are never handed on, also where the configuration names none."""
    return configmaps.disallowed(_text(reads, "inferenceService"), always=True)[0]


def domains(reads: Reads) -> tuple[str, ...]:
    """The domains that Knative knows: keys of config-domain, `_example` aside."""
    obj = reads.get(Ref("", "ConfigMap", reads.settings.knative_namespace, "config-domain"))
    data = (obj or {}).get("data") or {}
    return tuple(sorted(key for key in data if key != configmaps.EXAMPLE_KEY))


def _text(reads: Reads, key: str) -> str | None:
    """A key of the ConfigMap; what KServe ships where there is no ConfigMap at all."""
    place = reads.settings.config_namespace
    text = reads.config(place, NAME, key)
    if text is None and not reads.exists(Ref("", "ConfigMap", place, NAME)):
        return _shipped(key)
    return text


@cache
def _shipped(key: str) -> str | None:
    values = configmaps.SHIPPED.get(key)
    return None if values is None else json.dumps(values)
