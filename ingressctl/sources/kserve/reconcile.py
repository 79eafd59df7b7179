"""The story of one InferenceService: configuration, mode, components, routes, status."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from ingressctl.api import configmaps
from ingressctl.api.inferenceservices import InferenceService, ViewFault
from ingressctl.api.refs import Raw, ref_of
from ingressctl.core import findings, passes
from ingressctl.core.outcome import Fault, Finding, Keep, Outcome
from ingressctl.core.world import Reads
from ingressctl.sources.kserve import config as configuration
from ingressctl.sources.kserve import knative, mode, standard, stop
from ingressctl.sources.kserve.draft import Context, Draft, Routing


def reconcile(obj: Raw, *, reads: Reads, now: datetime) -> Outcome:
    """All that follows from one InferenceService."""
    return reconcile_routes(obj, reads=reads, now=now)


def reconcile_routes(obj: Raw, *, reads: Reads, now: datetime) -> Outcome:
    """Only the routing step: readiness and URLs are taken from the stored status."""
    try:
        service = InferenceService(obj)
        config = configuration.load(reads)
        resolved = mode.resolve(service, config, reads)
        draft = Draft.of(service)
        routing, provider = route(service, config, resolved, {}, draft, reads)
    except ViewFault as fault:
        return _refused(fault)
    except configmaps.ConfigFault as fault:
        return _misconfigured(obj, str(fault), reads)
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
        text = f"unsupported deployment mode for ingress: {resolved}"
        return Routing(keep=Keep(everything=True), faults=(Fault(text, "routes"),)), ""
    context = Context(service, config, ingress, provider, labels, draft, reads)
    if service.stopped:
        return stop.reconcile_routes(context, resolved), provider
    step = standard if resolved == "Standard" else knative
    routing = _passed(step.reconcile_routes(context), context)
    if not reads.differs("Q7"):
        routing = replace(routing, keep=Keep(everything=True))
    return routing, provider


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


def _refused(fault: ViewFault) -> Outcome:
    finding = Finding.of("IC1301", fault.ref, path=fault.path, text=fault.text)
    return Outcome(
        findings=(finding,),
        faults=(Fault(str(fault), "admission", fault.path),),
        keep=Keep(everything=True),
    )


def _misconfigured(obj: Raw, text: str, reads: Reads) -> Outcome:
    finding = Finding.of(
        "IC1102",
        ref_of(obj),
        text=text,
        name=configuration.NAME,
        namespace=reads.settings.config_namespace,
        key="",
    )
    return Outcome(findings=(finding,), faults=(Fault(text, "config"),), keep=Keep(everything=True))
