"""What HTTPRoute status says (spec/kserve-ingress.md 10.6; honest reading: Q21, F53)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ingressctl.api.refs import Raw, Ref
from ingressctl.core.model import Route
from ingressctl.core.ports import Verdict
from ingressctl.core.world import Reads

NO_PARENT = Verdict(False, "ParentStatusNotAvailable", "HttpRouteNotReady", 1.0)
NEEDED = ("Accepted", "ResolvedRefs")


def verdict(route: Route, name: str, *, reads: Reads) -> Verdict:
    """Whether the HTTPRoute of that name is accepted by its Gateway."""
    obj = reads.get(Ref("gateway.networking.k8s.io", "HTTPRoute", route.ref.namespace, name))
    if obj is None or "status" not in obj:
        return Verdict(True) if reads.assumes_ready(route.owner.ref) else NO_PARENT
    parents = (obj.get("status") or {}).get("parents") or ()
    if not parents:
        return NO_PARENT
    if reads.differs("Q21"):
        return _of_our_parents(obj, route, parents)
    return _first_false(condition for parent in parents for condition in _conditions(parent))


def _first_false(conditions: Iterable[Mapping[str, Any]]) -> Verdict:
    """KServe's reading: any condition that is False, whoever wrote it and when."""
    for condition in conditions:
        if condition.get("status") == "False":
            return _refused(condition)
    return Verdict(True)


def _of_our_parents(obj: Raw, route: Route, parents: Iterable[Mapping[str, Any]]) -> Verdict:
    """Only entries of our Gateways at the present generation, Accepted and ResolvedRefs."""
    generation = (obj.get("metadata") or {}).get("generation")
    wanted = {
        entry.name for group in route.groups for entry in group.entries if entry.kind == "gateway"
    }
    ours = {_parent_name(parent, route): parent for parent in parents}
    for name in sorted(wanted):
        if name not in ours:
            return NO_PARENT
        found = _of_parent(ours[name], generation)
        if found.ready is not True:
            return found
    return Verdict(True)


def _of_parent(parent: Mapping[str, Any], generation: object) -> Verdict:
    by_type = {str(item.get("type")): item for item in _conditions(parent)}
    for kind in NEEDED:
        condition = by_type.get(kind)
        if condition is None:
            return Verdict(False, f"{kind}NotReported", "HTTPRoute has no such condition", 1.0)
        observed = condition.get("observedGeneration")
        if observed is not None and generation is not None and observed != generation:
            message = f"status speaks of generation {observed}, the route is at {generation}"
            return Verdict(None, "StatusOutdated", message, 1.0)
        if condition.get("status") == "False":
            return _refused(condition)
        if condition.get("status") != "True":
            return Verdict(None, str(condition.get("reason") or kind), _message(condition), 1.0)
    return Verdict(True)


def _parent_name(parent: Mapping[str, Any], route: Route) -> str:
    ref = parent.get("parentRef") or {}
    return f"{ref.get('namespace') or route.ref.namespace}/{ref.get('name')}"


def _conditions(parent: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    return parent.get("conditions") or ()


def _refused(condition: Mapping[str, Any]) -> Verdict:
    return Verdict(False, str(condition.get("reason") or ""), _message(condition), 1.0)


def _message(condition: Mapping[str, Any]) -> str:
    return str(condition.get("message") or "")
