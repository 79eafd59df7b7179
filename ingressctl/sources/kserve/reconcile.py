"""The story of one InferenceService: configuration, mode, components, routes, status."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from ingressctl.api import configchecks, configmaps
from ingressctl.api.inferenceservices import InferenceService, ViewFault
from ingressctl.api.refs import Raw, Ref
from ingressctl.core import findings, passes
from ingressctl.core.kserve import configuration, initial_scale, mode, visibility
from ingressctl.core.outcome import Event, Fault, Finding, Keep, Outcome
from ingressctl.core.values import replace
from ingressctl.core.world import Reads
from ingressctl.sources.kserve import knative, standard, stop, summary, views
from ingressctl.sources.kserve.components import phase, stopping
from ingressctl.sources.kserve.components.made import Made
from ingressctl.sources.kserve.components.scope import Scope
from ingressctl.sources.kserve.draft import Context, Draft, Routing

KNATIVE_SERVICE = ("serving.knative.dev", "Service")
DISABLE_AUTO_UPDATE = "serving.kserve.io/disable-auto-update"


def reconcile(obj: Raw, *, reads: Reads, now: datetime) -> Outcome:
    """All that follows from one InferenceService (spec/kserve-ingress.md 3)."""
    try:
        service = views.of(obj, reads.world)
        config = configuration.load(reads)
        resolved = mode.resolve(service, config, reads)
        if _is_left_alone(service, config):
            return Outcome(keep=Keep(everything=True))
        if resolved == "ModelMesh" and service.spec.transformer is None:
            return _only_mode(service, reads)
        draft = Draft.of(service, reads)
        draft.conditions.initialise()
        draft.fields["deploymentMode"] = resolved
        if resolved == "Knative" and KNATIVE_SERVICE in reads.settings.absent:
            return _without_knative(draft, _stays(obj, reads))
        if resolved == "Knative" and not initial_scale.holds(service, reads):
            service = service.without_annotation(initial_scale.ANNOTATION)
        scope = Scope.of(service, config, resolved, draft, reads)
        return _outcome(scope, _components(scope))
    except ViewFault as fault:
        return _refused(fault, _stays(obj, reads))
    except configmaps.ConfigFault as fault:
        return _misconfigured(str(fault), _stays(obj, reads), reads)


def reconcile_routes(obj: Raw, *, reads: Reads, now: datetime) -> Outcome:
    """Only the routing step: readiness and URLs are taken from the stored status."""
    try:
        service = views.of(obj, reads.world)
        config = configuration.load(reads)
        resolved = mode.resolve(service, config, reads)
        draft = Draft.of(service, reads)
        routing, provider = route(service, config, resolved, {}, draft, reads)
    except ViewFault as fault:
        return _refused(fault, _stays(obj, reads))
    except configmaps.ConfigFault as fault:
        return _misconfigured(str(fault), _stays(obj, reads), reads)
    draft.fields["deploymentMode"] = resolved
    return Outcome(
        routes=routing.routes,
        provider=provider,
        status=draft.dump(),
        findings=(*mode.findings(service, config), *routing.findings),
        faults=routing.faults,
        again=routing.again,
        keep=routing.keep,
        answers_for="IngressReady",
    )


def reconcile_status(obj: Raw, *, reads: Reads, now: datetime) -> Outcome:
    """Only the status that follows from the workloads that exist; nothing is made."""
    try:
        service = views.of(obj, reads.world)
        config = configuration.load(reads)
        resolved = mode.resolve(service, config, reads)
        draft = Draft.of(service, reads)
        phase.observe(Scope.of(service, config, resolved, draft, reads))
    except ViewFault as fault:
        return _refused(fault, _stays(obj, reads))
    except configmaps.ConfigFault as fault:
        return _misconfigured(str(fault), _stays(obj, reads), reads)
    return Outcome(status=draft.dump(), keep=Keep(everything=True))


def route(
    service: InferenceService,
    config: configuration.Config,
    resolved: str,
    labels: Mapping[str, str],
    draft: Draft,
    reads: Reads,
) -> tuple[Routing, str]:
    """The routing step and the provider it is for. Raises configmaps.ConfigFault."""
    ingress = configuration.ingress(reads)
    provider = mode.provider(resolved, ingress, reads)
    if not provider:
        return _unrouted(f"unsupported deployment mode for ingress: {resolved}")
    if lacking := mode.not_followed(provider, reads):
        return _unrouted(lacking)
    context = Context(service, config, ingress, provider, labels, draft, reads)
    if service.stopped:
        return stop.reconcile_routes(context, resolved), provider
    step = standard if resolved == "Standard" else knative
    routing = _passed(step.reconcile_routes(context), context)
    if not reads.differs("Q7"):
        routing = replace(routing, keep=Keep(everything=True))
    return routing, provider


def _unrouted(text: str) -> tuple[Routing, str]:
    """Nobody can make the routes: those that are there stay."""
    return Routing(keep=Keep(everything=True), faults=(Fault(text, "routes"),)), ""


def _passed(routing: Routing, context: Context) -> Routing:
    """The routing after the passes; a host that somebody else holds is told in the status."""
    routes, found = passes.apply(routing.routes, context.reads)
    if not found:
        return routing
    lost = [finding for finding in found if finding.code == passes.ownership.CODE]
    if lost:
        context.draft.fields.pop("url", None)
        message = "; ".join(findings.message(finding) for finding in lost)
        context.draft.conditions.set("IngressReady", "False", "HostInUse", message)
    return replace(routing, routes=routes, findings=(*routing.findings, *found))


def _is_left_alone(service: InferenceService, config: configuration.Config) -> bool:
    """A service that is being deleted (owner references take its objects), or one that is
    ready and asked not to be updated."""
    if service.meta.deletionTimestamp is not None:
        return True
    if DISABLE_AUTO_UPDATE in config.disallowed_annotations:
        return False
    if service.annotations.get(DISABLE_AUTO_UPDATE) != "true":
        return False
    conditions = service.status.get("conditions") or ()
    return any(item.get("type") == "Ready" and item.get("status") == "True" for item in conditions)


def _components(scope: Scope) -> Made:
    """The components phase, and the condition that tells whether the service is stopped."""
    stopped = scope.service.stopped
    made = stopping.reconcile(scope) if stopped else phase.reconcile(scope)
    if not made.faults:
        scope.draft.conditions.set("Stopped", "True" if stopped else "False")
    return made


def _outcome(scope: Scope, made: Made) -> Outcome:
    """Routes over the wanted component Services, and the whole status."""
    routing, provider = _routing(scope, made)
    status = scope.draft.dump() if made.writes_status else None
    return Outcome(
        children=tuple(made.children),
        gone=made.gone,
        routes=routing.routes,
        provider=provider,
        status=status,
        events=(*made.events, *summary.events(scope.service, scope.draft.conditions)),
        findings=(
            *mode.findings(scope.service, scope.config),
            *made.findings,
            *routing.findings,
        ),
        faults=(*made.faults, *routing.faults),
        again=routing.again,
        keep=replace(routing.keep, hidden=_hidden(scope)),
        answers_for="IngressReady",
    )


def _routing(scope: Scope, made: Made) -> tuple[Routing, str]:
    """After a component's fault, or while one is waited for, routes stay as they are."""
    if made.faults or made.again is not None:
        return Routing(keep=Keep(everything=True), again=made.again), ""
    reads = scope.reads.over(_seen_services(scope, made))
    return route(scope.service, scope.config, scope.mode, made.labels, scope.draft, reads)


