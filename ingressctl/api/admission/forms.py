"""Which implementations a component has, and what they are called in KServe's texts.

Exactly one must remain after defaulting (spec/kserve-runtimes.md 2).
"""

from __future__ import annotations

from typing import Final

from ingressctl.api.inferenceservices import FRAMEWORKS
from ingressctl.api.models.inferenceservices import (
    Component,
    Explainer,
    Framework,
    InferenceService,
    Predictor,
)

KSERVE_CONTAINER: Final = "kserve-container"
TRANSFORMER_CONTAINER: Final = "transformer-container"

_PREDICTOR = (
    "Name, SKLearn, XGBoost, Tensorflow, PyTorch, Triton, ONNX, HuggingFace, PMML, LightGBM, "
    "Paddle, Model, StorageUris, StorageContainerName, WorkerSpec, PodSpec"
)
_KINDS: dict[str, tuple[str, str]] = {
    "predictor": (_PREDICTOR, "PredictorSpec"),
    "transformer": ("StorageUris, StorageContainerName, PodSpec", "TransformerSpec"),
    "explainer": ("ART, StorageUris, StorageContainerName, PodSpec", "ExplainerSpec"),
}


def exactly_one_text(component: str) -> str:
    """KServe's text when a component has no or several implementations."""
    fields, kind = _KINDS[component]
    return f"exactly one of [{fields}] must be specified in {kind}"


def components(service: InferenceService) -> tuple[tuple[str, Component], ...]:
    """The components in spec by name: predictor, transformer, explainer."""
    spec = service.spec
    every = (
        ("predictor", spec.predictor),
        ("transformer", spec.transformer),
        ("explainer", spec.explainer),
    )
    return tuple((name, component) for name, component in every if component is not None)


def frameworks(predictor: Predictor) -> tuple[tuple[str, Framework], ...]:
    """The framework keys that are written, in the order in which admission rewrites them."""
    found = ((key, getattr(predictor, key)) for key in FRAMEWORKS)
    return tuple((key, framework) for key, framework in found if framework is not None)


def model_of(predictor: Predictor) -> Framework | None:
    """`model`, else the first framework key; None for a custom predictor."""
    if predictor.model is not None:
        return predictor.model
    return next((framework for _, framework in frameworks(predictor)), None)


def storage_uri(predictor: Predictor) -> str | None:
    """Where the model lies, if it is no custom predictor."""
    model = model_of(predictor)
    return None if model is None else model.storageUri


def implementations(component: Component) -> int:
    """How many implementations the component has.

    Containers count beside a model only if one of them is the `kserve-container`.
    """
    containers = component.containers or []
    if isinstance(component, Predictor):
        models = len(frameworks(component)) + (component.model is not None)
        customs = sum(container.name == KSERVE_CONTAINER for container in containers)
        return models + customs or min(len(containers), 1)
    art = isinstance(component, Explainer) and component.art is not None
    return int(art) + bool(containers)
