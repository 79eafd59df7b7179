"""The gateways that Knative's networking layer serves Routes at, and their Services.

net-istio's config-istio in both formats (spec/knative-routing.md 11.1), net-gateway-api's
config-gateway (12); every other layer is taken as net-istio with its defaults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

from ingressctl.api import knative_configmaps
from ingressctl.api.refs import Ref
from ingressctl.core.world import Reads

GATEWAY_API_CLASS = "gateway-api.ingress.networking.knative.dev"


@dataclass(frozen=True, slots=True)
class Gateways:
    """Gateways ``namespace/name`` with the DNS name of the Service before each."""

    public: tuple[tuple[str, str], ...]
    local: tuple[tuple[str, str], ...]


def find(reads: Reads) -> Gateways:
    """The gateways of the class in config-network."""
    network = reads.config(reads.settings.knative_namespace, "config-network", "ingress-class")
    if network == GATEWAY_API_CLASS:
        return _of_gateway_api(_data("config-gateway", reads), reads.settings.cluster_domain)
    return _of_istio(
        _data("config-istio", reads),
        reads.settings.knative_namespace,
        reads.settings.cluster_domain,
    )


def _data(name: str, reads: Reads) -> knative_configmaps.Pairs:
    obj = reads.get(Ref("", "ConfigMap", reads.settings.knative_namespace, name))
    return knative_configmaps.pairs((obj or {}).get("data"))


@lru_cache(maxsize=16)
def _of_istio(data: knative_configmaps.Pairs, namespace: str, cluster_domain: str) -> Gateways:
    values = dict(data)
    system = f"istio-system.svc.{cluster_domain}"
    public = (f"{namespace}/knative-ingress-gateway", f"istio-ingressgateway.{system}")
    local = (f"{namespace}/knative-local-gateway", f"knative-local-gateway.{system}")
    return Gateways(
        tuple(_istio_side(values, "external-gateways", "gateway.", namespace)) or (public,),
        tuple(_istio_side(values, "local-gateways", "local-gateway.", namespace)) or (local,),
    )


def _istio_side(
    values: Mapping[str, str], key: str, prefix: str, namespace: str
) -> Iterator[tuple[str, str]]:
    """The new list without selector, else the old keys, sorted."""
    for item in _list(values.get(key, "")):
        if not item.get("labelSelector"):
            yield f"{item.get('namespace')}/{item.get('name')}", str(item.get("service") or "")
    for name in sorted(values):
        if name.startswith(prefix):
            space, dot, bare = name.removeprefix(prefix).partition(".")
            service = values[name].rstrip(".")
            yield (f"{space}/{bare}" if dot else f"{namespace}/{space}"), service


@lru_cache(maxsize=16)
def _of_gateway_api(data: knative_configmaps.Pairs, cluster_domain: str) -> Gateways:
    values = dict(data)
    return Gateways(
        _gateway_api_side(
            values.get("external-gateways", ""),
            ("istio-system/knative-gateway", "istio-system/istio-ingressgateway"),
            cluster_domain,
        ),
        _gateway_api_side(
            values.get("local-gateways", ""),
            ("istio-system/knative-local-gateway", "istio-system/knative-local-gateway"),
            cluster_domain,
        ),
    )


def _gateway_api_side(
    text: str, default: tuple[str, str], cluster_domain: str
) -> tuple[tuple[str, str], ...]:
    listed = [(str(item.get("gateway")), str(item.get("service") or "")) for item in _list(text)]
    return tuple(
        (gateway, _service_host(service, cluster_domain))
        for gateway, service in listed or [default]
    )


def _service_host(service: str, cluster_domain: str) -> str:
    namespace, slash, name = service.partition("/")
    return f"{name}.{namespace}.svc.{cluster_domain}" if slash else ""


def _list(text: str) -> list[Mapping[str, Any]]:
    """The YAML list of a key; what is no list of mappings counts as absent."""
    try:
        value = yaml.load(text, yaml.CSafeLoader)
    except yaml.YAMLError:
        return []
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
