"""What a predictor's spec says of its model, where several kinds ask."""

from __future__ import annotations

from ingressctl.api.refs import Raw

SERVED_ALONE = frozenset({"huggingface"})
"""Formats whose server finds its model itself."""


def variable(raw: Raw, name: str) -> str | None:
    """A variable of a custom component's first container."""
    for container in tuple(raw.get("containers") or ())[:1]:
        for entry in container.get("env") or ():
            if entry.get("name") == name:
                return str(entry.get("value") or "")
    return None


def is_multi_model(raw: Raw) -> bool:
    """A predictor without any storage loads models that others give it (W23)."""
    model = raw.get("model")
    if model is None:
        return variable(raw, "MULTI_MODEL_SERVER") == "true"
    if raw.get("storageUris") or model.get("storageUri") is not None:
        return False
    name = (model.get("modelFormat") or {}).get("name")
    return model.get("storage") is None and name not in SERVED_ALONE
