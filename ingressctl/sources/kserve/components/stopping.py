"""A stopped service has no workloads (spec/kserve-ingress.md 16).

The first stopped pass wipes the status except the mode, so that revision tracking starts
anew after a resume.
"""

from __future__ import annotations

from ingressctl.sources.kserve import readiness
from ingressctl.sources.kserve.components import pruning
from ingressctl.sources.kserve.components.made import Made
from ingressctl.sources.kserve.components.scope import Scope

REASON = "Stopped"
CONDITION = "Stopped"


def reconcile(scope: Scope) -> Made:
    """All workloads go; the components say why they are not ready."""
    draft = scope.draft
    if not draft.conditions.is_true(CONDITION):
        draft.wipe()
    for name, _ in scope.service.components:
        draft.conditions.set(readiness.READY[name], "False", REASON)
    if scope.service.canaries and scope.is_standard:
        draft.conditions.set("CanaryPredictorReady", "False", REASON)
    return Made(gone=pruning.all_of(scope))