def _hidden(scope: Scope) -> bool:
    """Whether the service asked to be private: then nothing may show it outside, whatever
    fails and whatever is waited for (Q7)."""
    return scope.reads.differs("Q7") and visibility.labelled_local(
        scope.service, scope.mode, scope.reads
    )


def _seen_services(scope: Scope, made: Made) -> list[Raw]:
    """The component Services as routing is to see them: the wanted ones, but an existing
    one that is not ours to write as it is."""
    owner = scope.service.owner
    ours = "workloads" in scope.reads.settings.write
    seen = []
    for ref, body in made.services():
        stored = scope.reads.get(ref)
        if stored is None or (ours and owner.controls(stored)):
            seen.append(body)
    return seen


def _only_mode(service: InferenceService, reads: Reads) -> Outcome:
    """ModelMesh without a transformer: another controller serves it."""
    draft = Draft.of(service, reads)
    draft.fields["deploymentMode"] = "ModelMesh"
    return Outcome(status=draft.dump(), keep=Keep(everything=True))


def _stays(obj: Raw, reads: Reads) -> Keep:
    return visibility.stays(obj, hides=reads.differs("Q7"))


def _without_knative(draft: Draft, keep: Keep) -> Outcome:
    text = (
        "It is not possible to use Knative deployment mode when Knative Services are not "
        "available: Knative Serving is not available"
    )
    return Outcome(
        status=draft.dump(),
        events=(Event("Warning", "ServerlessModeRejected", text),),
        faults=(Fault(text, "components"),),
        keep=keep,
    )


def _refused(fault: ViewFault, keep: Keep) -> Outcome:
    finding = Finding.of("IC1301", fault.ref, path=fault.path, text=fault.text)
    return Outcome(
        findings=(finding,),
        faults=(Fault(str(fault), "admission", fault.path),),
        keep=keep,
    )


def _misconfigured(text: str, keep: Keep, reads: Reads) -> Outcome:
    """No pass goes on; what is told is every fault of the ConfigMap, where it stands."""
    place = Ref("", "ConfigMap", reads.settings.config_namespace, configuration.NAME)
    data = (reads.get(place) or {}).get("data") or {}
    told = tuple(
        configuration.refused(place, fault)
        for fault in configchecks.faults(data, gateway_optional=reads.differs("Q28"))
    )
    return Outcome(
        findings=told,
        faults=(Fault(text, "config"),),
        keep=keep,
    )
