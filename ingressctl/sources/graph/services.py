"""Where an InferenceService is called: its address, and the path of its protocol.

The rules are spec/inferencegraph.md 5. The reference asks a named runtime first, whatever the
service says; with IG-R8 the service's own protocol holds where the runtime has it, what is
not HTTP is refused, and a step may choose the path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ingressctl.api import inferenceservices, shapes
from ingressctl.api.inferenceservices import FRAMEWORKS
from ingressctl.api.refs import Raw, Ref
from ingressctl.core.kserve import models
from ingressctl.core.world import Reads

RUNTIMES = ("serving.kserve.io", "ServingRuntime")
CLUSTER_RUNTIMES = ("serving.kserve.io", "ClusterServingRuntime")
COLLOCATED = "transformer-container"
_V2_KEYS = ("triton", "huggingface")
_NAME_FLAG = "--model_name"


class TargetFault(Exception):
    """Why a target cannot be called. It `waits` where the target may still become callable."""

    def __init__(self, reason: str, text: str, *, waits: bool) -> None:
        super().__init__(text)
        self.reason = reason
        self.waits = waits


def url(namespace: str, name: str, path: str, reads: Reads) -> str:
    """The URL of a service; `path` is the step's own, or "". Raises TargetFault."""
    obj = reads.get(Ref(*inferenceservices.KIND, namespace, name))
    if obj is None:
        text = f'inferenceservices.serving.kserve.io "{name}" not found in namespace {namespace}'
        raise TargetFault("ServiceNotFound", text, waits=True)
    fault = shapes.fault(obj)
    if fault is not None:
        text = f"service {name} cannot be read: {fault.path}: {fault.text}"
        raise TargetFault("ServiceUnreadable", text, waits=True)
    address = ((obj.get("status") or {}).get("address") or {}).get("url")
    if not address:
        text = f"service {name} is not ready: it has no address yet"
        raise TargetFault("ServiceNotReady", text, waits=True)
    return f"{str(address).rstrip('/')}{path or _path(obj, reads)}"


def _path(obj: Raw, reads: Reads) -> str:
    spec = obj.get("spec") or {}
    transformer, predictor = spec.get("transformer"), spec.get("predictor") or {}
    if transformer:
        return _path_of(models.variable(transformer, "PROTOCOL") or "v1", obj)
    if models.is_multi_model(predictor):
        return ""
    protocol = _protocol(obj, predictor, reads)
    if protocol.startswith("grpc") and reads.differs("IG-R8"):
        name = obj["metadata"]["name"]
        text = f"service {name} speaks {protocol}: a graph calls its steps by HTTP alone"
        raise TargetFault("ProtocolNotSupported", text, waits=False)
    return _path_of(protocol, obj)


def _path_of(protocol: str, obj: Raw) -> str:
    if protocol == "v1":
        return f"/v1/models/{_model_name(obj)}:predict"
    return f"/v2/models/{_model_name(obj)}/infer" if protocol == "v2" else ""


def _protocol(obj: Raw, predictor: Raw, reads: Reads) -> str:
    key, model = _model(predictor)
    if model is None:
        return _custom_protocol(predictor)
    given = str(model.get("protocolVersion") or "")
    runtime = model.get("runtime")
    if runtime:
        supported = _supported(str(runtime), obj["metadata"].get("namespace") or "", reads)
        if given and given in supported and reads.differs("IG-R8"):
            return given
        if supported:
            return _first_http(supported, str(runtime))
    return given or ("v2" if key in _V2_KEYS else "v1")


def _supported(name: str, namespace: str, reads: Reads) -> tuple[str, ...]:
    found = reads.get(Ref(*RUNTIMES, namespace, name))
    if found is None:
        found = reads.get(Ref(*CLUSTER_RUNTIMES, "", name))
    if found is None:
        text = f"No ServingRuntimes or ClusterServingRuntimes with the name: {name}"
        raise TargetFault("RuntimeNotFound", text, waits=True)
    return tuple((found.get("spec") or {}).get("protocolVersions") or ())


def _first_http(supported: Iterable[str], runtime: str) -> str:
    for protocol in supported:
        if protocol in ("v1", "v2"):
            return protocol
    text = f"the runtime {runtime} does not support a protocol compatible with Inference Graphs"
    raise TargetFault("ProtocolNotSupported", text, waits=False)


def _model(predictor: Raw) -> tuple[str, Mapping[str, Any] | None]:
    """`model`, or the framework key that admission has not rewritten yet."""
    for key in ("model", *FRAMEWORKS):
        model = predictor.get(key)
        if isinstance(model, Mapping):
            return key, model
    return "", None


def _custom_protocol(predictor: Raw) -> str:
    containers = predictor.get("containers") or ()
    collocated = [item for item in containers if item.get("name") == COLLOCATED]
    asked = {"containers": collocated or containers}
    return models.variable(asked, "PROTOCOL") or "v1"


def _model_name(obj: Raw) -> str:
    """The argument of the transformer, then what the model says, then the service's name."""
    spec = obj.get("spec") or {}
    predictor = spec.get("predictor") or {}
    transformer = (spec.get("transformer") or {}).get("containers") or ()
    _, model = _model(predictor)
    asked = model or next(iter(predictor.get("containers") or ()), {})
    return (
        _argument(next(iter(transformer), {}))
        or _environment(model or {})
        or _argument(asked)
        or str(obj["metadata"]["name"])
    )


def _environment(model: Mapping[str, Any]) -> str:
    return models.variable({"containers": [model]}, "MLSERVER_MODEL_NAME") or ""


def _argument(container: Mapping[str, Any]) -> str:
    """The last `--model_name`, with its value behind `=` or as the next argument."""
    found = ""
    args = [str(item) for item in container.get("args") or ()]
    for place, item in enumerate(args):
        if item.startswith(f"{_NAME_FLAG}="):
            found = item.removeprefix(f"{_NAME_FLAG}=")
        elif item == _NAME_FLAG and place + 1 < len(args):
            found = args[place + 1]
    return found
