"""InferenceService v1beta1: every field that a rule of routing or admission reads.

The msgspec view of `api/inferenceservices.py` reads the same fields on the way to routes;
a test holds both to one list. The schema is as strict as KServe's, save that no name is
demanded of a model in a canary (spec/kserve-observed.md 1).
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ingressctl.api.models.pods import (
    Container,
    Int32,
    Int64,
    Object,
    Open,
    Pod,
    Strict,
    Texts,
    WorkerSpec,
)

ScaleMetric = Literal["cpu", "memory", "concurrency", "rps"]


class Framework(Container):
    """A framework key such as `sklearn`: a container with a model in it."""

    storageUri: str | None = None
    storage: Object | None = None
    runtimeVersion: str | None = None
    protocolVersion: str | None = None


class ModelFormat(Strict):
    """Name and version of a model's format."""

    name: str
    version: str | None = None


class Model(Framework):
    """`model`: any format, and optionally the runtime that serves it."""

    modelFormat: ModelFormat
    runtime: str | None = None


class Logger(Open):
    """Where requests and answers are logged."""

    mode: str | None = None


class StorageUri(Strict):
    """One of several models, and where it is mounted."""

    uri: str
    mountPath: str = "/mnt/models"


class Component(Pod):
    """What predictor, transformer and explainer have in common."""

    minReplicas: Int32 | None = None
    maxReplicas: Int32 | None = None
    scaleTarget: Int32 | None = None
    scaleMetric: ScaleMetric | None = None
    autoScaling: Object | None = None
    containerConcurrency: Int64 | None = None
    timeout: Int64 | None = None
    canaryTrafficPercent: Int64 | None = None
    labels: Texts | None = None
    annotations: Texts | None = None
    logger: Logger | None = None
    batcher: Object | None = None
    deploymentStrategy: Object | None = None
    storageUris: list[StorageUri] | None = None


class Predictor(Component):
    """The predictor, or that of a canary. Exactly one implementation must be in it."""

    name: str | None = None
    sklearn: Framework | None = None
    tensorflow: Framework | None = None
    xgboost: Framework | None = None
    pytorch: Framework | None = None
    triton: Framework | None = None
    onnx: Framework | None = None
    huggingface: Framework | None = None
    pmml: Framework | None = None
    lightgbm: Framework | None = None
    paddle: Framework | None = None
    model: Model | None = None
    workerSpec: WorkerSpec | None = None


class Transformer(Component):
    """Pre- and post-processing in its own pods."""


class Explainer(Component):
    """The explainer: `art`, or containers."""

    art: Framework | None = None


class Canary(Strict):
    """A canary of the predictor in Standard mode."""

    trafficPercent: int = Field(json_schema_extra={"minimum": 0, "maximum": 100})
    predictor: Predictor


class Spec(Strict):
    """The components of a service."""

    predictor: Predictor
    transformer: Transformer | None = None
    explainer: Explainer | None = None
    canary: list[Canary] | None = None


class Metadata(Open):
    """The metadata that rules read."""

    name: str = ""
    namespace: str | None = None
    uid: str | None = None
    generation: int | None = None
    labels: Texts | None = None
    annotations: Texts | None = None
    deletionTimestamp: Any = None


class Status(Open):
    """Of the status admission reads the mode alone."""

    deploymentMode: str | None = None


class InferenceService(Strict):
    """A whole InferenceService."""

    metadata: Metadata
    spec: Spec
    status: Status | None = None
