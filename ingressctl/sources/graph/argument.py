"""The graph as text for the router: JSON as KServe writes it (spec/inferencegraph.md 6).

Fields stand in KServe's order, nodes by name, empty fields are left out but `resources`, and
three characters are escaped, so that a graph that KServe rendered stays as it is. Parts that
are Kubernetes' own (affinity, tolerations) keep the order in which they were written; where a
stored text says the same with another order, that text holds.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from ingressctl.api.inferencegraphs import Spec
from ingressctl.api.refs import Raw

_ESCAPED = str.maketrans(
    {character: f"\\u{ord(character):04x}" for character in ("<", ">", "&", "\u2028", "\u2029")}
)
_LEFT_OUT_EMPTY = frozenset({"steps", "tolerations", "nodeSelector", "scaleMetric"})
FLAG = "--graph-json"


def text(spec: Spec, stored: Raw | None) -> str:
    """The argument; the stored object's own if it says the same."""
    written: dict[str, Any] = msgspec.to_builtins(spec)
    nodes = {name: _compact(node) for name, node in sorted(written.pop("nodes").items())}
    resources = written.pop("resources", {})
    whole = {"nodes": nodes, "resources": resources, **_compact(written)}
    if not whole.get("maxReplicas"):
        whole.pop("maxReplicas", None)
    before = _stored_text(stored)
    if before and _says(before) == whole:
        return before
    plain = json.dumps(whole, separators=(",", ":"), ensure_ascii=False)
    return plain.translate(_ESCAPED)


def _compact(value: dict[str, Any]) -> dict[str, Any]:
    return {key: inner for key, inner in value.items() if inner or key not in _LEFT_OUT_EMPTY}


def _says(argument: str) -> Any:
    try:
        return json.loads(argument)
    except ValueError:
        return None


def _stored_text(stored: Raw | None) -> str:
    """The argument in the first container of a stored Deployment or Knative Service."""
    template = ((stored or {}).get("spec") or {}).get("template") or {}
    containers = (template.get("spec") or {}).get("containers") or ()
    args = list(containers[0].get("args") or ()) if containers else []
    return str(args[1]) if len(args) > 1 and args[0] == FLAG else ""
