"""Typed views of InferenceServices, made once a world.

Claims look at every service and a reconcile at its own: both get the same view. An object
of a world never changes and lives as long as it, so its identity is a safe key.
"""

from __future__ import annotations

from ingressctl.api.inferenceservices import InferenceService
from ingressctl.api.refs import Raw
from ingressctl.core.world import World


def of(obj: Raw, world: World) -> InferenceService:
    """The view of an object of that world. Raises ViewFault."""
    key = (InferenceService, id(obj))
    service: InferenceService | None = world.memo.get(key)
    if service is None:
        service = world.memo[key] = InferenceService(obj)
    return service
