"""The Knative Service of a graph's router (spec/inferencegraph.md 6)."""

from __future__ import annotations

from typing import Any

from ingressctl.api.configmaps import ConfigFault
from ingressctl.api.inferenceservices import CLUSTER_LOCAL, KNATIVE_VISIBILITY
from ingressctl.api.refs import Raw
from ingressctl.core import knative_hosts
from ingressctl.core.kserve import initial_scale, visibility
from ingressctl.sources.graph import pods
from ingressctl.sources.graph.scope import GRAPH_LABEL, KIND_LABEL, KNATIVE_SERVICE, Scope

PASSTHROUGH = "serving.knative.openshift.io/enablePassthrough"
AUTOSCALING = "autoscaling.knative.dev/"
KPA = "kpa.autoscaling.knative.dev"
HPA = "hpa.autoscaling.knative.dev"


def service(scope: Scope) -> Raw:
    """The one object of a graph in Knative mode. Raises configmaps.ConfigFault."""
    graph = scope.graph
    own = {key: text for key, text in graph.annotations.items() if key == PASSTHROUGH}
    router = pods.container(scope, scope.reads.get(scope.ref(KNATIVE_SERVICE)))
    if scope.router.imagePullPolicy:
        router["imagePullPolicy"] = scope.router.imagePullPolicy
    spec = pods.spec(scope, router)
    if graph.spec.timeout is not None:
        spec["timeoutSeconds"] = graph.spec.timeout
    template = {
        "metadata": {"labels": _labels(scope), "annotations": _annotations(scope)},
        "spec": spec,
    }
    frame = scope.frame("serving.knative.dev/v1", "Service", _own_labels(scope), own)
    return {**frame, "spec": {"template": template}}


def host(scope: Scope) -> str:
    """The host that Knative gives to the graph. Raises configmaps.ConfigFault, naming.NameFault."""
    graph = scope.graph
    return knative_hosts.route_host(
        graph.name,
        graph.namespace,
        labels=_own_labels(scope),
        annotations=graph.annotations,
        reads=scope.reads,
    )


def public_host(scope: Scope) -> str:
    """The same; "" if the graph is reached from inside alone."""
    return "" if knative_hosts.is_local(_own_labels(scope), reads=scope.reads) else host(scope)


def relabelled(scope: Scope, stored: Raw) -> Raw:
    """The stored object with the labels that the graph has now."""
    own = {key: text for key, text in scope.graph.annotations.items() if key == PASSTHROUGH}
    frame = scope.frame("serving.knative.dev/v1", "Service", _own_labels(scope), own)
    return {**frame, "spec": stored.get("spec") or {}}


def _own_labels(scope: Scope) -> dict[str, str]:
    """The graph's, and the one that Knative reads where another one asks to be private (Q46)."""
    labels = dict(scope.graph.labels)
    if visibility.labelled_local(scope.graph, "Knative", scope.reads):
        labels[KNATIVE_VISIBILITY] = CLUSTER_LOCAL
    return labels


def _labels(scope: Scope) -> dict[str, str]:
    labels = {key: text for key, text in scope.graph.labels.items() if key != KNATIVE_VISIBILITY}
    return {**labels, GRAPH_LABEL: scope.graph.name, KIND_LABEL: scope.graph.ref.kind}


def _annotations(scope: Scope) -> dict[str, str]:
    own = {key: text for key, text in scope.annotations().items() if key != PASSTHROUGH}
    if not initial_scale_holds(scope):
        own.pop(initial_scale.ANNOTATION, None)
    spec = scope.graph.spec
    scale: dict[str, Any] = {
        "target": spec.scaleTarget,
        "metric": spec.scaleMetric,
        "min-scale": 1 if spec.minReplicas is None else spec.minReplicas,
        "max-scale": spec.maxReplicas or None,
    }
    if scope.reads.differs("IG-R10"):
        scale.update(_own_bounds(scope))
    given = {f"{AUTOSCALING}{key}": str(value) for key, value in scale.items() if value is not None}
    own.setdefault(f"{AUTOSCALING}class", _class(scope))
    return {**own, **given}


def initial_scale_holds(scope: Scope) -> bool:
    """Whether Knative takes the initial scale. Raises configmaps.ConfigFault."""
    try:
        return initial_scale.holds(scope.graph, scope.reads)
    except ConfigFault as fault:
        text = f"fails to retrieve the config-autoscaler configmap: {fault}"
        raise ConfigFault(text) from None


def _own_bounds(scope: Scope) -> dict[str, str]:
    """Bounds that the user wrote as annotations, where the fields say nothing."""
    spec, own = scope.graph.spec, scope.graph.annotations
    fields = {"min-scale": spec.minReplicas, "max-scale": spec.maxReplicas or None}
    names = (name for name, value in fields.items() if value is None)
    return {name: own[AUTOSCALING + name] for name in names if AUTOSCALING + name in own}


def _class(scope: Scope) -> str:
    """Only the HPA class scales by processor and memory."""
    by_resource = scope.graph.spec.scaleMetric in ("cpu", "memory")
    return HPA if by_resource and scope.reads.differs("IG-R10") else KPA
