"""What every provider's emission shares: object frames and losses."""

from __future__ import annotations

from typing import Any

from ingressctl.core.model import Route
from ingressctl.core.outcome import Finding


def frame(api_version: str, kind: str, route: Route, *, name: str = "") -> dict[str, Any]:
    """apiVersion, kind and metadata of an object of the route, with its owner."""
    meta: dict[str, Any] = {
        "name": name or route.ref.name,
        "namespace": route.ref.namespace,
        "ownerReferences": [route.owner.reference()],
    }
    if route.labels:
        meta["labels"] = dict(route.labels)
    if route.annotations:
        meta["annotations"] = dict(route.annotations)
    return {"apiVersion": api_version, "kind": kind, "metadata": meta}


def loss(route: Route, provider: str, what: str, remedy: str = "") -> Finding:
    """The finding that a provider cannot express something of a route."""
    return Finding.of("IC4001", route.owner.ref, provider=provider, what=what, remedy=remedy)
