"""What admission refuses, in KServe's order but all faults at once.

Source of the rules: spec/kserve-ingress.md 19, spec/kserve-runtimes.md 2, 11, 13,
spec/inferencegraph.md 2. The schema comes first: with a fault in it no rule is asked. Nothing
here raises.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping

from ingressctl.api import inferencegraphs
from ingressctl.api.admission import graphs, promotion, runtimes, schema, services
from ingressctl.api.admission.refusals import Differs, Operation, Refusal
from ingressctl.api.models.inferencegraphs import InferenceGraph
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
    `peers` the ServingRuntimes and ClusterServingRuntimes there are, or the InferenceGraphs,
    in any order; it is looked at only where a rule needs it.
    """
    if operation == "delete":
        return ()
    kind = new.get("kind")
    if kind == "InferenceService":
        return _validate_service(new, old, config, differs, peers)
    if kind == "InferenceGraph":
        return _validate_graph(new, old, operation, config, differs, peers)
    if isinstance(kind, str) and kind in RUNTIME_KINDS:
        stored = peers if old is None else (*peers, old)
        return _validate_runtime(new, kind, differs, stored)
    return ()


def _validate_service(
    new: Raw, old: Raw | None, config: Mapping[str, str], differs: Differs, peers: Iterable[Raw]
) -> tuple[Refusal, ...]:
    if old is not None and _is_deleted(new):
        return ()
    service, faults = schema.parse(InferenceService, new)
    if service is None:
        return faults
    stored = schema.parse(InferenceService, old)[0] if old is not None else None
    if stored is None:
        return tuple(services.refusals(service, config=config, differs=differs, peers=peers))
    ask = functools.partial(services.refusals, config=config, differs=differs, peers=tuple(peers))
    return (*promotion.refusals(service, stored), *_new_ones(ask(service), ask(stored)))


def _is_deleted(obj: Raw) -> bool:
    """Then finalizers must be able to go, whatever the object looks like."""
    metadata = obj.get("metadata")
    return isinstance(metadata, Mapping) and metadata.get("deletionTimestamp") is not None


def _new_ones(now: Iterable[Refusal], before: Iterable[Refusal]) -> Iterator[Refusal]:
    """What only a difference refuses may stay as it is stored: it came through the reference."""
    refused = tuple(now)
    if not any(refusal.difference for refusal in refused):
        yield from refused
        return
    known = set(before)
    yield from (refusal for refusal in refused if not refusal.difference or refusal not in known)


def _validate_runtime(
    new: Raw, kind: str, differs: Differs, peers: Iterable[Raw]
) -> tuple[Refusal, ...]:
    runtime, faults = schema.parse(ServingRuntime, new)
    if runtime is None:
        return faults
    return tuple(runtimes.refusals(runtime, kind=kind, differs=differs, peers=peers))


def _validate_graph(
    new: Raw,
    old: Raw | None,
    operation: Operation,
    config: Mapping[str, str],
    differs: Differs,
    peers: Iterable[Raw],
) -> tuple[Refusal, ...]:
    if operation == "update" and _is_deleted(new):
        return ()
    _, faults = schema.parse(InferenceGraph, new)
    if faults and (differs("IG-R20") or any(not item.path.startswith("spec") for item in faults)):
        return faults  # behind KServe's minimal CRD only the spec may be anything
    spec = inferencegraphs.loose(new)
    if spec is None:
        return faults
    stored = None if old is None else inferencegraphs.loose(old)
    ask = functools.partial(graphs.of_object, config=config, differs=differs, peers=tuple(peers))
    if old is None or stored is None:
        return tuple(ask(new, spec))
    return tuple(_new_ones(ask(new, spec), ask(old, stored)))
