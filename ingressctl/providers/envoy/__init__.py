"""Envoy itself: listeners, routes, clusters and endpoints over xDS."""

from ingressctl.providers.envoy.provider import Envoy

provider = Envoy()

__all__ = ["Envoy", "provider"]
