"""What a runtime's server type does to the model and to labels (spec/kserve-runtimes.md 6).

The labels reach every route of the service although the stored service lacks them
(spec/kserve-observed.md 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingressctl.core.values import Value
from ingressctl.sources.kserve.components.runtimes import Runtime
from ingressctl.sources.kserve.components.shipped import SERVER_TYPE_ANNOTATION

BY_NAME = {
    "kserve-mlserver": "mlserver",
    "kserve-torchserve": "torchserve",
    "kserve-tritonserver": "tritonserver",
    "kserve-tensorflow-serving": "tensorflow-serving",
    "kserve-huggingfaceserver": "huggingfaceserver",
    "kserve-vllmserver": "vllmserver",
}
DEFAULT_PROTOCOL = {"mlserver": "v2", "torchserve": "v1", "tritonserver": "v2"}
MODEL_CLASS = {
    "xgboost": "mlserver_xgboost.XGBoostModel",
    "lightgbm": "mlserver_lightgbm.LightGBMModel",
    "mlflow": "mlserver_mlflow.MLflowRuntime",
}
DEFAULT_MODEL_CLASS = "mlserver_sklearn.SKLearnModel"
MODEL_PATH = "/mnt/models"

Model = Mapping[str, Any]


class Effects(Value, frozen=True):
    """The model as the server type wants it, its protocol, and the label of routes."""

    model: Model
    protocol: str
    labels: Mapping[str, str]


def server_type(runtime: Runtime) -> str:
    """By the annotation in the runtime's metadata, else by its name; "" if unknown."""
    annotated = runtime.annotations.get(SERVER_TYPE_ANNOTATION)
    return BY_NAME.get(runtime.ref.name, "") if annotated is None else annotated


def effects(model: Model, runtime: Runtime, *, service: str, container: bool = True) -> Effects:
    """What the runtime's server type does to `model`.

    `container` False leaves environment and arguments as they are: they have been set
    before (R11).
    """
    kind = server_type(runtime)
    protocol = model.get("protocolVersion")
    if protocol is None:
        protocol = DEFAULT_PROTOCOL.get(kind) or runtime.lowest_protocol
    make = _MODELS.get(kind)
    changed = make(model, protocol, service) if make and container else model
    return Effects(changed, protocol, _labels(kind, _format(model), protocol))


def has_storage(model: Model) -> bool:
    """Whether the model says where it lies."""
    return model.get("storageUri") is not None or model.get("storage") is not None


def _format(model: Model) -> str:
    return str((model.get("modelFormat") or {}).get("name") or "")


def _mlserver(model: Model, protocol: str, service: str) -> Model:
    wanted = {"MLSERVER_LOAD_MODELS_AT_STARTUP": "false"}
    if has_storage(model):
        wanted = {"MLSERVER_MODEL_NAME": service, "MLSERVER_MODEL_URI": MODEL_PATH}
    env = list(model.get("env") or ())
    own = {entry.get("name") for entry in env}
    env += [{"name": key, "value": text} for key, text in wanted.items() if key not in own]
    return {**model, "env": env}


def _torchserve(model: Model, protocol: str, service: str) -> Model:
    added = {"name": "PROTOCOL_VERSION", "value": protocol}
    return {**model, "env": [*(model.get("env") or ()), added]}


def _tritonserver(model: Model, protocol: str, service: str) -> Model:
    if has_storage(model):
        return model
    return {**model, "args": [*(model.get("args") or ()), "--model-control-mode=explicit"]}


_MODELS = {"mlserver": _mlserver, "torchserve": _torchserve, "tritonserver": _tritonserver}


def _labels(kind: str, model_format: str, protocol: str) -> Mapping[str, str]:
    if kind == "mlserver":
        return {"modelClass": MODEL_CLASS.get(model_format, DEFAULT_MODEL_CLASS)}
    if kind == "torchserve":
        envelope = "kservev2" if protocol in ("v2", "grpc-v2") else "kserve"
        return {"serviceEnvelope": envelope}
    return {}
