"""The story of one InferenceGraph: configuration, mode, targets, objects, route, status."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ingressctl.api import configchecks, configmaps
from ingressctl.api.admission import Refusal
from ingressctl.api.inferenceservices import MODE_ANNOTATION, ViewFault
from ingressctl.api.refs import Raw, Ref
from ingressctl.core import findings
from ingressctl.core.conditions import Conditions
from ingressctl.core.kserve import configuration, initial_scale, visibility
from ingressctl.core.kserve import mode as modes
from ingressctl.core.outcome import Child, Event, Fault, Finding, Keep, Outcome
from ingressctl.core.values import replace
from ingressctl.core.world import Reads
from ingressctl.sources.graph import (
    autoscalers,
    compat_status,
    knative,
    objects,
    observing,
    routing,
    status,
    targets,
    validity,
    view,
)
from ingressctl.sources.graph.observing import Said
from ingressctl.sources.graph.routing import Routing
from ingressctl.sources.graph.scope import KNATIVE_SERVICE, Scope
from ingressctl.sources.graph.status import Findings
from ingressctl.sources.graph.targets import Problem
from ingressctl.sources.graph.view import Graph


def reconcile(obj: Raw, *, reads: Reads, now: datetime) -> Outcome:
    """All that follows from one InferenceGraph (spec/inferencegraph.md 4)."""
    try:
        graph = view.of(obj, reads.world)
    except ViewFault as fault:
        return _unreadable(fault, _stays(obj, reads))
    if graph.leaving:
        return Outcome(keep=Keep(everything=True))
    try:
        scope = _scope(graph, reads)
        if scope.mode == "Knative" and KNATIVE_SERVICE in reads.settings.absent:
            return _failed(graph, reads, "ServerlessModeRejected", _NO_KNATIVE, "components")
        return _stopped(scope) if graph.stopped else _running(scope)
    except configmaps.ConfigFault as fault:
        return _failed(graph, reads, "InvalidConfiguration", str(fault), "config")
    except autoscalers.UnknownClass as fault:
        return _failed(graph, reads, "InvalidAutoscaler", str(fault), "components")


_NO_KNATIVE = (
    "It is not possible to use Knative deployment mode when Knative Services are not available"
)


VALID = Said("True")
SOON = 1.0
"""Seconds until a graph is looked at again of which nothing is told yet."""


def resolve_mode(graph: Graph, config: configuration.Config, reads: Reads) -> str:
    """Status, annotation, default; whatever is not Standard is Knative."""
    return "Standard" if modes.resolve(graph, config, reads) == "Standard" else "Knative"


def _scope(graph: Graph, reads: Reads) -> Scope:
    router = _router(reads)
    config = configuration.load(reads)
    mode = resolve_mode(graph, config, reads)
    return Scope(graph, config, router, mode, reads, graph.spec)


def _router(reads: Reads) -> configmaps.RouterConfig:
    """Key `router`; what is no JSON of it makes KServe panic (IG-R6)."""
    try:
        return configuration.router(reads)
    except configmaps.ConfigFault as fault:
        text = str(fault)
        if not text.startswith("unable to parse") or reads.differs("IG-R6"):
            raise
        panic = f"panic: Unable to unmarshall agent json string due to {text} [recovered]"
        raise configmaps.ConfigFault(panic) from None


def _running(scope: Scope) -> Outcome:
    graph, reads = scope.graph, scope.reads
    told = reads.differs("IG-R6")
    refused = validity.refusals(graph, scope.mode, reads)
    resolved = targets.resolve(graph.namespace, graph.spec, reads)
    if refused or resolved.problems:
        return _waiting(scope, refused, resolved.problems)
    _check_annotation(scope)
    scope = replace(scope, spec=resolved.spec)
    router = observing.router(scope)
    routed = _routing(scope, router)
    children = () if _has_no_place(scope, routed) else objects.wanted(scope)
    if told:
        made: dict[str, Any] | None = status.made(scope, Findings(VALID, VALID, router, routed))
    else:
        made = compat_status.made(scope, routed)
    return _outcome(scope, children, routed, made)


def _routing(scope: Scope, router: Said) -> Routing:
    if not scope.is_standard:
        return routing.by_knative(scope)
    if scope.reads.differs("IG-R4"):
        return routing.reconcile(scope, router)
    return routing.none(Said("True"))


def _has_no_place(scope: Scope, routed: Routing) -> bool:
    """A Knative Service brings its host with it: where that is somebody else's none is made,
    and one that is there stays."""
    return routed.lost and not scope.is_standard and observing.workload(scope) is None


def _outcome(
    scope: Scope, children: tuple[Child, ...], routed: Routing, made: dict[str, Any] | None
) -> Outcome:
    ours = scope.writes_workloads
    return Outcome(
        children=children,
        gone=objects.gone(scope, children) if ours else (),
        routes=routed.routes,
        provider=routed.provider,
        status=None if made is None or _is_anothers(scope) else made,
        events=_events(scope, made),
        findings=(*_about_mode(scope), *_about_scale(scope), *routed.findings),
        faults=routed.faults,
        again=SOON if made is None else routed.again,
        keep=routed.keep,
        answers_for=_answers_for(scope),
    )


def _events(scope: Scope, made: dict[str, Any] | None) -> tuple[Event, ...]:
    seen = scope.graph.status.get("observedGeneration") == scope.graph.generation
    told = [
        Event("Warning", "InitialScaleNotTaken", findings.message(finding))
        for finding in (() if seen else _about_scale(scope))
    ]
    return (*(() if made is None else status.events(scope.graph, made)), *told)


def _about_scale(scope: Scope) -> tuple[Finding, ...]:
    """An initial scale that is left out, because Knative would refuse the whole Service."""
    if scope.is_standard or scope.graph.stopped or knative.initial_scale_holds(scope):
        return ()
    name = initial_scale.ANNOTATION
    value = scope.graph.annotations[name]
    path = f'metadata.annotations["{name}"]'
    return (Finding.of("IC6004", scope.graph.ref, path=path, annotation=name, value=value),)


def _answers_for(scope: Scope) -> str:
    """The condition that turns False when an object of the graph cannot be written."""
    if not scope.reads.differs("IG-R6"):
        return "Ready"
    return status.ROUTE if scope.is_standard else status.ROUTER


def _waiting(scope: Scope, refused: tuple[Refusal, ...], problems: tuple[Problem, ...]) -> Outcome:
    """A graph that is not valid, or whose targets cannot be called: what there is stays."""
    faults = tuple(Fault(refusal.message, "admission", refusal.path) for refusal in refused)
    faults += tuple(
        Fault(problem.message, "components", problem.path)
        for problem in problems
        if not (problem.waits and scope.reads.differs("IG-R6"))
    )
    kept = Outcome(keep=Keep(everything=True, hidden=_is_hidden(scope)), faults=faults[:1])
    if not scope.reads.differs("IG-R6"):
        return kept
    hidden = kept.keep.hidden
    router = observing.router(scope)
    if observing.workload(scope) is None:
        router = Said("Unknown", "RouterNotMade", "the router is made when every step has a URL")
    routed = Routing(Said("Unknown", "RouterNotReady", "the route stays as it is"))
    found = Findings(validity.said(refused), status.of_problems(problems), router, routed)
    made = status.made(scope, found)
    if hidden:  # its route goes: the address outside is not told any more either
        made = {key: value for key, value in made.items() if key != "url"}
    return replace(
        kept,
        children=objects.while_waiting(scope, hidden=hidden),
        status=None if _is_anothers(scope) else made,
        events=status.events(scope.graph, made),
        findings=(*_unresolved(scope, problems), *_about_mode(scope)),
        answers_for=_answers_for(scope),
    )


def _is_hidden(scope: Scope) -> bool:
    """Whether the graph asked to be private: then nothing may show it outside, whatever is
    waited for."""
    return scope.reads.differs("IG-R4") and visibility.labelled_local(
        scope.graph, scope.mode, scope.reads
    )


def _stays(obj: Raw, reads: Reads) -> Keep:
    return visibility.stays(obj, hides=reads.differs("IG-R4"))


def _unresolved(scope: Scope, problems: tuple[Problem, ...]) -> tuple[Finding, ...]:
    return tuple(
        Finding.of("IC6002", scope.graph.ref, path=problem.path, text=problem.message)
        for problem in problems
    )


def _stopped(scope: Scope) -> Outcome:
    children = objects.while_stopped(scope)
    told = scope.reads.differs("IG-R6")
    routed = routing.none(observing.STOPPED)
    made = status.made(scope, status.stopped()) if told else compat_status.made(scope, routed)
    return _outcome(scope, children, routed, made)


def _is_anothers(scope: Scope) -> bool:
    """Whether somebody else reports on the graph, whose router is not ours to make either.

    Two that write one status would never come to rest.
    """
    if scope.writes_workloads:
        return False
    types = {item.get("type") for item in scope.graph.status.get("conditions") or ()}
    return scope.reads.settings.beside_kserve or ("Ready" in types and status.VALID not in types)


def _check_annotation(scope: Scope) -> None:
    """KServe's raw reconciler reads the annotation again, whatever the mode is (Q45)."""
    annotated = scope.graph.annotations.get(MODE_ANNOTATION, "")
    if not scope.is_standard or not annotated or scope.reads.differs("Q45"):
        return
    if modes.annotated_mode(scope.graph, scope.config) != "Standard":
        raise configmaps.ConfigFault(f"unsupported deployment mode for workload: {annotated}")


