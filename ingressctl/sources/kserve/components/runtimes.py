"""Which ServingRuntime or ClusterServingRuntime serves a model (spec/kserve-runtimes.md 4, 5).

A named runtime is looked up and checked; otherwise all candidates of the namespace, then
of the cluster are put in order. Parsed runtimes and the order of candidates are derived
once a world: ten thousand services share them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

from ingressctl.api.refs import Raw, Ref, annotations_of, ref_of
from ingressctl.core.values import Value
from ingressctl.core.world import Kind, Reads
from ingressctl.sources.kserve.components import shipped
from ingressctl.sources.kserve.components.faults import ModelFault

GROUP = "serving.kserve.io"
NAMESPACED: Kind = (GROUP, "ServingRuntime")
CLUSTER: Kind = (GROUP, "ClusterServingRuntime")
PROTOCOL_RANK = {"v1": 0, "v2": 1, "grpc-v1": 2, "grpc-v2": 3}
UNRANKED = len(PROTOCOL_RANK)


class Format(NamedTuple):
    """One entry of supportedModelFormats."""

    name: str
    version: str | None
    auto: bool
    priority: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Runtime:
    """What selection reads of a runtime; `spec` is the raw one.

    `assumed` says that no object of it was given: KServe installs it.
    """

    ref: Ref
    formats: tuple[Format, ...]
    protocols: tuple[str, ...]
    disabled: bool
    multi_model: bool
    workers: bool
    created: str
    annotations: Mapping[str, str]
    spec: Raw
    assumed: bool = False

    @property
    def lowest_protocol(self) -> str:
        """The first of its protocols in KServe's order; "" when it lists none."""
        return min(self.protocols, key=rank_of, default="")


class Wanted(NamedTuple):
    """What a predictor asks of a runtime. `protocol` None: not said."""

    format: str
    version: str | None
    protocol: str | None
    workers: bool


class Choice(Value, frozen=True):
    """`serves` gives the pod, `named` status and annotations: two objects only without R6.

    `better` is a runtime that would be chosen anew but is not, as another serves (R13).
    """

    serves: Runtime
    named: Runtime
    better: Runtime | None = None


def choose(
    wanted: Wanted, *, name: str | None, service: Ref, serving: Ref | None, reads: Reads
) -> Choice:
    """The runtime of that name, or the best candidate for `service`. Raises ModelFault.

    `serving` is the runtime in status: with R13 it stays while it fits.
    """
    if name is not None:
        runtime = named(name, service, reads)
        check(runtime, wanted)
        return Choice(runtime, runtime)
    found = candidates(wanted, service, reads)
    if not found:
        raise _none_fits(wanted, reads)
    best = found[0]
    if serving is not None and reads.differs("R13"):
        kept = next((runtime for runtime in found if runtime.ref == serving), None)
        if kept is not None and kept is not best:
            return Choice(kept, kept, best)
    return Choice(best, best if reads.differs("R6") else _looked_up_again(best, service, reads))


def named(name: str, service: Ref, reads: Reads) -> Runtime:
    """The runtime of that name: the namespace's hides the cluster's. Raises ModelFault."""
    for ref in (Ref(*NAMESPACED, service.namespace, name), Ref(*CLUSTER, "", name)):
        obj = reads.get(ref)
        if obj is not None:
            return _parsed(ref, obj, reads)
    for runtime in _assumed(service, reads):
        if runtime.ref.name == name:
            return runtime
    raise ModelFault(
        f"No ServingRuntimes or ClusterServingRuntimes with the name: {name}",
        "RuntimeNotRecognized",
        "Waiting for runtime to become available",
    )


def check(runtime: Runtime, wanted: Wanted) -> None:
    """Whether a named runtime may serve it; autoSelect is not needed. Raises ModelFault."""
    name = runtime.ref.name
    if runtime.disabled:
        raise ModelFault(
            f"specified runtime {name} is disabled",
            "RuntimeDisabled",
            "Specified runtime is disabled",
        )
    if wanted.protocol and runtime.protocols and wanted.protocol not in runtime.protocols:
        raise _unsupported(name, "protocol version")
    if not any(_matches(entry, wanted) for entry in runtime.formats):
        raise _unsupported(name, "framework/version")


def candidates(wanted: Wanted, service: Ref, reads: Reads) -> tuple[Runtime, ...]:
    """All runtimes that may be chosen by themselves, the best first."""
    namespace, assumed = service.namespace, reads.assumes_ready(service)
    exact = reads.differs("R5")

    def in_order(reads: Reads) -> tuple[Runtime, ...]:
        scopes = _listed(namespace, reads, assumed=assumed)
        return tuple(
            runtime for scope in scopes for runtime in _in_order(scope, wanted, exact=exact)
        )

    return reads.derived(("candidates", namespace, wanted, exact, assumed), in_order)


def rank_of(protocol: str) -> int:
    """KServe's order of protocols; unknown ones come last."""
    return PROTOCOL_RANK.get(protocol, UNRANKED)


