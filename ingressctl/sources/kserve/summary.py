"""Events on a change of Ready (spec/kserve-ingress.md 3, step 13)."""

from __future__ import annotations

from ingressctl.api.inferenceservices import InferenceService
from ingressctl.core.conditions import Conditions
from ingressctl.core.outcome import Event


def events(service: InferenceService, conditions: Conditions) -> tuple[Event, ...]:
    """One event if the service became ready, or was ready and is no more."""
    stored = service.status.get("conditions") or ()
    was = any(item.get("type") == "Ready" and item.get("status") == "True" for item in stored)
    ready = conditions.is_true("Ready")
    if was == ready:
        return ()
    if ready:
        text = f"InferenceService [{service.name}] is Ready"
        return (Event("Normal", "InferenceServiceReady", text),)
    bad = sorted(
        kind
        for kind, condition in conditions.by_type.items()
        if kind != "Ready" and condition.get("status") == "False"
    )
    text = f"InferenceService [{service.name}] is no longer Ready because of: {', '.join(bad)}"
    return (Event("Warning", "InferenceServiceNotReady", text),)
