"""The objects of one component, in the order of writing, and what its workloads say.

Standard mode: Service before Deployment. Knative mode: a Knative Service. A component that
is stopped by its own annotation has none (spec/kserve-ingress.md 11, 12).
"""

from __future__ import annotations

from ingressctl.api.inferenceservices import STOP_ANNOTATION, Canary
from ingressctl.api.refs import Raw
from ingressctl.core.kserve import configuration, visibility
from ingressctl.sources.kserve.components import (
    canaries,
    deployments,
    knative_services,
    next_revision,
    observing,
    predictor,
    refusals,
    services,
    traffic,
)
from ingressctl.sources.kserve.components import workload as workloads
from ingressctl.sources.kserve.components.faults import RefusedFault
from ingressctl.sources.kserve.components.made import SERVICE, Made
from ingressctl.sources.kserve.components.pods import Pod
from ingressctl.sources.kserve.components.scope import Scope
from ingressctl.sources.kserve.components.workload import Workload


def component(
    scope: Scope, made: Made, name: str, pod: Pod, raw: Raw, *, replicas: int | None
) -> None:
    """A component's objects, then its status. Raises ComponentFault and NameFault."""
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
    if not scope.is_standard:
        _knative(scope, made, work)
        return
    _standard(scope, made, work)
    observing.standard(scope, name, work)


def canary(scope: Scope, made: Made, wanted: Canary, raw: Raw, stable: predictor.Selected) -> None:
    """A canary's Service and Deployment. Raises ComponentFault."""
    service, reads = scope.service, scope.reads
    selected = canaries.select(raw, stable, service, reads=reads)
    pod = predictor.pod(selected, service, reads=reads)
    work = workloads.make(
        service,
        "predictor",
        selected.written,
        pod,
        name=service.canary_name(wanted),
        added_labels={**made.labels, **selected.labels},
        config=scope.config,
        replicas=canaries.replicas(wanted, service, reads=reads),
    )
    _standard(scope, made, work)


def _standard(scope: Scope, made: Made, work: Workload) -> None:
    """Service, then Deployment; the first one that an API server refuses ends the phase.

    No route depends on a Deployment: it is made only where it is ours to write.
    """
    ref, deployment = work.ref(*SERVICE), work.ref(*observing.DEPLOYMENT)
    if _is_stopped(work):
        made.stopped += [ref, deployment]
        return
    headless = configuration.headless(scope.reads)
    service = services.make(work, headless=headless, reads=scope.reads)
    _accept(work, refusals.service_fault(service))
    made.add(service, ref)
    _accept(work, refusals.deployment_fault(work.name, work.pod.containers))
    if "workloads" in scope.reads.settings.write:
        made.add(deployments.make(work), deployment, ref)


def _is_stopped(work: Workload) -> bool:
    """By the merged annotations: the component's own may stop it alone."""
    return work.annotations.get(STOP_ANNOTATION, "").lower() == "true"


def _accept(work: Workload, refusal: str) -> None:
    if refusal:
        raise RefusedFault(f"fails to reconcile {work.component}: {refusal}", work.component)


def _knative(scope: Scope, made: Made, work: Workload) -> None:
    ref = work.ref(*observing.KNATIVE_SERVICE)
    if _is_stopped(work):
        made.stopped.append(ref)
        return
    typed = dict(scope.service.components)[work.component]
    table = _targets(scope, work, typed.canaryTrafficPercent)
    private = visibility.labelled_local(scope.service, "Knative", scope.reads)
    body = knative_services.make(work, typed, table, config=scope.config, private=private)
    if scope.reads.differs("F28") and any("tag" in target for target in table):
        table, findings = traffic.without_long_tags(table, body, scope.service, reads=scope.reads)
        made.findings.extend(findings)
        body["spec"]["traffic"] = table
    made.add(body, ref, assumed=next_revision.status(scope, work.component, body))
    observing.knative(scope, work.component, body)


def _targets(scope: Scope, work: Workload, percent: int | None) -> list[traffic.Target]:
    known = scope.component_status(work.component)
    waits = scope.reads.differs("F27") and not scope.assumes_ready
    return traffic.targets(
        percent,
        str(known.get("latestRolledoutRevision") or ""),
        work.annotations,
        newest=traffic.unready_newest(known) if waits else "",
    )
