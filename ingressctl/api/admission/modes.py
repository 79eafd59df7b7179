"""Which deployment mode an object is judged for: status, annotation, default (spec 2)."""

from __future__ import annotations

from collections.abc import Mapping

from ingressctl.api import configmaps
from ingressctl.api.inferenceservices import MODE_ANNOTATION


def resolve(
    stored: str | None, annotations: Mapping[str, str] | None, config: Mapping[str, str]
) -> str:
    """As the reconcile resolves it; "" when the configuration says nothing usable."""
    for mode in (stored or "", (annotations or {}).get(MODE_ANNOTATION, "")):
        known = configmaps.OLD_MODES.get(mode, mode)
        if known in configmaps.MODES:
            return known
    try:
        return configmaps.parse_default_mode(config.get("deploy"))
    except configmaps.ConfigFault:
        return ""
