"""Which component still stands in the way of routes (spec/kserve-ingress.md 7.1, 9, 10.1)."""

from __future__ import annotations

from collections.abc import Iterable

from ingressctl.core.conditions import Conditions

READY = {
    "predictor": "PredictorReady",
    "transformer": "TransformerReady",
    "explainer": "ExplainerReady",
}
TITLE = {"predictor": "Predictor", "transformer": "Transformer", "explainer": "Explainer"}


def ready(component: str, conditions: Conditions) -> bool:
    """Whether the component's own condition is True."""
    return conditions.is_true(READY[component])


def first_unready(components: Iterable[str], conditions: Conditions) -> str:
    """The first of these components that is not ready; "" if all are."""
    return next((name for name in components if not ready(name, conditions)), "")


def not_created(component: str) -> str:
    """The reason of IngressReady while that component is not ready."""
    return f"{TITLE[component]} ingress not created"
