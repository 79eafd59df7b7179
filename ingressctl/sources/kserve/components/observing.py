"""Component status from the workloads that exist, or that are taken for granted.

A workload with a status is observed. One that is missing or has no status yet is, with
`--assume ready`, ready; but what the stored status of the service says of it holds, for
somebody saw that. Beside a KServe that makes the workloads, missing ones tell nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingressctl.api.inferenceservices import Canary
from ingressctl.api.refs import Raw, Ref
from ingressctl.core import knative_hosts, naming
from ingressctl.core.kserve import hosts
from ingressctl.sources.kserve import readiness
from ingressctl.sources.kserve.components import next_revision, revisions, standard_status
from ingressctl.sources.kserve.components.scope import Scope
from ingressctl.sources.kserve.components.standard_status import Readiness
from ingressctl.sources.kserve.components.workload import Workload

DEPLOYMENT = ("apps", "Deployment")
KNATIVE_SERVICE = ("serving.knative.dev", "Service")

ROUTE_READY = {
    "predictor": "PredictorRouteReady",
    "transformer": "TransformerRouteReady",
    "explainer": "ExplainerRoutesReady",
}
CONFIGURATION_READY = {
    "predictor": "PredictorConfigurationReady",
    "transformer": "TransformerConfigurationReady",
    "explainer": "ExplainerConfigurationReady",
}
ASSUMED = Readiness("True", "AssumedReady", "no status was given: counted as ready")


def standard(scope: Scope, component: str, workload: Workload | None) -> None:
    """PredictorReady and the like, and the component's URL. Raises naming.NameFault.

    `workload` carries the merged labels that the URL is rendered from; None takes the
    service's own.
    """
    service, draft = scope.service, scope.draft
    name = service.object_name(component)
    deployments = _deployments(scope, name)
    if deployments and deployments[0].get("status"):
        ready = standard_status.readiness(deployments)
        _observed_generation(scope, deployments[0])
    elif scope.assumes_ready:
        ready = _kept(scope, component) or ASSUMED
    elif "workloads" in scope.reads.settings.write:
        ready = standard_status.readiness(deployments)
    else:
        return
    draft.conditions.set(readiness.READY[component], *ready)
    _update(scope, component, {})
    if ready.status == "True":
        _publish_standard(scope, component, workload)


def _deployments(scope: Scope, name: str) -> list[Raw]:
    """The component's Deployment, and that of its workers if there is one."""
    namespace = scope.service.namespace
    refs = (Ref(*DEPLOYMENT, namespace, name), Ref(*DEPLOYMENT, namespace, f"{name}-worker"))
    return [obj for obj in map(scope.reads.get, refs) if obj is not None]


def _kept(scope: Scope, component: str) -> Readiness | None:
    """What the stored status says of a component whose workload nobody gave."""
    kind = readiness.READY[component]
    if not scope.is_told(kind):
        return None
    stored = scope.draft.conditions.get(kind)
    return Readiness(
        stored["status"], str(stored.get("reason") or ""), str(stored.get("message") or "")
    )


def _observed_generation(scope: Scope, obj: Raw) -> None:
    generation = (obj.get("status") or {}).get("observedGeneration")
    if generation:
        scope.draft.fields["observedGeneration"] = generation


def _publish_standard(scope: Scope, component: str, workload: Workload | None) -> None:
    """``http://`` and the rendered host of the component's object name, from the merged
    labels; with Q25 the host that the route has."""
    service, reads = scope.service, scope.reads
    ingress = scope.ingress()
    try:
        if reads.differs("Q25") or workload is None:
            name = f"{service.name}-{component}" if reads.differs("Q25") else None
            host = hosts.standard_host(
                service, name or service.object_name(component), ingress, reads
            )
        else:
            host = naming.render_host(
                ingress.domainTemplate,
                name=workload.name,
                namespace=service.namespace,
                domain=ingress.ingressDomain,
                annotations=workload.annotations,
                labels=workload.labels,
                name_missing_keys=reads.differs("Q17"),
            )
    except naming.NameFault:
        if not reads.differs("Q16"):
            raise
        return
    _update(scope, component, {"url": f"http://{host}"})


