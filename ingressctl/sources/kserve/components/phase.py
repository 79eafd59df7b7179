"""The story of the components phase (spec/kserve-ingress.md 3, step 8, and 11 to 16).

Predictor, transformer, explainer in order; each one's objects, then what its workloads
say. The first fault ends the phase: nothing is deleted, routes stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ingressctl.api.inferenceservices import (
    MODE_ANNOTATION,
    Canary,
    Component,
    InferenceService,
)
from ingressctl.api.refs import Raw, Ref
from ingressctl.core import naming
from ingressctl.core.conditions import Status
from ingressctl.core.outcome import Child, Event, Fault, Finding
from ingressctl.sources.kserve import config as configuration
from ingressctl.sources.kserve import mode, readiness
from ingressctl.sources.kserve.components import (
    canaries,
    deployments,
    knative_services,
    observing,
    others,
    predictor,
    pruning,
    refusals,
    runtimes,
    services,
    traffic,
)
from ingressctl.sources.kserve.components import workload as workloads
from ingressctl.sources.kserve.components.faults import (
    ComponentFault,
    ModelFault,
    PanicFault,
    RefusedFault,
)
from ingressctl.sources.kserve.components.pods import Pod
from ingressctl.sources.kserve.components.scope import Scope
from ingressctl.sources.kserve.components.workload import Workload

SERVICE = ("", "Service")


@dataclass(slots=True)
class Made:
    """What the phase has made so far; a draft inside one reconcile.

    `labels` are those that the runtime adds to every route. `writes_status` is False
    where the reference crashes before it writes one.
    """

    children: list[Child] = field(default_factory=list)
    gone: tuple[Ref, ...] = ()
    kept: set[str] = field(default_factory=set)
    labels: Mapping[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    faults: tuple[Fault, ...] = ()
    writes_status: bool = True

    def add(self, body: Raw, ref: Ref, *after: Ref) -> None:
        """One more object of the workloads."""
        self.children.append(Child(ref, body, "workloads", after))

    def services(self) -> tuple[tuple[Ref, Raw], ...]:
        """The component Services among the objects."""
        return tuple((child.ref, child.body) for child in self.children if child.ref[:2] == SERVICE)


def reconcile(scope: Scope) -> Made:
    """All components of a service that runs; the draft gets their status.

    Raises configmaps.ConfigFault.
    """
    made = Made()
    try:
        _forget_removed(scope)
        _components(scope, made)
        made.gone = pruning.stale(scope, {child.ref for child in made.children}, made.kept)
    except ComponentFault as fault:
        _failed(scope, made, fault)
    except naming.NameFault as fault:
        _failed(scope, made, ComponentFault(str(fault)))
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
    selected = _select(scope, made)
    made.labels = selected.labels
    pod = predictor.pod(selected, scope.service, reads=scope.reads)
    ready: tuple[Canary, ...] = ()
    if scope.is_standard:
        ready = _ready_canaries(scope)
        _canaries(scope, made, selected)
        observing.canaries(scope, ready)
    own = canaries.stable_replicas(scope.service, ready, reads=scope.reads)
    _component(scope, made, "predictor", pod, selected.written, replicas=own)
    for name, typed in scope.service.components[1:]:
        raw = scope.component(name)
        pod = others.pod(name, raw, typed, scope.service, reads=scope.reads)
        _component(scope, made, name, pod, raw, replicas=typed.minReplicas)
    if not scope.is_standard:
        observing.across_components(scope)


def _check_mode(scope: Scope) -> None:
    """KServe's raw reconciler reads the annotation again, whatever the mode is (Q45)."""
    annotated = scope.service.annotations.get(MODE_ANNOTATION, "")
    if not scope.is_standard or not annotated or scope.reads.differs("Q45"):
        return
    if mode.annotated_mode(scope.service, scope.config) != "Standard":
        raise ComponentFault(f"unsupported deployment mode for workload: {annotated}")


def _select(scope: Scope, made: Made) -> predictor.Selected:
    """The predictor's runtime, told in the status."""
    written = predictor.as_model(scope.component("predictor"))
    selected = predictor.select(written, scope.service, reads=scope.reads, serving=_serving(scope))
    fields = scope.draft.fields
    fields.pop("servingRuntimeName", None)
    fields.pop("clusterServingRuntimeName", None)
    if selected.choice is not None:
        named = selected.choice.named.ref
        cluster = named.kind == runtimes.CLUSTER[1]
        fields["clusterServingRuntimeName" if cluster else "servingRuntimeName"] = named.name
        _tell_better(made, selected.choice)
        if selected.choice.named.assumed:
            made.findings.append(Finding.of("IC1203", scope.service.ref, runtime=named.name))
    return selected


def _serving(scope: Scope) -> Ref | None:
    """The runtime that status says serves the predictor."""
    status = scope.service.status
    if status.get("servingRuntimeName"):
        own = str(status["servingRuntimeName"])
        return Ref(*runtimes.NAMESPACED, scope.service.namespace, own)
    if status.get("clusterServingRuntimeName"):
        return Ref(*runtimes.CLUSTER, "", str(status["clusterServingRuntimeName"]))
    return None


