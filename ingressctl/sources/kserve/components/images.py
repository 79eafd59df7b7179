"""The tag of a model server's image (spec/kserve-workloads.md 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingressctl.api.refs import Raw

GPU_SUFFIXED = frozenset({"tensorflow-serving", "torchserve", "huggingfaceserver"})
ACCELERATOR = "nvidia.com/gpu"


def tagged(container: Raw, *, version: str, server_type: str, own: bool) -> Raw:
    """The container with the image that KServe runs.

    `version` is the model's runtimeVersion; `own` says that the service set the image
    itself and no suffix is to be added (W8).
    """
    image = str(container.get("image") or "")
    if not image or "@sha256:" in image:
        return container
    name, tag = _split(image)
    if version:
        return {**container, "image": f"{name}:{version}"}
    if not tag or own:
        return container
    return {**container, "image": _suffixed(name, tag, server_type, container)}


def _split(image: str) -> tuple[str, str]:
    """Name and tag; a colon before the last slash belongs to the registry's port."""
    head, colon, tag = image.rpartition(":")
    return (image, "") if not colon or "/" in tag else (head, tag)


def _suffixed(name: str, tag: str, server_type: str, container: Raw) -> str:
    accelerated = _has_accelerator(container.get("resources") or {})
    if server_type in GPU_SUFFIXED and accelerated:
        return f"{name}:{tag}-gpu"
    if server_type == "vllmserver" and not accelerated:
        return f"{name}-cpu:{tag}"
    return f"{name}:{tag}"


def _has_accelerator(resources: Mapping[str, Any]) -> bool:
    return any(ACCELERATOR in (resources.get(kind) or {}) for kind in ("limits", "requests"))
