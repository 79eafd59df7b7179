"""Which workloads of a service are to be deleted because they are no longer wanted.

KServe deletes predictors that are neither stable nor a canary (spec/kserve-ingress.md 14.2)
and leaves everything else (W29). Only objects that the service controls are looked at.
"""

from __future__ import annotations

from collections.abc import Collection

from ingressctl.api.refs import Raw, Ref, is_alias, labels_of, ref_of
from ingressctl.sources.kserve.components.observing import DEPLOYMENT, KNATIVE_SERVICE
from ingressctl.sources.kserve.components.scope import Scope
from ingressctl.sources.kserve.components.workload import COMPONENT_LABEL, ISVC_LABEL

SERVICE = ("", "Service")
KINDS = (DEPLOYMENT, SERVICE, KNATIVE_SERVICE)


def stale(scope: Scope, wanted: Collection[Ref], kept: Collection[str]) -> tuple[Ref, ...]:
    """Workloads of the service that are not wanted; `kept` are names that stay."""
    found = (obj for obj in scope.reads.owned(scope.service.owner) if _is_workload(obj))
    return tuple(
        sorted(
            ref_of(obj)
            for obj in found
            if ref_of(obj) not in wanted and ref_of(obj).name not in kept and _may_go(obj, scope)
        )
    )


def all_of(scope: Scope) -> tuple[Ref, ...]:
    """Every workload of a service that is stopped."""
    return tuple(
        sorted(ref_of(obj) for obj in scope.reads.owned(scope.service.owner) if _is_workload(obj))
    )


def _is_workload(obj: Raw) -> bool:
    ref = ref_of(obj)
    if ref[:2] not in KINDS:
        return False
    return ref[:2] != SERVICE or not is_alias(obj)


def _may_go(obj: Raw, scope: Scope) -> bool:
    reads = scope.reads
    if reads.differs("Q6") and _is_of_workers(ref_of(obj), scope):
        return False
    if reads.differs("W29"):
        return True
    labels = labels_of(obj)
    return (
        scope.is_standard
        and ref_of(obj)[:2] != KNATIVE_SERVICE
        and labels.get(ISVC_LABEL) == scope.service.name
        and labels.get(COMPONENT_LABEL) == "predictor"
    )


def _is_of_workers(ref: Ref, scope: Scope) -> bool:
    """Whether a multi-node predictor needs it: workers and the Services between them."""
    service = scope.service
    if service.spec.predictor.workerSpec is None:
        return False
    between = (f"{service.name}-head-", f"{service.name}-workers-")
    return ref.name == f"{service.object_name('predictor')}-worker" or ref.name.startswith(between)
