"""The story of the components phase (spec/kserve-ingress.md 3, step 8, and 11 to 16).

Predictor, transformer, explainer in order; each one's objects, then what its workloads
say. The first fault ends the phase: nothing is deleted, routes stay as they are.
"""

from __future__ import annotations

from ingressctl.api.inferenceservices import MODE_ANNOTATION, Canary
from ingressctl.api.refs import Ref
from ingressctl.core import naming
from ingressctl.core.kserve import mode
from ingressctl.core.outcome import Event, Fault, Finding
from ingressctl.sources.kserve import readiness
from ingressctl.sources.kserve.components import (
    canaries,
    choosing,
    objects,
    observing,
    others,
    predictor,
    pruning,
    runtimes,
)
from ingressctl.sources.kserve.components.faults import (
    ComponentFault,
    ModelFault,
    PanicFault,
    RefusedFault,
)
from ingressctl.sources.kserve.components.made import Made
from ingressctl.sources.kserve.components.scope import Scope

PREDICTOR_WAIT = 3.0
"""Seconds until ModelMesh is asked again for the predictor's URL."""


def reconcile(scope: Scope) -> Made:
    """All components of a service that runs; the draft gets their status.

    Raises configmaps.ConfigFault.
    """
    made = Made()
    try:
        _forget_removed(scope)
        _components(scope, made)
    except ComponentFault as fault:
        _failed(scope, made, fault)
    except naming.NameFault as fault:
        _failed(scope, made, ComponentFault(str(fault)))
    else:
        made.gone = _gone(scope, made)
    return made


def observe(scope: Scope) -> None:
    """Only the status of components, from the workloads that exist."""
    for name, _ in scope.service.components:
        if scope.is_standard:
            observing.standard(scope, name, None)
        else:
            observing.knative(scope, name, None)
    if scope.is_standard:
        observing.canaries(scope, _ready_canaries(scope))
    else:
        observing.across_components(scope)


def _components(scope: Scope, made: Made) -> None:
    _check_mode(scope)
    if scope.mode == "ModelMesh":
        if not scope.draft.component_url("predictor"):
            made.again, made.writes_status = PREDICTOR_WAIT, False
            return
    else:
        _predictor(scope, made)
    for name, typed in scope.service.components[1:]:
        raw = scope.component(name)
        pod = others.pod(name, raw, typed, scope.service, reads=scope.reads)
        objects.component(scope, made, name, pod, raw, replicas=typed.minReplicas)
    if scope.mode == "Knative":
        observing.across_components(scope)


def _check_mode(scope: Scope) -> None:
    """KServe's raw reconciler reads the annotation again, whatever the mode is (Q45)."""
    annotated = scope.service.annotations.get(MODE_ANNOTATION, "")
    if not scope.is_standard or not annotated or scope.reads.differs("Q45"):
        return
    if mode.annotated_mode(scope.service, scope.config) != "Standard":
        raise ComponentFault(f"unsupported deployment mode for workload: {annotated}")


def _predictor(scope: Scope, made: Made) -> None:
    """Canaries before the stable predictor, which makes room for the ready ones."""
    selected = choosing.select(scope, made)
    made.labels = selected.labels
    pod = predictor.pod(selected, scope.service, reads=scope.reads)
    ready: tuple[Canary, ...] = ()
    if scope.is_standard:
        ready = _ready_canaries(scope)
        _canaries(scope, made, selected)
        observing.canaries(scope, ready)
    replicas = canaries.stable_replicas(scope.service, ready, reads=scope.reads)
    objects.component(scope, made, "predictor", pod, selected.written, replicas=replicas)


def _ready_canaries(scope: Scope) -> tuple[Canary, ...]:
    return tuple(
        canary for canary in scope.service.canaries if observing.canary_ready(scope, canary)
    )


def _canaries(scope: Scope, made: Made, stable: predictor.Selected) -> None:
    """The objects of each canary; with R10 the fault of one leaves all others alone."""
    for place, canary in enumerate(scope.service.canaries):
        raw = scope.service.raw["spec"]["canary"][place].get("predictor") or {}
        try:
            objects.canary(scope, made, canary, raw, stable)
        except ComponentFault as fault:
            name = canary.predictor.name
            if not scope.reads.differs("R10"):
                raise _of_canary(name, fault) from None
            made.kept.add(scope.service.canary_name(canary))
            path, text = f"spec.canary[{place}].predictor", f"canary {name}: {fault}"
            made.findings.append(
                Finding.of(
                    "IC3001",
                    scope.service.ref,
                    path=path,
                    difference="R10",
                    text=text,
                    remedy=_remedy(scope, fault),
                )
            )


def _of_canary(name: str | None, fault: ComponentFault) -> ComponentFault:
    """The fault of a pass that a canary ends: modelStatus tells of the stable alone."""
    kind = RefusedFault if isinstance(fault, RefusedFault) else ComponentFault
    built = f"fails to build resources for canary {name}: {fault}"
    return kind(f"fails to reconcile canary deployments: {built}")


def _gone(scope: Scope, made: Made) -> tuple[Ref, ...]:
    """Workloads to delete; nobody asks where they are not ours to write."""
    if made.again is not None or "workloads" not in scope.reads.settings.write:
        return ()
    wanted = {child.ref for child in made.children}
    return (*pruning.stale(scope, wanted, made.kept), *made.stopped)


def _forget_removed(scope: Scope) -> None:
    """Conditions and status of a transformer or explainer that is no longer in spec (Q29)."""
    if not scope.reads.differs("Q29"):
        return
    present = dict(scope.service.components)
    fields, conditions = scope.draft.fields, scope.draft.conditions
    for name in ("transformer", "explainer"):
        components = fields.get("components") or {}
        if name in present or not (name in components or conditions.has(readiness.READY[name])):
            continue
        for kinds in (readiness.READY, observing.ROUTE_READY, observing.CONFIGURATION_READY):
            conditions.drop(kinds[name])
        fields["components"] = {key: value for key, value in components.items() if key != name}


def _failed(scope: Scope, made: Made, fault: ComponentFault) -> None:
    """Tell the fault in status, event, finding and the fault of the reconcile."""
    draft, text, reason = scope.draft, str(fault), "ReconcileFailed"
    if isinstance(fault, ModelFault):
        stored = draft.fields.get("modelStatus") or {}
        draft.fields["modelStatus"] = fault.model_status(stored)
        reason = fault.reason
    component = fault.component if isinstance(fault, RefusedFault) else "predictor"
    if isinstance(fault, RefusedFault) or scope.reads.differs("R16"):
        draft.conditions.set(readiness.READY[component], "False", reason, text)
    made.writes_status = not isinstance(fault, PanicFault)
    made.events.append(Event("Warning", "InternalError", text))
    remedy = _remedy(scope, fault)
    made.findings.append(Finding.of("IC3001", scope.service.ref, text=text, remedy=remedy))
    made.faults = (Fault(f"fails to reconcile component: {text}", "components"),)


def _remedy(scope: Scope, fault: ComponentFault) -> str:
    """What helps. Without any runtime, files that were meant for a cluster may lack its own."""
    if not isinstance(fault, ModelFault):
        return "correct the component"
    if runtimes.any_given(scope.service.namespace, scope.reads):
        return "name a runtime that supports the model, or install one"
    return (
        "install a runtime, add the ServingRuntimes of the cluster to the input, or ask with "
        "--assume ready"
    )
