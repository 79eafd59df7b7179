"""Rules of ServingRuntimes and ClusterServingRuntimes (spec/kserve-runtimes.md 13).

Priorities are compared with the runtimes of the same kind and namespace, so that an
automatic choice never depends on age alone. Disabled runtimes pass unchecked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ingressctl.api.admission import containers, gpus, multinode, schema
from ingressctl.api.admission.forms import KSERVE_CONTAINER
from ingressctl.api.admission.refusals import Differs, Refusal
from ingressctl.api.models.servingruntimes import ServingRuntime, Spec, SupportedModelFormat
from ingressctl.api.refs import Raw

_WORKER_CONTAINER = "worker-container"


def refusals(
    runtime: ServingRuntime, *, kind: str, differs: Differs, peers: Iterable[Raw]
) -> Iterator[Refusal]:
    """Every fault of the runtime, in KServe's order."""
    if runtime.spec.disabled:
        return
    others = tuple(_of_one_room(runtime, kind, peers))
    if others or differs("R14"):
        yield from _priorities_within(runtime, kind, "" if others else "R14")
    for other in others:
        if other.metadata.name != runtime.metadata.name:
            yield from _same_priority(runtime, other, kind)
    prefix = f"the {kind} {runtime.metadata.name} is invalid: "
    yield from containers.blocked_in_pod(runtime.spec, prefix, "spec")
    yield from _workers(runtime, prefix, others)


def _of_one_room(
    runtime: ServingRuntime, kind: str, peers: Iterable[Raw]
) -> Iterator[ServingRuntime]:
    """The stored runtimes of the same kind and namespace, by name; those of no use left out."""
    namespace = runtime.metadata.namespace or ""
    room = [peer for peer in peers if multinode.identity(peer)[:2] == (kind, namespace)]
    for peer in sorted(room, key=multinode.identity):
        parsed, _ = schema.parse(ServingRuntime, peer)
        if parsed is not None:
            yield parsed


def _priorities_within(runtime: ServingRuntime, kind: str, difference: str) -> Iterator[Refusal]:
    """One format has one priority within a runtime. The first entry of a name counts."""
    first: dict[str, int | None] = {}
    for place, entry in enumerate(runtime.spec.supportedModelFormats or []):
        if not entry.autoSelect:
            continue
        priority = first.setdefault(entry.name, entry.priority)
        if None not in (priority, entry.priority) and priority != entry.priority:
            yield Refusal(
                f"different priorities assigned for the model format {entry.name} under the "
                f"{kind.lower()} {runtime.metadata.name}",
                f"spec.supportedModelFormats[{place}].priority",
                f"write {priority}, as in the first entry of that format",
                difference,
            )


def _same_priority(new: ServingRuntime, old: ServingRuntime, kind: str) -> Iterator[Refusal]:
    if old.spec.disabled or bool(new.spec.multiModel) != bool(old.spec.multiModel):
        return
    if not set(new.spec.protocolVersions or ()) & set(old.spec.protocolVersions or ()):
        return
    names = f"{kind.lower()}s {old.metadata.name} and {new.metadata.name}"
    where = f" in namespace {new.metadata.namespace}" if kind == "ServingRuntime" else ""
    for place, entry in enumerate(new.spec.supportedModelFormats or []):
        if any(_clash(entry, other) for other in old.spec.supportedModelFormats or []):
            yield Refusal(
                f"same priority assigned for the model format {entry.name} in the {names}{where}",
                f"spec.supportedModelFormats[{place}].priority",
                "write another priority: the higher one is chosen",
            )


def _clash(one: SupportedModelFormat, other: SupportedModelFormat) -> bool:
    return bool(
        one.autoSelect
        and other.autoSelect
        and one.name.lower() == other.name.lower()
        and one.version == other.version
        and one.priority is not None
        and one.priority == other.priority
    )


def _workers(
    runtime: ServingRuntime, prefix: str, others: tuple[ServingRuntime, ...]
) -> Iterator[Refusal]:
    worker = runtime.spec.workerSpec
    if worker is None:
        stored = (other for other in others if other.metadata.name == runtime.metadata.name)
        if any(other.spec.workerSpec is not None for other in stored):
            yield Refusal(
                f"{prefix}removing workerSpec where it already exists is not allowed",
                "spec.workerSpec",
                "keep it, or make a runtime of another name",
            )
        return
    yield from _serving_container(runtime.spec, prefix)
    yield from containers.blocked_in_pod(worker, prefix, "spec.workerSpec")
    yield from multinode.worker_refusals(worker, prefix, "spec.workerSpec", article="the ")
    for place, container in enumerate((worker.containers or [])[:1]):
        named = container.name == _WORKER_CONTAINER
        if named and gpus.has_unknown(container.resources, runtime.spec.annotations):
            yield _unknown_gpu(prefix, _WORKER_CONTAINER, f"spec.workerSpec.containers[{place}]")


def _serving_container(spec: Spec, prefix: str) -> Iterator[Refusal]:
    for place, container in enumerate(spec.containers or []):
        if container.name != KSERVE_CONTAINER:
            continue
        path = f"spec.containers[{place}]"
        yield from multinode.size_variable_refusals(container.env, prefix, f"{path}.env")
        if gpus.has_unknown(container.resources, spec.annotations):
            yield _unknown_gpu(prefix, KSERVE_CONTAINER, path)


def _unknown_gpu(prefix: str, container: str, path: str) -> Refusal:
    return Refusal(
        f"{prefix}unknown GPU resource type in a container({container})",
        f"{path}.resources",
        f"correct the resource, or add it to the annotation {gpus.ANNOTATION} of spec.annotations",
    )
