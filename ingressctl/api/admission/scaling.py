"""Replicas, concurrency, autoscaler class and metrics of one component."""

from __future__ import annotations

from collections.abc import Iterator

from ingressctl.api.admission.refusals import Refusal
from ingressctl.api.inferenceservices import MODE_ANNOTATION
from ingressctl.api.models.inferenceservices import Component, InferenceService

CLASS_ANNOTATION = "serving.kserve.io/autoscalerClass"
KNATIVE_CLASS_ANNOTATION = "autoscaling.knative.dev/class"
KNATIVE_HPA = "hpa.autoscaling.knative.dev"

_CLASSES = ("hpa", "external", "keda", "none")
_HPA_METRICS = ("cpu", "memory")
_KPA_METRICS = ("concurrency", "rps")


def class_refusals(service: InferenceService) -> Iterator[Refusal]:
    """The autoscaler class must be known."""
    given = (service.metadata.annotations or {}).get(CLASS_ANNOTATION)
    if given is not None and given not in _CLASSES:
        yield Refusal(
            f"[{given}] is not a supported autoscaler class type",
            f"metadata.annotations[{CLASS_ANNOTATION}]",
            f"write one of {', '.join(_CLASSES)}",
        )


def concurrency_and_replicas(component: Component, path: str) -> Iterator[Refusal]:
    """Neither may be negative; the fewest replicas may not be more than the most."""
    if (component.containerConcurrency or 0) < 0:
        text = "parallelism cannot be less than 0"
        yield Refusal(text, f"{path}.containerConcurrency", "write 0 or more")
    least = 1 if component.minReplicas is None else component.minReplicas
    most = component.maxReplicas or 0
    if least < 0:
        text = "'MinReplicas' cannot be less than 0"
        yield Refusal(text, f"{path}.minReplicas", "write 0 or more")
    if most < 0:
        text = "'MaxReplicas' cannot be less than 0"
        yield Refusal(text, f"{path}.maxReplicas", "write 0 or more; 0 is no limit")
    elif most and least > most:
        text = "'MinReplicas' cannot be greater than MaxReplicas"
        yield Refusal(text, f"{path}.maxReplicas", f"write {least} or more")


def metrics(service: InferenceService, component: Component, path: str) -> Iterator[Refusal]:
    """What the autoscaler of the mode can scale by. Standard is the annotation exactly."""
    annotations = service.metadata.annotations or {}
    if annotations.get(MODE_ANNOTATION) == "Standard":
        autoscaler = annotations.get(CLASS_ANNOTATION)
        if autoscaler == "hpa":
            yield from _hpa(component, path)
        if autoscaler == "keda" and component.scaleMetric is not None:
            yield Refusal(
                "ScaleMetric is not supported for KEDA",
                f"{path}.scaleMetric",
                "write the metric in autoScaling.metrics",
            )
    elif annotations.get(KNATIVE_CLASS_ANNOTATION) == KNATIVE_HPA:
        yield from _hpa(component, path)
    else:
        yield from _kpa(component, path)


def _hpa(component: Component, path: str) -> Iterator[Refusal]:
    metric, target = component.scaleMetric or "cpu", component.scaleTarget
    yield from _supported(metric, _HPA_METRICS, path)
    if target is None:
        return
    if (metric == "cpu" and target < 1) or target > 100:
        text = "the target utilization percentage should be a [1-100] integer"
        yield Refusal(text, f"{path}.scaleTarget", "write a percentage from 1 to 100")
    elif metric == "memory" and target < 1:
        text = "the target memory should be greater than 1 MiB"
        yield Refusal(text, f"{path}.scaleTarget", "write 1 or more")


def _kpa(component: Component, path: str) -> Iterator[Refusal]:
    if component.deploymentStrategy is not None:
        yield Refusal(
            "customizing deploymentStrategy is only supported for raw deployment mode",
            f"{path}.deploymentStrategy",
            f"remove it, or set the annotation {MODE_ANNOTATION} to Standard",
        )
    metric, target = component.scaleMetric or "concurrency", component.scaleTarget
    yield from _supported(metric, _KPA_METRICS, path)
    if metric == "rps" and target is not None and target < 1:
        text = "the target for rps should be greater than 1"
        yield Refusal(text, f"{path}.scaleTarget", "write 1 or more")


def _supported(metric: str, known: tuple[str, ...], path: str) -> Iterator[Refusal]:
    if metric not in known:
        text = f"[{metric}] is not a supported metric"
        yield Refusal(text, f"{path}.scaleMetric", f"write one of {', '.join(known)}")
