"""Rules of a predictor with workerSpec (spec/kserve-runtimes.md 11)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ingressctl.api.admission import gpus
from ingressctl.api.admission.refusals import Differs, Refusal
from ingressctl.api.admission.scaling import CLASS_ANNOTATION
from ingressctl.api.models.inferenceservices import InferenceService, Model
from ingressctl.api.models.pods import EnvVar, WorkerSpec
from ingressctl.api.refs import Raw

SIZE_VARIABLES = ("PIPELINE_PARALLEL_SIZE", "TENSOR_PARALLEL_SIZE")

_PREDICTOR = "spec.predictor"
_WORKER = "spec.predictor.workerSpec"


def refusals(
    service: InferenceService, *, differs: Differs, peers: Iterable[Raw]
) -> Iterator[Refusal]:
    """Faults of a multi-node predictor; none without workerSpec."""
    predictor = service.spec.predictor
    worker = predictor.workerSpec
    if worker is None:
        return
    prefix = f'the InferenceService "{service.metadata.name}" is invalid: '
    if predictor.model is not None:
        yield from _model(predictor.model, prefix, service)
        if differs("R12"):
            yield from _runtime_without_workers(predictor.model, service, peers)
    yield from worker_refusals(worker, prefix, _WORKER, article="")
    for place, container in enumerate(worker.containers or []):
        if gpus.has_unknown(container.resources, service.metadata.annotations):
            yield _unknown_gpu(prefix, f"{_WORKER}.containers[{place}].resources")


def worker_refusals(
    worker: WorkerSpec, prefix: str, path: str, *, article: str
) -> Iterator[Refusal]:
    """What holds for workers of services and of runtimes alike; `article` is part of the text."""
    if len(worker.containers or []) > 1:
        yield Refusal(
            f"{prefix}setting multiple containers in workerSpec is not allowed",
            f"{path}.containers",
            "leave one container",
        )
    sizes = (
        ("PipelineParallelSize", "pipelineParallelSize", worker.pipelineParallelSize),
        ("TensorParallelSize", "tensorParallelSize", worker.tensorParallelSize),
    )
    for told, field, size in sizes:
        if size is not None and size < 1:
            yield Refusal(
                f"{prefix}{article}WorkerSpec.{told} cannot be less than 1({size})",
                f"{path}.{field}",
                "write 1 or more",
            )


def size_variable_refusals(
    variables: Iterable[EnvVar] | None, prefix: str, path: str
) -> Iterator[Refusal]:
    """The sizes are fields of workerSpec, never variables."""
    names = {variable.name for variable in variables or ()}
    for name in SIZE_VARIABLES:
        if name in names:
            yield Refusal(
                f"{prefix}setting {name} in environment variables is not allowed",
                path,
                "set the size in workerSpec",
            )


def _model(model: Model, prefix: str, service: InferenceService) -> Iterator[Refusal]:
    path = f"{_PREDICTOR}.model"
    annotations = service.metadata.annotations or {}
    yield from size_variable_refusals(model.env, prefix, f"{path}.env")
    if gpus.has_unknown(model.resources, annotations):
        yield _unknown_gpu(prefix, f"{path}.resources")
    yield from _storage(model, prefix, path)
    autoscaler = annotations.get(CLASS_ANNOTATION, "")
    if autoscaler != "none":
        yield Refusal(
            f"{prefix}Multinode only supports 'none' autoscaler({autoscaler})",
            f"metadata.annotations[{CLASS_ANNOTATION}]",
            f"set the annotation {CLASS_ANNOTATION} to none",
        )


def _storage(model: Model, prefix: str, path: str) -> Iterator[Refusal]:
    remedy = "put the model on a claim or into an image: pvc://... or oci://..."
    if model.storageUri is None:
        text = f"{prefix}StorageURI must be set for multinode enabled"
        yield Refusal(text, f"{path}.storageUri", remedy)
        return
    protocol = model.storageUri.split("://")[0]
    if protocol not in ("pvc", "oci"):
        yield Refusal(
            f"{prefix}Multinode only supports 'pvc' and 'oci' Storage Protocol({protocol})",
            f"{path}.storageUri",
            remedy,
        )


def _unknown_gpu(prefix: str, path: str) -> Refusal:
    return Refusal(
        f"{prefix}Unknown GPU resource type. Set '{gpus.ANNOTATION}' annotation to use custom "
        "gpu resource type",
        path,
        f"correct the resource, or add it to the annotation {gpus.ANNOTATION}",
    )


def _runtime_without_workers(
    model: Model, service: InferenceService, peers: Iterable[Raw]
) -> Iterator[Refusal]:
    """R12: KServe finds out too late and panics in every pass."""
    runtime = _named_runtime(model.runtime, service.metadata.namespace or "", peers)
    if runtime is None:
        return
    spec = runtime.get("spec")
    if not isinstance(spec, Mapping) or spec.get("workerSpec") is None:
        yield Refusal(
            f"workerSpec needs a runtime with workerSpec, and runtime {model.runtime} has none",
            f"{_PREDICTOR}.model.runtime",
            "name a runtime that has workerSpec, or remove workerSpec from the predictor",
            "R12",
        )


def _named_runtime(name: str | None, namespace: str, peers: Iterable[Raw]) -> Raw | None:
    """The runtime of the namespace, else the cluster's (spec/kserve-runtimes.md 4)."""
    if not name:
        return None
    wanted = (("ServingRuntime", namespace, name), ("ClusterServingRuntime", "", name))
    found = {identity(peer): peer for peer in peers}
    return next((found[key] for key in wanted if key in found), None)


def identity(obj: Raw) -> tuple[str, str, str]:
    """Kind, namespace and name of a raw object, as texts whatever they are."""
    metadata = obj.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    return (
        str(obj.get("kind")),
        str(metadata.get("namespace") or ""),
        str(metadata.get("name") or ""),
    )