def _about_mode(scope: Scope) -> tuple[Finding, ...]:
    return modes.findings(scope.graph, scope.config)


def _failed(graph: Graph, reads: Reads, reason: str, text: str, where: Any) -> Outcome:
    """Nothing goes on; with IG-R6 a condition of the graph tells why, and so an event."""
    fault = Fault(text, where)
    told = _about_config(reads) if where == "config" else ()
    if not reads.differs("IG-R6"):
        events = (Event("Warning", reason, text),) if reason == "ServerlessModeRejected" else ()
        stays = _stays(graph.raw, reads)
        return Outcome(faults=(fault,), events=events, findings=told, keep=stays)
    conditions = Conditions.load((status.ROUTER,), graph.status.get("conditions") or ())
    conditions.set(status.ROUTER, "False", reason, text)
    made = {**graph.status, "conditions": conditions.dump()}
    return Outcome(
        faults=(fault,),
        status=made,
        findings=told,
        keep=_stays(graph.raw, reads),
    )


def _about_config(reads: Reads) -> tuple[Finding, ...]:
    """Every fault of the ConfigMap, where it stands."""
    place = Ref("", "ConfigMap", reads.settings.config_namespace, configuration.NAME)
    data = (reads.get(place) or {}).get("data") or {}
    optional = reads.differs("Q28")
    found = configchecks.faults(data, gateway_optional=optional, graphs=True)
    return tuple(configuration.refused(place, fault) for fault in found)


def _unreadable(fault: ViewFault, keep: Keep) -> Outcome:
    finding = Finding.of("IC1301", fault.ref, path=fault.path, text=fault.text)
    return Outcome(
        findings=(finding,),
        faults=(Fault(str(fault), "admission", fault.path),),
        keep=keep,
    )
