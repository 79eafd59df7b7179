"""Rules about several containers in one pod."""

from __future__ import annotations

from collections.abc import Iterator

from ingressctl.api.admission import forms
from ingressctl.api.admission.refusals import Refusal
from ingressctl.api.models.inferenceservices import Predictor


def storage_of_transformer(predictor: Predictor) -> Iterator[Refusal]:
    """A transformer in the predictor's pod has no model of its own."""
    for place, container in enumerate(predictor.containers or []):
        if container.name != forms.TRANSFORMER_CONTAINER:
            continue
        if any(variable.name == "STORAGE_URI" for variable in container.env or []):
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
