"""Annotations that KServe adds to a component for its pod webhook.

spec/kserve-workloads.md 10 and 11: where the model lies, and what the agent does. Whether
a webhook acts on them is not our business; a changed one makes a new revision.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ingressctl.api.refs import Raw
from ingressctl.core.kserve import models

PREFIX = "internal.serving.kserve.io/"
MODEL_PATH = "/mnt/models"
CONFIG_PATH = "/mnt/configs"
Added = dict[str, str]


def of_component(service: str, component: str, raw: Raw) -> Added:
    """All that KServe adds to a component with this spec."""
    added = {**_storage(raw), **_logger(raw), **_batcher(raw)}
    if component == "predictor" and models.is_multi_model(raw):
        added |= {
            "agent": "true",
            "configMountPath": CONFIG_PATH,
            "configVolumeName": f"modelconfig-{service}-0",
            "modelDir": MODEL_PATH,
        }
    return {f"{PREFIX}{key}": text for key, text in added.items()}


def _source(raw: Raw) -> Mapping[str, Any]:
    """The part of a component that says where its model lies."""
    found: Mapping[str, Any] = raw.get("model") or raw.get("art") or {}
    return found


def _storage(raw: Raw) -> Added:
    source = _source(raw)
    added: Added = {}
    uri = source.get("storageUri")
    if uri is None:
        uri = models.variable(raw, "STORAGE_URI")
    storage = source.get("storage")
    if storage is not None:
        uri = f"<scheme-placeholder>://{storage.get('path') or ''}" if uri is None else uri
        added["storage-spec"] = "true"
        if storage.get("parameters"):
            parameters = json.dumps(storage["parameters"], separators=(",", ":"), sort_keys=True)
            added["storage-spec-param"] = parameters
        if storage.get("key"):
            added["storage-spec-key"] = str(storage["key"])
    if uri is not None:
        added["storage-initializer-sourceuri"] = str(uri)
    if raw.get("storageContainerName"):
        added["storage-container-name"] = str(raw["storageContainerName"])
    return added


def _logger(raw: Raw) -> Added:
    logger = raw.get("logger")
    if logger is None:
        return {}
    lists = {
        "logger-metadata-headers": logger.get("metadataHeaders"),
        "logger-metadata-annotations": logger.get("metadataAnnotations"),
    }
    added = {"logger": "true", "logger-mode": str(logger.get("mode") or "all")}
    if logger.get("url"):
        added["logger-sink-url"] = str(logger["url"])
    return added | {key: ",".join(names) for key, names in lists.items() if names}


def _batcher(raw: Raw) -> Added:
    batcher = raw.get("batcher")
    if batcher is None:
        return {}
    limits = {
        "batcher-max-batchsize": batcher.get("maxBatchSize"),
        "batcher-max-latency": batcher.get("maxLatency"),
    }
    return {"batcher": "true"} | {key: str(number) for key, number in limits.items() if number}
