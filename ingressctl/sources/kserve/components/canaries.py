"""Canaries of spec.canary: their predictors, replicas and readiness.

spec/kserve-ingress.md 14 and spec/kserve-runtimes.md 10. A canary is the stable predictor
with its own non-empty fields over it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ingressctl.api.inferenceservices import Canary, InferenceService
from ingressctl.api.refs import Raw
from ingressctl.core.world import Reads
from ingressctl.sources.kserve.components import merging, predictor, runtimes
from ingressctl.sources.kserve.components.faults import ModelFault
from ingressctl.sources.kserve.components.predictor import Selected

NOT_INHERITED = frozenset(
    (
        "name minReplicas maxReplicas scaleTarget scaleMetric scaleMetricType autoScaling "
        "deploymentStrategy logger batcher storageUris"
    ).split()
)


def select(raw: Raw, stable: Selected, service: InferenceService, *, reads: Reads) -> Selected:
    """A canary's predictor with its runtime chosen. Raises ComponentFault."""
    own = predictor.as_model(raw) if reads.differs("R4") else raw
    if stable.effects is None or stable.choice is None:
        return predictor.select(_over(stable.written, own), service, reads=reads)
    if reads.differs("R10") and not _fits_stable(own, stable):
        anew = {**stable.written, "model": _without_runtime(stable.written["model"])}
        return predictor.select(_over(anew, own), service, reads=reads)
    return predictor.select(
        _over({**stable.written, "model": _resolved(stable, reads)}, own), service, reads=reads
    )


def _over(base: Raw, own: Raw) -> Raw:
    kept = {key: value for key, value in base.items() if key not in NOT_INHERITED}
    return merging.overlay(kept, own)


def _without_runtime(model: Raw) -> dict[str, Any]:
    return {key: value for key, value in model.items() if key != "runtime"}


def _fits_stable(own: Raw, stable: Selected) -> bool:
    """Whether the canary names a runtime itself, or the stable's can serve it."""
    assert stable.choice is not None
    if (own.get("model") or {}).get("runtime"):
        return True
    try:
        runtimes.check(stable.choice.serves, predictor.wanted(_over(stable.written, own)))
    except ModelFault:
        return False
    return True


def _resolved(stable: Selected, reads: Reads) -> dict[str, Any]:
    """The stable's model with runtime and protocol written in.

    KServe copies it after the effects of the server type, which so count twice (R11).
    """
    assert stable.effects is not None
    assert stable.choice is not None
    model = stable.written["model"] if reads.differs("R11") else stable.effects.model
    return {
        **model,
        "runtime": stable.choice.named.ref.name,
        "protocolVersion": stable.effects.protocol,
    }


def replicas(canary: Canary, service: InferenceService, *, reads: Reads) -> int:
    """Its minReplicas, else its share of the stable's, rounded up; with Q35 at least one."""
    given = canary.predictor.minReplicas
    if given is not None:
        return given
    stable = service.spec.predictor.minReplicas
    share = -(-(1 if stable is None else stable) * canary.trafficPercent // 100)
    return max(share, 1) if reads.differs("Q35") else share


def stable_replicas(
    service: InferenceService, ready: Iterable[Canary], *, reads: Reads
) -> int | None:
    """minReplicas less those of the ready canaries, not below one; None when not set."""
    own = service.spec.predictor.minReplicas
    if own is None:
        return None
    taken = sum(replicas(canary, service, reads=reads) for canary in ready)
    return max(own - taken, 1) if taken else own
