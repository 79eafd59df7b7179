"""Services that routes lead to and that are not there (IC3307)."""

from __future__ import annotations

from ingressctl.api.refs import Ref
from ingressctl.core.world import World

SERVICE = ("", "Service")

BAD_GATEWAY = 503
"""What a gateway answers then, but for those of the Gateway API."""


def service(namespace: str, name: str, world: World) -> str:
    """That a Service is not there, where those of its namespace are known; "" otherwise."""
    if not world.holds(SERVICE, namespace) or world.get(Ref(*SERVICE, namespace, name)):
        return ""
    return f"Service {namespace}/{name} is not in the input"
