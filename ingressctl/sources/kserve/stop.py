"""A stopped service has no routes (spec/kserve-ingress.md 16)."""

from __future__ import annotations

from ingressctl.core.kserve import visibility
from ingressctl.core.outcome import Keep
from ingressctl.sources.kserve.draft import Context, Routing


def reconcile_routes(context: Context, mode: str) -> Routing:
    """No routes are wanted, so owned ones go; IngressReady False, reason Stopped.

    In Standard mode KServe skips this for services that publish nothing (Q7).
    """
    if mode == "Standard" and not context.reads.differs("Q7"):
        local = visibility.standard_local(context.service, context.ingress, context.reads)
        if local or context.ingress.disableIngressCreation:
            context.draft.conditions.set("IngressReady", "True")
            return Routing(keep=Keep(everything=True))
    context.draft.fields.pop("url", None)
    context.draft.fields.pop("address", None)
    context.draft.conditions.set("IngressReady", "False", "Stopped")
    return Routing()
