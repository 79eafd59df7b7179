"""What the router's workload says of itself, or is taken to say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingressctl.api.refs import Raw
from ingressctl.core import naming
from ingressctl.core.conditions import Status
from ingressctl.core.kserve import hosts
from ingressctl.core.values import Value
from ingressctl.sources.graph import knative
from ingressctl.sources.graph.scope import DEPLOYMENT, KNATIVE_SERVICE, Scope


class Said(Value, frozen=True):
    """A condition of the workload: its status with reason and message."""

    status: Status
    reason: str = ""
    message: str = ""

    @property
    def ready(self) -> bool:
        """Whether it serves."""
        return self.status == "True"


ASSUMED = Said("True", "AssumedReady", "no status was given: counted as ready")
STOPPED = Said("False", "Stopped", "the graph is stopped")


def workload(scope: Scope) -> Raw | None:
    """The stored Deployment or Knative Service, unless it is somebody else's in the place of
    one that is ours to write."""
    stored = scope.reads.get(scope.ref(DEPLOYMENT if scope.is_standard else KNATIVE_SERVICE))
    foreign = stored is not None and not scope.graph.owner.controls(stored)
    return None if foreign and scope.writes_workloads else stored


def condition(obj: Raw | None, kind: str) -> Mapping[str, Any] | None:
    """A condition of a stored object, or None while it has none of that type."""
    found = ((obj or {}).get("status") or {}).get("conditions") or ()
    return next((item for item in found if item.get("type") == kind), None)


def router(scope: Scope) -> Said:
    """Whether the router's pods serve."""
    stored = workload(scope)
    told = condition(stored, "Available" if scope.is_standard else "Ready")
    if told is not None:
        return Said(_status(told), str(told.get("reason") or ""), str(told.get("message") or ""))
    if scope.reads.assumes_ready(scope.graph.ref):
        return ASSUMED
    what = "Deployment" if scope.is_standard else "Knative Service"
    return Said("Unknown", "RouterStarting", f"the {what} has not said yet whether it is available")


def _status(told: Mapping[str, Any]) -> Status:
    status = told.get("status")
    return "True" if status == "True" else "False" if status == "False" else "Unknown"


def knative_urls(scope: Scope) -> tuple[str, str]:
    """URL and address of the Knative Service; as Knative computes them where it is assumed."""
    status = (workload(scope) or {}).get("status") or {}
    url = str(status.get("url") or "")
    address = str((status.get("address") or {}).get("url") or "")
    if url or not scope.reads.assumes_ready(scope.graph.ref):
        return url, address
    graph = scope.graph
    internal = f"http://{hosts.internal_host(graph, graph.name, scope.reads)}"
    try:
        host = knative.host(scope)
    except naming.NameFault:
        return "", internal
    return f"http://{host}", internal
