"""ServingRuntime and ClusterServingRuntime v1alpha1, as far as selection reads them."""

from __future__ import annotations

from pydantic import Field

from ingressctl.api.models.inferenceservices import Metadata
from ingressctl.api.models.pods import Pod, Strict, Texts, WorkerSpec


class SupportedModelFormat(Strict):
    """A format that the runtime serves (spec/kserve-runtimes.md 5)."""

    name: str
    version: str | None = None
    autoSelect: bool | None = None
    priority: int | None = Field(default=None, ge=1)


class Spec(Pod):
    """The runtime."""

    supportedModelFormats: list[SupportedModelFormat] | None = None
    multiModel: bool | None = None
    disabled: bool | None = None
    protocolVersions: list[str] | None = None
    workerSpec: WorkerSpec | None = None
    labels: Texts | None = None
    annotations: Texts | None = None


class ServingRuntime(Strict):
    """A whole ServingRuntime or ClusterServingRuntime."""

    metadata: Metadata
    spec: Spec
