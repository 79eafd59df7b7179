"""Revision tracking: what a Knative Service's status does to a component's status.

spec/kserve-ingress.md 13. `latestRolledoutRevision` is the last revision that had all
traffic; lowering the percent of a revision that is rolled out already is a roll-back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ingressctl.api.refs import Raw

FULL = 100
NAMES = (
    "latestRolledoutRevision",
    "previousRolledoutRevision",
    "latestCreatedRevision",
    "latestReadyRevision",
)
"""Fields of a component's status that name a revision."""

Status = Mapping[str, Any]


def track(stored: Status, knative: Status) -> dict[str, Any]:
    """The component's status after it has seen that status of its Knative Service."""
    traffic = knative.get("traffic") or ()
    tracked = {
        **stored,
        **_rollout(stored, knative, traffic),
        "latestCreatedRevision": knative.get("latestCreatedRevisionName") or "",
        "latestReadyRevision": knative.get("latestReadyRevisionName") or "",
        "traffic": [dict(target) for target in traffic],
    }
    if _is_ready(knative):
        tracked.update({key: knative[key] for key in ("url", "address") if knative.get(key)})
    return {key: value for key, value in tracked.items() if value not in ("", [], None)}


def _rollout(stored: Status, knative: Status, traffic: Iterable[Raw]) -> dict[str, str]:
    """latestRolledoutRevision and previousRolledoutRevision."""
    latest = str(stored.get("latestRolledoutRevision") or "")
    previous = str(stored.get("previousRolledoutRevision") or "")
    ready = str(knative.get("latestReadyRevisionName") or "")
    for target in traffic:
        if not target.get("latestRevision") or target.get("revisionName") != ready:
            continue
        if ready != latest:
            if target.get("percent") == FULL:
                previous, latest = latest, ready
        elif previous and _is_rollback(target, knative, traffic):
            latest = previous
    return {"latestRolledoutRevision": latest, "previousRolledoutRevision": previous}


def _is_rollback(target: Raw, knative: Status, traffic: Iterable[Raw]) -> bool:
    """The revision gets all traffic by two targets, and no newer one is being made."""
    ready = target["revisionName"]
    if ready != knative.get("latestCreatedRevisionName") or (target.get("percent") or 0) >= FULL:
        return False
    shares = (item.get("percent") or 0 for item in traffic if item.get("revisionName") == ready)
    return sum(shares) == FULL


def _is_ready(knative: Status) -> bool:
    conditions = knative.get("conditions") or ()
    return any(item.get("type") == "Ready" and item.get("status") == "True" for item in conditions)
