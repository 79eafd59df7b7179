"""The objects of a graph's router in the order of writing, and those that are to go."""

from __future__ import annotations

from collections.abc import Iterable

from ingressctl.api.refs import Ref, is_alias, ref_of
from ingressctl.core.outcome import Child
from ingressctl.core.world import Kind
from ingressctl.sources.graph import autoscalers, knative, observing, pods, standard
from ingressctl.sources.graph.scope import (
    CONFIG_MAP,
    DEPLOYMENT,
    HPA,
    KNATIVE_SERVICE,
    SCALED_OBJECT,
    SERVICE,
    Scope,
)

AUTOSCALERS = (HPA, SCALED_OBJECT)
OF_STANDARD = (SERVICE, DEPLOYMENT, *AUTOSCALERS)
KINDS = (*OF_STANDARD, KNATIVE_SERVICE, CONFIG_MAP)


def wanted(scope: Scope) -> tuple[Child, ...]:
    """All objects of the mode. Raises configmaps.ConfigFault and autoscalers.UnknownClass.

    Routes lead to the Service alone: all else is made only where it is ours to write.
    """
    made = _standard(scope) if scope.is_standard else _knative(scope)
    if not scope.mounts_graph or not scope.writes_workloads:
        return made
    mounted = scope.ref(CONFIG_MAP, pods.map_name(scope))
    return (Child(mounted, pods.config_map(scope), "workloads"), *made)


def while_stopped(scope: Scope) -> tuple[Child, ...]:
    """Nothing; while IG-R5 is off a stored HPA goes on being written."""
    if not (scope.is_standard and scope.writes_workloads and autoscalers.stays(scope)):
        return ()
    found = autoscalers.wanted(scope)
    return () if found is None else (Child(*found, "workloads"),)


def while_waiting(scope: Scope, *, hidden: bool) -> tuple[Child, ...]:
    """A graph that is to be private, and waits: Knative shows what its Service's labels say, so
    they follow while all else stays."""
    stored = observing.workload(scope) if hidden and not scope.is_standard else None
    if stored is None:
        return ()
    return (Child(scope.ref(KNATIVE_SERVICE), knative.relabelled(scope, stored), "workloads"),)


def gone(scope: Scope, children: Iterable[Child]) -> tuple[Ref, ...]:
    """What the graph owns and does not want any more."""
    kept = {child.ref for child in children}
    return tuple(
        sorted(
            ref
            for obj in scope.reads.owned(scope.graph.owner)
            if (ref := ref_of(obj)) not in kept
            and ref[:2] in KINDS
            and _may_go(ref[:2], scope)
            and not is_alias(obj)
        )
    )


def _may_go(kind: Kind, scope: Scope) -> bool:
    """KServe leaves what the other mode made (IG-R7), and autoscalers (IG-R5)."""
    if kind == CONFIG_MAP:
        return True
    if (kind in OF_STANDARD) != scope.is_standard:
        return scope.reads.differs("IG-R7")
    return kind not in AUTOSCALERS or scope.reads.differs("IG-R5")


def _knative(scope: Scope) -> tuple[Child, ...]:
    return (Child(scope.ref(KNATIVE_SERVICE), knative.service(scope), "workloads"),)


def _standard(scope: Scope) -> tuple[Child, ...]:
    service, deployment = scope.ref(SERVICE), scope.ref(DEPLOYMENT)
    made = [
        Child(service, standard.service(scope), "workloads"),
        Child(deployment, standard.deployment(scope), "workloads", (service,)),
    ]
    scaler = autoscalers.wanted(scope)
    if scaler is not None:
        made.append(Child(*scaler, "workloads", (deployment,)))
    return tuple(made) if scope.writes_workloads else tuple(made[:1])
