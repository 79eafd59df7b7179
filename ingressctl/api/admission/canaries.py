"""Rules of spec.canary, in the order of spec/kserve-ingress.md 19."""

from __future__ import annotations

from collections.abc import Iterator

from ingressctl.api.admission import containers, forms, names
from ingressctl.api.admission.refusals import Differs, Refusal
from ingressctl.api.inferenceservices import MODE_ANNOTATION
from ingressctl.api.models.inferenceservices import Canary, InferenceService, Predictor

_FIXED = ("maxReplicas", "scaleTarget", "scaleMetric", "autoScaling")


def refusals(service: InferenceService, *, differs: Differs) -> Iterator[Refusal]:
    """Faults of all canaries; those of the whole list are last."""
    canaries = service.spec.canary or []
    if not canaries:
        return
    yield from _mode(service)
    yield from _stable(service.spec.predictor)
    seen: set[str] = set()
    for place, canary in enumerate(canaries):
        yield from _canary(canary, f"spec.canary[{place}]", service.spec.predictor, seen, differs)
        seen.add(canary.predictor.name or "")
    yield from _sum(canaries)


def _mode(service: InferenceService) -> Iterator[Refusal]:
    if (service.metadata.annotations or {}).get(MODE_ANNOTATION) != "Standard":
        yield Refusal(
            "canary is only supported in Standard deployment mode",
            "spec.canary",
            f"set the annotation {MODE_ANNOTATION} to Standard, or use canaryTrafficPercent",
        )


def _stable(stable: Predictor) -> Iterator[Refusal]:
    if forms.model_of(stable) is None:
        yield Refusal(
            "canary requires a stable predictor with a model "
            "(multi-model serving is not supported with canary)",
            "spec.predictor",
            "write the stable predictor as model",
        )


def _canary(
    canary: Canary, path: str, stable: Predictor, seen: set[str], differs: Differs
) -> Iterator[Refusal]:
    predictor = canary.predictor
    yield from _name(predictor.name or "", path, stable, seen)
    if differs("F52"):
        yield from names.of_predictor(predictor, f"{path}.predictor")
    if not 0 <= canary.trafficPercent <= 100:
        yield Refusal(
            f"{path}: trafficPercent must be between 0 and 100, it is {canary.trafficPercent}",
            f"{path}.trafficPercent",
            "write a whole number from 0 to 100",
        )
    if forms.implementations(predictor) != 1:
        yield Refusal(
            f"{path}: {forms.exactly_one_text('predictor')}",
            f"{path}.predictor",
            "write one implementation",
        )
    if differs("R9"):
        yield from containers.no_serving_container(predictor, f"{path}.predictor")
    yield from _scaling(predictor, f"{path}.predictor", stable)


def _name(name: str, path: str, stable: Predictor, seen: set[str]) -> Iterator[Refusal]:
    where = f"{path}.predictor.name"
    if not name:
        yield Refusal(f"{path}: predictor.name is required", where, "give the canary a name")
        return
    if name in seen:
        text = f'{path}: predictor.name "{name}" is duplicated'
        yield Refusal(text, where, "give each canary its own name")
    if name == stable.name:
        text = f'{path}: predictor.name "{name}" conflicts with stable predictor.name'
        yield Refusal(text, where, "give the canary another name than the stable predictor")


def _scaling(predictor: Predictor, path: str, stable: Predictor) -> Iterator[Refusal]:
    """A canary has fixed replicas, and no more than the stable predictor."""
    if predictor.workerSpec is not None:
        yield Refusal(f"{path}: canary must not set workerSpec", f"{path}.workerSpec", "remove it")
    for field in _FIXED:
        if getattr(predictor, field) not in (None, 0):
            yield Refusal(
                f"{path}: canary must not set {field}",
                f"{path}.{field}",
                "remove it: a canary has fixed replicas",
            )
    most = 1 if stable.minReplicas is None else stable.minReplicas
    if predictor.minReplicas is not None and predictor.minReplicas > most:
        yield Refusal(
            f"{path}: canary minReplicas ({predictor.minReplicas}) must not exceed stable "
            f"minReplicas ({most})",
            f"{path}.minReplicas",
            f"write {most} or less, or raise spec.predictor.minReplicas",
        )


def _sum(canaries: list[Canary]) -> Iterator[Refusal]:
    total = sum(canary.trafficPercent for canary in canaries)
    if total > 100:
        yield Refusal(
            f"sum of canary trafficPercent values ({total}) must be <= 100",
            "spec.canary",
            "lower the percentages: the stable predictor gets what is left of 100",
        )
