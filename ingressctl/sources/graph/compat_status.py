"""The status that KServe writes (spec/inferencegraph.md 8 and 9), while IG-R6 is off."""

from __future__ import annotations

from typing import Any

from ingressctl.core import naming
from ingressctl.sources.graph import observing, routes
from ingressctl.sources.graph.routing import Routing
from ingressctl.sources.graph.scope import Scope

KNATIVE_TYPES = ("ConfigurationsReady", "Ready", "RoutesReady")


def made(scope: Scope, routing: Routing) -> dict[str, Any] | None:
    """The whole status, or None while KServe writes none. Raises configmaps.ConfigFault."""
    if scope.graph.stopped:
        return _stopped(scope)
    return _standard(scope, routing) if scope.is_standard else _knative(scope)


def _kept(scope: Scope) -> dict[str, Any]:
    """The fields that a reconcile does not touch."""
    return {key: value for key, value in scope.graph.status.items() if key != "conditions"}


def _stopped(scope: Scope) -> dict[str, Any]:
    fields = _kept(scope)
    fields.pop("url", None)
    ready = {"type": "Ready", "status": "False", "reason": "Stopped"}
    return {**fields, "conditions": [ready, _not_stopped("True")]}


def _not_stopped(status: str = "False") -> dict[str, Any]:
    return {"type": "Stopped", "status": status}


def _knative(scope: Scope) -> dict[str, Any]:
    """The conditions of the Knative Service, whatever they are."""
    fields = _kept(scope)
    stored = observing.workload(scope)
    found = [observing.condition(stored, kind) for kind in KNATIVE_TYPES]
    conditions = [_copied(item) for item in found if item is not None]
    if not conditions and scope.reads.assumes_ready(scope.graph.ref):
        conditions = [{"type": kind, "status": "True"} for kind in KNATIVE_TYPES]
    ready = next((item for item in conditions if item["type"] == "Ready"), None)
    url = observing.knative_urls(scope)[0]
    if ready is not None:
        fields.pop("url", None)
        if ready["status"] == "True" and url:
            fields["url"] = url
    return {**fields, "conditions": [*conditions, _not_stopped()]}


def _copied(condition: Any) -> dict[str, Any]:
    return {key: value for key, value in condition.items() if key != "lastTransitionTime"}


def _standard(scope: Scope, routing: Routing) -> dict[str, Any] | None:
    """Ready as soon as the Deployment says anything of Available; with IG-R3 what it says."""
    router = observing.router(scope)
    told = observing.condition(observing.workload(scope), "Available")
    if told is None and not router.ready:
        return None
    fields = _kept(scope)
    generation = ((observing.workload(scope) or {}).get("status") or {}).get("observedGeneration")
    if generation:
        fields["observedGeneration"] = generation
    ready: dict[str, Any] = {"type": "Ready", "status": "True"}
    if scope.reads.differs("IG-R3") and not router.ready:
        said = {"status": router.status, "reason": router.reason, "message": router.message}
        ready.update({key: text for key, text in said.items() if text})
    if ready["status"] == "True":
        fields["url"] = _url(scope, routing)
    return {**fields, "conditions": [ready, _not_stopped()]}


def _url(scope: Scope, routing: Routing) -> str:
    """KServe's URL has always the scheme http; where a route is made it is the route's (IG-R4)."""
    if routing.url:
        return routing.url
    scheme = scope.ingress().urlScheme if scope.reads.differs("IG-R4") else "http"
    try:
        return f"{scheme}://{routes.host(scope, scope.ingress())}"
    except naming.NameFault:
        return routes.address(scope)