def knative(scope: Scope, component: str, wanted: Raw | None) -> None:
    """Revisions, traffic, URL and conditions of a component from its Knative Service.

    `wanted` is the Service as it is to be; from it an assumed status is made.
    """
    name = scope.service.object_name(component)
    stored = scope.reads.get(Ref(*KNATIVE_SERVICE, scope.service.namespace, name))
    status = (stored or {}).get("status")
    if not status and scope.assumes_ready and wanted is not None:
        status = _assumed_status(scope, component, wanted)
    if not status:
        return
    _update(scope, component, revisions.track(scope.component_status(component), status))
    if status.get("observedGeneration"):
        scope.draft.fields["observedGeneration"] = status["observedGeneration"]
    _knative_conditions(scope, component, status)


def _knative_conditions(scope: Scope, component: str, status: Mapping[str, Any]) -> None:
    kinds = {
        "Ready": readiness.READY[component],
        "RoutesReady": ROUTE_READY[component],
        "ConfigurationsReady": CONFIGURATION_READY[component],
    }
    for condition in status.get("conditions") or ():
        kind = kinds.get(condition.get("type"))
        if kind:
            scope.draft.conditions.set(
                kind,
                condition.get("status") or "Unknown",
                condition.get("reason") or "",
                condition.get("message") or "",
            )


def _assumed_status(scope: Scope, component: str, wanted: Raw) -> dict[str, Any] | None:
    """Ready as NAME-00001 with the URL that Knative would compute (design.md section 5).

    A service that carries a status keeps what it says; only a missing URL is filled in.
    """
    address = _knative_address(scope, wanted)
    if scope.is_told(readiness.READY[component]):
        if readiness.ready(component, scope.draft.conditions):
            _update(scope, component, {**address, **scope.component_status(component)})
        return None
    revision = next_revision.name_of(wanted["metadata"]["name"], 1)
    return {**address, **next_revision.ready_as(revision, wanted)}


def _knative_address(scope: Scope, wanted: Raw) -> dict[str, Any]:
    meta = wanted["metadata"]
    try:
        host = knative_hosts.route_host(
            meta["name"],
            meta["namespace"],
            labels=meta["labels"],
            annotations=meta.get("annotations") or {},
            reads=scope.reads,
        )
    except naming.NameFault:
        return {}
    internal = hosts.internal_host(scope.service, meta["name"], scope.reads)
    return {"url": f"http://{host}", "address": {"url": f"http://{internal}"}}


def _update(scope: Scope, component: str, status: Mapping[str, Any]) -> None:
    """Put fields into the status of a component; the stored mapping is left alone."""
    components = scope.draft.fields.get("components") or {}
    merged = {**(components.get(component) or {}), **status}
    scope.draft.fields["components"] = {**components, component: merged}


def canary_ready(scope: Scope, canary: Canary) -> bool:
    """Whether the canary's Deployment has a replica that is available."""
    name = scope.service.canary_name(canary)
    obj = scope.reads.get(Ref(*DEPLOYMENT, scope.service.namespace, name))
    status = (obj or {}).get("status")
    if status:
        return (status.get("availableReplicas") or 0) > 0
    stored = scope.stored_canaries.get(canary.predictor.name or "")
    if scope.assumes_ready:
        return True if stored is None or scope.is_fresh else stored
    return bool(stored) and "workloads" not in scope.reads.settings.write


def canaries(scope: Scope, ready: tuple[Canary, ...]) -> None:
    """status.canaryStatuses and CanaryPredictorReady; nothing of either without canaries."""
    draft, present = scope.draft, scope.service.canaries
    if not present:
        draft.fields.pop("canaryStatuses", None)
        draft.conditions.drop("CanaryPredictorReady")
        return
    draft.fields["canaryStatuses"] = [
        {
            "name": canary.predictor.name,
            "ready": canary in ready,
            "trafficPercent": canary.trafficPercent,
            "modelStatus": {"transitionStatus": ""},  # demanded by the schema, never filled
        }
        for canary in present
    ]
    if len(ready) == len(present):
        draft.conditions.set("CanaryPredictorReady", "True", "AllCanariesReady")
    else:
        draft.conditions.set("CanaryPredictorReady", "False", "CanariesNotReady")


def across_components(scope: Scope) -> None:
    """RoutesReady and LatestDeploymentReady: the last component that is not names itself."""
    for kind, parts in (
        ("RoutesReady", ROUTE_READY),
        ("LatestDeploymentReady", CONFIGURATION_READY),
    ):
        present = [parts[name] for name, _ in scope.service.components]
        bad = [part for part in present if not scope.draft.conditions.is_true(part)]
        if not bad:
            scope.draft.conditions.set(kind, "True")
            continue
        known = scope.draft.conditions.status(bad[-1]) == "False"
        scope.draft.conditions.set(kind, "False" if known else "Unknown", f"{bad[-1]} not ready")
