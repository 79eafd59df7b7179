"""Containers and pods as far as admission and routing read them; all else stays open.

The models are strict: a number is not a text. A field that they do not name is kept and
not looked at. `null` counts as absent, as it does for the API server.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from ingressctl.api import integers

OPEN: dict[str, Any] = {"x-kubernetes-preserve-unknown-fields": True}
"""What a schema says of an object whose further fields are not ours to know."""

Object = Annotated[dict[str, Any], Field(json_schema_extra=OPEN)]
Texts = dict[str, str]


def _fits(bits: int) -> AfterValidator:
    def check(value: int) -> int:
        if fault := integers.fault(value, bits):
            raise ValueError(fault)
        return value

    return AfterValidator(check)


Int32 = Annotated[int, BeforeValidator(integers.whole), _fits(32)]
Int64 = Annotated[int, BeforeValidator(integers.whole), _fits(64)]


class Strict(BaseModel):
    """Base of all models: exact types, unknown fields ignored, never changed."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class Open(Strict):
    """Base of objects that hold more fields than the model names."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, json_schema_extra=OPEN)


class EnvVar(Open):
    """An environment variable."""

    name: str = ""
    value: str | None = None


class ContainerPort(Open):
    """A port of a container; its name decides on gRPC (spec/kserve-runtimes.md 8)."""

    name: str | None = None
    containerPort: Int32
    protocol: str = "TCP"


class Resources(Open):
    """Requests and limits. Quantities may be written as numbers."""

    requests: Object | None = None
    limits: Object | None = None


class Container(Open):
    """A container. Neither name nor resources need be written."""

    name: str | None = None
    image: str | None = None
    args: list[str] | None = None
    command: list[str] | None = None
    env: list[EnvVar] | None = None
    ports: list[ContainerPort] | None = None
    resources: Resources | None = None


class Pod(Open):
    """The pod fields of a component or runtime."""

    containers: list[Container] | None = None
    initContainers: list[Container] | None = None
    automountServiceAccountToken: bool | None = None


class WorkerSpec(Pod):
    """The workers of a multi-node predictor."""

    pipelineParallelSize: Int64 | None = None
    tensorParallelSize: Int64 | None = None
