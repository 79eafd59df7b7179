"""The status of a graph: what is valid, what is resolved, what runs, what is routed.

Every condition follows from what is observed; Ready sums up those that a request depends on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ingressctl.core.conditions import Conditions
from ingressctl.core.outcome import Event
from ingressctl.core.values import Value
from ingressctl.sources.graph import observing, routes
from ingressctl.sources.graph.observing import STOPPED, Said
from ingressctl.sources.graph.routing import Routing
from ingressctl.sources.graph.scope import Scope
from ingressctl.sources.graph.targets import Problem
from ingressctl.sources.graph.view import Graph

VALID, RESOLVED, ROUTER, ROUTE = "GraphValid", "ServicesResolved", "RouterReady", "RouteReady"
MOST_NAMED = 5


class Findings(Value, frozen=True):
    """What the phases of one reconcile found out."""

    valid: Said
    resolved: Said
    router: Said
    routing: Routing


def made(scope: Scope, found: Findings) -> dict[str, Any]:
    """The whole status."""
    graph = scope.graph
    routed = scope.is_standard or found.routing.lost
    dependents = (VALID, RESOLVED, ROUTER, *((ROUTE,) if routed else ()))
    conditions = Conditions(dependents)
    said = {VALID: found.valid, RESOLVED: found.resolved, ROUTER: found.router}
    if routed:
        said[ROUTE] = found.routing.said
    for kind, one in said.items():
        conditions.set(kind, one.status, one.reason, one.message)
    conditions.set("Stopped", "True" if graph.stopped else "False")
    if not scope.is_standard and not graph.stopped:
        _add_knatives(scope, conditions)
    return {**_fields(scope, found), "conditions": conditions.dump()}


def _fields(scope: Scope, found: Findings) -> dict[str, Any]:
    graph = scope.graph
    fields: dict[str, Any] = {}
    if graph.generation:
        fields["observedGeneration"] = graph.generation
    if scope.reads.differs("IG-R7"):
        fields["deploymentMode"] = scope.mode
    if graph.stopped:
        return fields
    if scope.is_standard:
        url, address = _standard_url(scope, found), routes.address(scope)
    else:
        url, address = observing.knative_urls(scope)
        url = url if found.router.ready and not found.routing.lost else ""
    if url:
        fields["url"] = url
    if address and (url or scope.is_standard):
        fields["address"] = {"url": address}
    return fields


def _standard_url(scope: Scope, found: Findings) -> str:
    """A URL that was told once stays through a passing failure, and goes with its host."""
    if found.routing.url or found.routing.lost:
        return found.routing.url
    return str(scope.graph.status.get("url") or "")


def _add_knatives(scope: Scope, conditions: Conditions) -> None:
    for kind in ("ConfigurationsReady", "RoutesReady"):
        told = observing.condition(observing.workload(scope), kind)
        if told is not None:
            conditions.set(
                kind,
                told.get("status") or "Unknown",
                str(told.get("reason") or ""),
                str(told.get("message") or ""),
            )


def stopped() -> Findings:
    """What is said of a graph that is stopped: nothing of it is looked at."""
    unknown = Said("Unknown", STOPPED.reason, STOPPED.message)
    return Findings(unknown, unknown, STOPPED, Routing(STOPPED))


def of_problems(problems: Iterable[Problem]) -> Said:
    """ServicesResolved: every target has a URL, or which have none and why."""
    listed = tuple(problems)
    if not listed:
        return Said("True")
    texts = [f"{problem.path}: {problem.message}" for problem in listed[:MOST_NAMED]]
    more = len(listed) - len(texts)
    return Said("False", listed[0].reason, "; ".join([*texts, *([f"{more} more"] if more else [])]))


def events(graph: Graph, status: Mapping[str, Any]) -> tuple[Event, ...]:
    """One event for each change of Ready; the plan tells of conditions that turn False."""
    before, now = _by_type(graph.status), _by_type(status)
    made: list[Event] = []
    was, ready = _is_true(before.get("Ready")), _is_true(now.get("Ready"))
    if ready and not was:
        made.append(
            Event("Normal", "InferenceGraphReady", f"InferenceGraph [{graph.name}] is Ready")
        )
    if was and not ready:
        why = str(now.get("Ready", {}).get("message") or "")
        text = f"InferenceGraph [{graph.name}] is no longer Ready: {why}".rstrip(": ")
        made.append(Event("Warning", "InferenceGraphNotReady", text))
    return tuple(made)


def _by_type(status: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {str(item.get("type")): item for item in status.get("conditions") or ()}


def _is_true(condition: Mapping[str, Any] | None) -> bool:
    return condition is not None and condition.get("status") == "True"
