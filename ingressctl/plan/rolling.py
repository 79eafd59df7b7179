"""Routes stay as they are while what they are to lead to is still rolling out (Q36).

A canary is promoted by making the predictor what the canary is, and taking the canary out. Its
traffic may go to the predictor only when no pod of that is an old one any more; until then
the canary serves. So it is whenever a Deployment is to go and another one of the owner rolls.
"""

from __future__ import annotations

from typing import Any

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core.world import World
from ingressctl.plan.cascade import Step

DEPLOYMENT = ("apps", "Deployment")
AGAIN = 1.0
"""Seconds until the next look; what a Deployment tells of its rollout wakes its owner as well."""


def postponed(step: Step, world: World) -> frozenset[Ref]:
    """The routes that are not written yet."""
    if not any(ref[:2] == DEPLOYMENT for ref in step.settlement.deleted):
        return frozenset()
    wanted = [child.ref for child in step.outcome.children if child.ref[:2] == DEPLOYMENT]
    changed = {ref_of(obj): obj for obj in step.settlement.changed}
    if all(_is_rolled(world.get(ref), changed.get(ref)) for ref in wanted):
        return frozenset()
    return frozenset(map(ref_of, step.emission.objects))


def _is_rolled(stored: Raw | None, new: Raw | None) -> bool:
    """Whether every pod is one of the template that is wanted, and ready.

    One that nobody watches over tells nothing, and nobody waits for it.
    """
    if stored is None or not stored.get("status"):
        return True
    if new is not None and (_template(new), _replicas(new)) != (
        _template(stored),
        _replicas(stored),
    ):
        return False
    status, meta = stored["status"], stored.get("metadata") or {}
    updated = int(status.get("updatedReplicas") or 0)
    return (
        int(status.get("observedGeneration") or 0) >= int(meta.get("generation") or 0)
        and updated >= _replicas(stored)
        and int(status.get("replicas") or 0) <= updated <= int(status.get("availableReplicas") or 0)
    )


def _template(deployment: Raw) -> Any:
    return (deployment.get("spec") or {}).get("template")


def _replicas(deployment: Raw) -> int:
    found = (deployment.get("spec") or {}).get("replicas")
    return 1 if found is None else int(found)
