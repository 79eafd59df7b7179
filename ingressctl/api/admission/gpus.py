"""GPU resources that a multi-node predictor may ask for."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ingressctl.api.models.pods import Resources

ANNOTATION = "serving.kserve.io/gpu-resource-types"

_BASIC = frozenset({"cpu", "memory", "ephemeral-storage", "storage"})
_KNOWN = frozenset({"nvidia.com/gpu", "amd.com/gpu", "intel.com/gpu", "habana.ai/gaudi"})


def has_unknown(resources: Resources | None, annotations: Mapping[str, str] | None) -> bool:
    """Whether a request or limit names a resource that is neither basic nor a known GPU."""
    if resources is None:
        return False
    allowed = _BASIC | _KNOWN | _added(annotations or {})
    return bool({*(resources.requests or {}), *(resources.limits or {})} - allowed)


def _added(annotations: Mapping[str, str]) -> frozenset[str]:
    """The list of the annotation; a text that is no list adds nothing."""
    try:
        added = json.loads(annotations.get(ANNOTATION, "[]"))
    except ValueError:
        return frozenset()
    return (
        frozenset(name for name in added if isinstance(name, str))
        if (isinstance(added, list))
        else frozenset()
    )
