"""Rules about the containers of a pod: who serves, and what no container may set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ingressctl.api.admission import forms, storage
from ingressctl.api.admission.refusals import Refusal
from ingressctl.api.models.inferenceservices import (
    Component,
    Explainer,
    InferenceService,
    Predictor,
)
from ingressctl.api.models.pods import Container, Pod

BLOCKED = "PYTHONPATH"
"""The variable that nobody may set: it decides on the code that runs."""


def storage_of_transformer(predictor: Predictor) -> Iterator[Refusal]:
    """A transformer in the predictor's pod has no model of its own."""
    for place, container in enumerate(predictor.containers or []):
        if container.name != forms.TRANSFORMER_CONTAINER:
            continue
        if any(variable.name == storage.STORAGE_VARIABLE for variable in container.env or []):
            yield Refusal(
                "storage uri should not be specified in transformer container",
                f"spec.predictor.containers[{place}].env",
                "remove STORAGE_URI",
            )
        return


def no_serving_container(predictor: Predictor, path: str) -> Iterator[Refusal]:
    """R9: several custom containers of which none serves; KServe panics in every pass."""
    containers = predictor.containers or []
    custom = forms.model_of(predictor) is None
    named = [container.name for container in containers]
    if custom and len(named) > 1 and named[0] and forms.KSERVE_CONTAINER not in named:
        yield Refusal(
            f"{path} has {len(named)} containers, none of which is named "
            f"{forms.KSERVE_CONTAINER}: it is not known which one serves the model",
            f"{path}.containers",
            f"name the serving container {forms.KSERVE_CONTAINER}",
            "R9",
        )


def blocked_variables(service: InferenceService) -> Iterator[Refusal]:
    """No container of a component sets a blocked variable."""
    prefix = f'the InferenceService "{service.metadata.name}" is invalid: '
    for name, component in forms.components(service):
        yield from blocked_in_pod(component, prefix, f"spec.{name}")
        for key, model in _models(component):
            yield from _blocked([model], prefix, (f"spec.{name}.{key}",))
        if isinstance(component, Predictor) and component.workerSpec is not None:
            yield from blocked_in_pod(component.workerSpec, prefix, f"spec.{name}.workerSpec")


def blocked_in_pod(pod: Pod, prefix: str, path: str) -> Iterator[Refusal]:
    """Blocked variables in the containers of one pod."""
    for field, containers in (
        ("containers", pod.containers or []),
        ("initContainers", pod.initContainers or []),
    ):
        paths = tuple(f"{path}.{field}[{place}]" for place in range(len(containers)))
        yield from _blocked(containers, prefix, paths)


def _models(component: Component) -> Iterator[tuple[str, Container]]:
    if isinstance(component, Predictor):
        yield from forms.frameworks(component)
        if component.model is not None:
            yield "model", component.model
    elif isinstance(component, Explainer) and component.art is not None:
        yield "art", component.art


def _blocked(
    containers: Sequence[Container], prefix: str, paths: Sequence[str]
) -> Iterator[Refusal]:
    for container, path in zip(containers, paths, strict=True):
        if any(variable.name == BLOCKED for variable in container.env or ()):
            yield Refusal(
                f'{prefix}setting {BLOCKED} in container "{container.name or ""}" is not allowed '
                "for security reasons",
                f"{path}.env",
                f"remove {BLOCKED}",
            )