def parse(obj: Raw) -> Runtime:
    """A runtime of either scope from its object."""
    spec = obj.get("spec") or {}
    return Runtime(
        ref=ref_of(obj),
        formats=tuple(map(_format, spec.get("supportedModelFormats") or ())),
        protocols=tuple(spec.get("protocolVersions") or ()),
        disabled=bool(spec.get("disabled")),
        multi_model=bool(spec.get("multiModel")),
        workers=spec.get("workerSpec") is not None,
        created=str((obj.get("metadata") or {}).get("creationTimestamp") or "")[:19],
        annotations=annotations_of(obj),
        spec=spec,
    )


def _format(entry: Mapping[str, Any]) -> Format:
    version = entry.get("version")
    return Format(
        str(entry.get("name") or ""),
        None if version is None else str(version),
        bool(entry.get("autoSelect")),
        entry.get("priority"),
    )


def _matches(entry: Format, wanted: Wanted) -> bool:
    return entry.name == wanted.format and wanted.version in (None, entry.version)


def _listed(
    namespace: str, reads: Reads, *, assumed: bool
) -> tuple[tuple[Runtime, ...], tuple[Runtime, ...]]:
    """The runtimes of the namespace, and those of the cluster."""
    own, shared = reads.list(NAMESPACED, namespace), reads.list(CLUSTER, "")
    found = tuple(_parsed(ref_of(obj), obj, reads) for obj in shared)
    return (
        tuple(_parsed(ref_of(obj), obj, reads) for obj in own),
        found or (_shipped() if assumed else ()),
    )


def _parsed(ref: Ref, obj: Raw, reads: Reads) -> Runtime:
    """One value an object: runtimes are compared by identity."""
    return reads.derived(("runtime", ref), lambda _: parse(obj))


def any_given(namespace: str, reads: Reads) -> bool:
    """Whether there is a runtime that a service of the namespace could use."""
    return bool(reads.list(CLUSTER, "") or reads.list(NAMESPACED, namespace))


def _assumed(service: Ref, reads: Reads) -> tuple[Runtime, ...]:
    """KServe's own runtimes, where files hold none of the cluster."""
    taken = reads.assumes_ready(service) and not reads.list(CLUSTER, "")
    return _shipped() if taken else ()


@cache
def _shipped() -> tuple[Runtime, ...]:
    return tuple(replace(parse(obj), assumed=True) for obj in shipped.runtimes())


def _in_order(scope: Iterable[Runtime], wanted: Wanted, *, exact: bool) -> list[Runtime]:
    """By priority, protocol rank, newest, name (each sort keeps the order before it)."""
    found = sorted(
        (runtime for runtime in scope if _is_candidate(runtime, wanted)),
        key=lambda runtime: runtime.ref.name,
    )
    found.sort(key=lambda runtime: runtime.created, reverse=True)
    found.sort(key=lambda runtime: rank_of(runtime.lowest_protocol))
    found.sort(key=_priority_key(wanted, exact=exact))
    return found


def _is_candidate(runtime: Runtime, wanted: Wanted) -> bool:
    if runtime.disabled or runtime.multi_model or runtime.workers != wanted.workers:
        return False
    if runtime.protocols and (wanted.protocol or "v1") not in runtime.protocols:
        return False
    return any(entry.auto and _matches(entry, wanted) for entry in runtime.formats)


def _priority_key(wanted: Wanted, *, exact: bool) -> Callable[[Runtime], tuple[bool, int]]:
    def key(runtime: Runtime) -> tuple[bool, int]:
        priority = _priority(runtime, wanted, exact=exact)
        return priority is None, -(priority or 0)

    return key


def _priority(runtime: Runtime, wanted: Wanted, *, exact: bool) -> int | None:
    """That of the first entry of the format's name, whatever its version (R5); with
    `exact` the highest of the entries that match."""
    named_so = [entry for entry in runtime.formats if entry.name == wanted.format]
    if not exact:
        return named_so[0].priority if named_so else None
    matching = (entry.priority for entry in named_so if entry.auto and _matches(entry, wanted))
    return max((number for number in matching if number is not None), default=None)


def _looked_up_again(runtime: Runtime, service: Ref, reads: Reads) -> Runtime:
    """KServe looks the chosen name up again and may find the namespace's one (R6)."""
    if runtime.ref.kind == NAMESPACED[1]:
        return runtime
    return named(runtime.ref.name, service, reads)


def _unsupported(name: str, what: str) -> ModelFault:
    return ModelFault(
        f"specified runtime {name} does not support specified {what}",
        "NoSupportingRuntime",
        f"Specified runtime does not support specified {what}",
    )


def _none_fits(wanted: Wanted, reads: Reads) -> ModelFault:
    """With R15 name and version; KServe prints a pointer, whose value means nothing."""
    if reads.differs("R15"):
        what = wanted.format + (f" version {wanted.version}" if wanted.version else "")
    else:
        what = f"{{{wanted.format} {'<nil>' if wanted.version is None else '0xc000000000'}}}"
    return ModelFault(
        f"no runtime found to support predictor with model type: {what}",
        "NoSupportingRuntime",
        "No runtime found to support specified framework/version",
    )