def _tell_better(made: Made, choice: runtimes.Choice) -> None:
    if choice.better is not None:
        text = (
            f"runtime {choice.better.ref.name} would be chosen anew; "
            f"{choice.named.ref.name} goes on serving: name the other in model.runtime to change"
        )
        made.events.append(Event("Normal", "BetterRuntimeAvailable", text))


def _ready_canaries(scope: Scope) -> tuple[Canary, ...]:
    return tuple(
        canary for canary in scope.service.canaries if observing.canary_ready(scope, canary)
    )


def _canaries(scope: Scope, made: Made, stable: predictor.Selected) -> None:
    """The objects of each canary; with R10 the fault of one leaves all others alone."""
    for place, canary in enumerate(scope.service.canaries):
        raw = scope.service.raw["spec"]["canary"][place].get("predictor") or {}
        try:
            _canary(scope, made, canary, raw, stable)
        except ComponentFault as fault:
            name = canary.predictor.name
            if not scope.reads.differs("R10"):
                raise type_of(fault)(
                    "fails to reconcile canary deployments: "
                    f"fails to build resources for canary {name}: {fault}"
                ) from None
            made.kept.add(scope.service.canary_name(canary))
            made.findings.append(
                Finding.of(
                    "IC3001",
                    scope.service.ref,
                    path=f"spec.canary[{place}].predictor",
                    difference="R10",
                    text=f"canary {name}: {fault}",
                )
            )


def type_of(fault: ComponentFault) -> type[ComponentFault]:
    """The plain kind of a canary's fault: modelStatus tells of the stable alone."""
    return RefusedFault if isinstance(fault, RefusedFault) else ComponentFault


def _canary(scope: Scope, made: Made, canary: Canary, raw: Raw, stable: predictor.Selected) -> None:
    service, reads = scope.service, scope.reads
    selected = canaries.select(raw, stable, service, reads=reads)
    pod = predictor.pod(selected, service, reads=reads)
    work = workloads.make(
        service,
        "predictor",
        selected.written,
        pod,
        name=service.canary_name(canary),
        added_labels={**made.labels, **selected.labels},
        config=scope.config,
        replicas=canaries.replicas(canary, service, reads=reads),
    )
    _standard_objects(scope, made, work)


def _component(
    scope: Scope, made: Made, name: str, pod: Pod, raw: Raw, *, replicas: int | None
) -> None:
    work = workloads.make(
        scope.service,
        name,
        raw,
        pod,
        name=scope.service.object_name(name),
        added_labels=made.labels,
        config=scope.config,
        replicas=replicas,
    )
    if scope.is_standard:
        _standard_objects(scope, made, work)
        observing.standard(scope, name, work)
    else:
        _knative(scope, made, work)


def _standard_objects(scope: Scope, made: Made, work: Workload) -> None:
    """Service, then Deployment; the first one that an API server refuses ends the phase.

    No route depends on a Deployment: it is made only where it is ours to write.
    """
    headless = configuration.headless(scope.reads)
    service = services.make(work, headless=headless, reads=scope.reads)
    _accept(work, refusals.service_fault(service))
    ref = work.ref(*SERVICE)
    made.add(service, ref)
    _accept(work, refusals.deployment_fault(work.name, work.pod.containers))
    if "workloads" in scope.reads.settings.write:
        made.add(deployments.make(work), work.ref(*observing.DEPLOYMENT), ref)


def _accept(work: Workload, refusal: str) -> None:
    if refusal:
        raise RefusedFault(f"fails to reconcile {work.component}: {refusal}", work.component)


def _knative(scope: Scope, made: Made, work: Workload) -> None:
    typed = _typed(scope.service, work.component)
    rolled_out = str(scope.component_status(work.component).get("latestRolledoutRevision") or "")
    table = traffic.targets(typed.canaryTrafficPercent, rolled_out, work.annotations)
    body = knative_services.make(work, typed, table, config=scope.config)
    if scope.reads.differs("F28") and any("tag" in target for target in table):
        table, findings = traffic.without_long_tags(table, body, scope.service, reads=scope.reads)
        made.findings.extend(findings)
        body["spec"]["traffic"] = table
    made.add(body, work.ref(*observing.KNATIVE_SERVICE))
    observing.knative(scope, work.component, body)


def _typed(service: InferenceService, component: str) -> Component:
    return dict(service.components)[component]


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
    draft, reads, text = scope.draft, scope.reads, str(fault)
    reason = "ReconcileFailed"
    if isinstance(fault, ModelFault):
        stored = draft.fields.get("modelStatus") or {}
        draft.fields["modelStatus"] = fault.model_status(stored)
        reason = fault.reason
    component = fault.component if isinstance(fault, RefusedFault) else "predictor"
    if isinstance(fault, RefusedFault) or reads.differs("R16"):
        failed: Status = "False"
        draft.conditions.set(readiness.READY[component], failed, reason, text)
    made.writes_status = not isinstance(fault, PanicFault)
    made.gone = ()
    made.events.append(Event("Warning", "InternalError", text))
    made.findings.append(Finding.of("IC3001", scope.service.ref, text=text))
    made.faults = (Fault(f"fails to reconcile component: {text}", "components"),)
