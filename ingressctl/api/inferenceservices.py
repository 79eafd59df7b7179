"""InferenceService v1beta1 as the reconcile reads it: a typed view over the raw object.

Only fields that a rule needs are named; the raw object stays beside them, so nothing is
lost. A field of the wrong type is one `ViewFault` with its path. The full model for
admission is in `models/inferenceservices.py`; a test holds both to one list of fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ingressctl.api.integers import Long, Short
from ingressctl.api.refs import Owner, Raw, Ref, owner_of, ref_of

GROUP = "serving.kserve.io"
KIND = (GROUP, "InferenceService")

MODE_ANNOTATION = "serving.kserve.io/deploymentMode"
STOP_ANNOTATION = "serving.kserve.io/stop"
TAG_ANNOTATION = "serving.kserve.io/enable-tag-routing"
GATEWAYS_ANNOTATION = "serving.kserve.io/ingress-gateways"
TLS_ANNOTATION = "serving.kserve.io/ingress-tls-secret"
KNATIVE_VISIBILITY = "networking.knative.dev/visibility"
KSERVE_VISIBILITY = "networking.kserve.io/visibility"
RETIRED_VISIBILITY = "serving.knative.dev/visibility"
"""Knative's key of former times: nobody reads it any more."""
CLUSTER_LOCAL = "cluster-local"

FRAMEWORKS = (
    "sklearn",
    "tensorflow",
    "xgboost",
    "pytorch",
    "triton",
    "onnx",
    "huggingface",
    "pmml",
    "lightgbm",
    "paddle",
)
"""Framework keys in the order in which admission rewrites them."""


class ViewFault(ValueError):
    """The object has a field of a wrong type. `path` is like ``spec.predictor.timeout``."""

    def __init__(self, ref: Ref, path: str, text: str) -> None:
        super().__init__(f"{ref}: {path}: {text}")
        self.ref = ref
        self.path = path
        self.text = text


class Component(msgspec.Struct, frozen=True, gc=False):
    """What routing reads of a predictor, transformer or explainer."""

    name: str | None = None
    timeout: Long | None = None
    minReplicas: Short | None = None
    maxReplicas: Short | None = None
    scaleTarget: Short | None = None
    scaleMetric: str | None = None
    containerConcurrency: Long | None = None
    canaryTrafficPercent: Long | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    model: dict[str, Any] | None = None
    containers: list[dict[str, Any]] | None = None
    workerSpec: dict[str, Any] | None = None
    logger: dict[str, Any] | None = None
    batcher: dict[str, Any] | None = None


class Canary(msgspec.Struct, frozen=True, gc=False):
    """One entry of spec.canary."""

    trafficPercent: Long = 0
    predictor: Component = Component()


class Spec(msgspec.Struct, frozen=True, gc=False):
    """The components; a transformer or explainer that is there may be empty."""

    predictor: Component = Component()
    transformer: Component | None = None
    explainer: Component | None = None
    canary: list[Canary] | None = None


class Metadata(msgspec.Struct, frozen=True, gc=False):
    """Own metadata, unfiltered."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    generation: int = 0
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    deletionTimestamp: Any = None


class _Document(msgspec.Struct, frozen=True, gc=False):
    metadata: Metadata
    spec: Spec = Spec()


class InferenceService:
    """The view: typed spec and metadata, raw status, raw object.

    `owner` is the service as the owner of what is made from it, `components` are those in
    spec, the predictor first, `status` is the stored one, empty if there is none.
    """

    __slots__ = (
        "annotations",
        "components",
        "labels",
        "meta",
        "name",
        "namespace",
        "owner",
        "raw",
        "ref",
        "spec",
        "status",
    )

    def __init__(self, raw: Raw) -> None:
        self.raw = raw
        self.ref = ref_of(raw)
        try:
            document = msgspec.convert(raw, _Document)
        except msgspec.ValidationError as error:
            text, _, path = str(error).partition(" - at `$.")
            raise ViewFault(self.ref, path.rstrip("`") or "metadata", text) from None
        self.meta = document.metadata
        self.spec = document.spec
        self.name = self.meta.name
        self.namespace = self.meta.namespace
        self.labels: Mapping[str, str] = self.meta.labels or {}
        self.annotations: Mapping[str, str] = self.meta.annotations or {}
        self.owner: Owner = owner_of(raw)
        self.status: Mapping[str, Any] = _readable(raw.get("status"))
        self.components: tuple[tuple[str, Component], ...] = _components(self.spec)

    def without_annotation(self, key: str) -> InferenceService:
        """The service as if it did not have that annotation of its own."""
        meta = self.raw["metadata"]
        annotations = {name: text for name, text in self.annotations.items() if name != key}
        return InferenceService({**self.raw, "metadata": {**meta, "annotations": annotations}})

    @property
    def stopped(self) -> bool:
        """The stop annotation, compared without regard to case (kserve-ingress.md 16)."""
        return self.annotations.get(STOP_ANNOTATION, "").lower() == "true"

    @property
    def canaries(self) -> tuple[Canary, ...]:
        """spec.canary in order."""
        return tuple(self.spec.canary or ())

    @property
    def entry(self) -> str:
        """The component that requests reach first."""
        return "predictor" if self.spec.transformer is None else "transformer"

    def object_name(self, component: str) -> str:
        """Name of the component's Service, Deployment or Knative Service."""
        if component == "predictor" and self.spec.predictor.name:
            return f"{self.name}-{self.spec.predictor.name}-predictor"
        return f"{self.name}-{component}"

    def canary_name(self, canary: Canary) -> str:
        """Name of a canary's Service and Deployment."""
        return f"{self.name}-{canary.predictor.name}-predictor"


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


_SHAPES: Mapping[str, Callable[[Any], bool]] = {
    "conditions": lambda value: isinstance(value, list) and all(map(_is_mapping, value)),
    "components": lambda value: _is_mapping(value) and all(map(_is_mapping, value.values())),
    "address": _is_mapping,
    "url": lambda value: isinstance(value, str),
}
"""What rules take for granted of a status that some API servers keep as it is sent."""


def _readable(status: Any) -> Mapping[str, Any]:
    """The status without what is of another shape: it is made anew from what is observed."""
    if not isinstance(status, Mapping):
        return {}
    wrong = {key for key, fits in _SHAPES.items() if key in status and not fits(status[key])}
    return {key: value for key, value in status.items() if key not in wrong} if wrong else status


def _components(spec: Spec) -> tuple[tuple[str, Component], ...]:
    """The components in spec: predictor, transformer, explainer."""
    present = [("predictor", spec.predictor)]
    if spec.transformer is not None:
        present.append(("transformer", spec.transformer))
    if spec.explainer is not None:
        present.append(("explainer", spec.explainer))
    return tuple(present)
