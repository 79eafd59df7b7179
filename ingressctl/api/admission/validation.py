"""What admission refuses, in KServe's order but all faults at once.

Source of the rules: spec/kserve-ingress.md 19, spec/kserve-runtimes.md 2, 11, 13. The
schema comes first: with a fault in it no rule is asked. Nothing here raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ingressctl.api.admission import promotion, runtimes, schema, services
from ingressctl.api.admission.refusals import Differs, Operation, Refusal
from ingressctl.api.models.inferenceservices import InferenceService
from ingressctl.api.models.servingruntimes import ServingRuntime
from ingressctl.api.refs import Raw

RUNTIME_KINDS = frozenset({"ServingRuntime", "ClusterServingRuntime"})


def validate(
    new: Raw,
    *,
    old: Raw | None = None,
    operation: Operation,
    config: Mapping[str, str],
    differs: Differs,
    peers: Iterable[Raw] = (),
) -> tuple[Refusal, ...]:
    """Why `new` is not stored; empty if it is. Other kinds are never refused.

    `old` is the stored object on update, `config` `data` of inferenceservice-config,
    `peers` the ServingRuntimes and ClusterServingRuntimes there are, in any order; it is
    looked at only where a rule needs it.
    """
    if operation == "delete":
        return ()
    kind = new.get("kind")
    if kind == "InferenceService":
        return _validate_service(new, old, config, differs, peers)
    if isinstance(kind, str) and kind in RUNTIME_KINDS:
        stored = peers if old is None else (*peers, old)
        return _validate_runtime(new, kind, differs, stored)
    return ()


def _validate_service(
    new: Raw, old: Raw | None, config: Mapping[str, str], differs: Differs, peers: Iterable[Raw]
) -> tuple[Refusal, ...]:
    service, faults = schema.parse(InferenceService, new)
    if service is None:
        return faults
    stored = schema.parse(InferenceService, old)[0] if old is not None else None
    if stored is not None and service.metadata.deletionTimestamp is not None:
        return ()
    return (
        *(promotion.refusals(service, stored) if stored is not None else ()),
        *services.refusals(service, config=config, differs=differs, peers=peers),
    )


def _validate_runtime(
    new: Raw, kind: str, differs: Differs, peers: Iterable[Raw]
) -> tuple[Refusal, ...]:
    runtime, faults = schema.parse(ServingRuntime, new)
    if runtime is None:
        return faults
    return tuple(runtimes.refusals(runtime, kind=kind, differs=differs, peers=peers))
