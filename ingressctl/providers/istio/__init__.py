"""Istio VirtualServices, and the ExternalName Service that gives a service its in-cluster name."""

from ingressctl.providers.istio.provider import Istio

provider = Istio()

__all__ = ["Istio", "provider"]
