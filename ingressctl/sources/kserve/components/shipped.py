"""The runtimes that KServe installs by default, as far as selection and routing see them.

Assumed for files that hold no ClusterServingRuntime, so that one InferenceService alone
can be rendered. None has ports; images are left out, because they are the
installation's (spec/kserve-runtimes.md 15).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from ingressctl.api.refs import Raw

SERVER_TYPE_ANNOTATION = "serving.kserve.io/server-type"


class _Row(NamedTuple):
    """`formats` are ``name:version,version@priority`` texts; ``!`` before one: no autoSelect."""

    server_type: str
    formats: tuple[str, ...]
    protocols: tuple[str, ...] = ("v1", "v2")
    name: str = ""
    workers: bool = False


_ROWS = (
    _Row("autogluonserver", ("autogluon:1@1",)),
    _Row(
        "huggingfaceserver",
        ("huggingface:1@2",),
        ("v2", "v1"),
        name="huggingfaceserver-multinode",
        workers=True,
    ),
    _Row("huggingfaceserver", ("huggingface:1@1",), ("v2", "v1")),
    _Row("lgbserver", ("lightgbm:4@1",)),
    _Row(
        "mlserver",
        ("sklearn:0,1@2", "xgboost:1,2@2", "lightgbm:3,4@2", "mlflow:1,2@1"),
        ("v2",),
    ),
    _Row("paddleserver", ("paddle:2@1",)),
    _Row("pmmlserver", ("pmml:3,4@1",)),
    _Row("predictiveserver", ("!sklearn:1@3", "!xgboost:2@3", "!lightgbm:4@3")),
    _Row("sklearnserver", ("sklearn:1@1",)),
    _Row("tensorflow-serving", ("tensorflow:1,2@2",), ("v1", "grpc-v1")),
    _Row("torchserve", ("pytorch:1@2",), ("v1", "v2", "grpc-v2")),
    _Row(
        "tritonserver",
        (
            "tensorrt:8@1",
            "tensorflow:1,2@1",
            "onnx:1@1",
            "!pytorch:1@",
            "triton:2@1",
        ),
        ("v2", "grpc-v2"),
    ),
    _Row("vllmserver", ("vLLM:1@1",), ()),
    _Row("xgbserver", ("xgboost:2@1",)),
)


@cache
def runtimes() -> tuple[Raw, ...]:
    """The ClusterServingRuntimes as objects."""
    return tuple(map(_object, _ROWS))


def _object(row: _Row) -> Raw:
    spec: dict[str, Any] = {
        "supportedModelFormats": [entry for text in row.formats for entry in _formats(text)],
        "protocolVersions": list(row.protocols),
        "containers": [{"name": "kserve-container"}],
    }
    if row.workers:
        spec["workerSpec"] = {
            "pipelineParallelSize": 1,
            "tensorParallelSize": 1,
            "containers": [{"name": "worker-container"}],
        }
    return {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "ClusterServingRuntime",
        "metadata": {
            "name": f"kserve-{row.name or row.server_type}",
            "annotations": {SERVER_TYPE_ANNOTATION: row.server_type},
        },
        "spec": spec,
    }


def _formats(text: str) -> Iterable[dict[str, Any]]:
    name, _, rest = text.removeprefix("!").partition(":")
    versions, _, priority = rest.partition("@")
    for version in versions.split(","):
        entry: dict[str, Any] = {"name": name, "version": version}
        entry["autoSelect"] = not text.startswith("!")
        if priority:
            entry["priority"] = int(priority)
        yield entry
