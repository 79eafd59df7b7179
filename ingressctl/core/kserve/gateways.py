"""Where requests come in, by provider (spec/kserve-ingress.md 9 and 10)."""

from __future__ import annotations

from ingressctl.api.configmaps import IngressConfig
from ingressctl.core.model import Entry


def entries(ingress: IngressConfig, provider: str) -> tuple[Entry, ...]:
    """The gateway of the provider: a Gateway, an ingress class, or Istio's gateways."""
    if provider == "ingress":
        return (Entry("class", ingress.ingressClassName or ""),)
    if provider == "istio":
        return tuple(Entry("gateway", name) for name in ingress.gateways)
    return (Entry("gateway", ingress.kserveIngressGateway),)
