"""Who wrote what of an object, as its managedFields tell.

Keys of labels and annotations merge: those that a controller of this field put there follow
the InferenceService, all others belong to somebody else (F31). A store keeps a digest of
managedFields only, which answers the same questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ingressctl.api.refs import Raw
from ingressctl.core import ownedfields

PREFIX = "ingressctl-"
"""Field managers of our controllers begin so (ux.md 8.6)."""

KSERVE = frozenset({"manager", "kserve-controller-manager"})
"""What KServe's own program calls itself: the name of its binary, or of its image."""

MERGED = ("labels", "annotations")


def manager_of(kind: str) -> str:
    """The field manager of the controller of a kind."""
    return f"{PREFIX}{kind.lower()}"


def own_keys(obj: Raw, field: str) -> frozenset[str]:
    """The keys of `labels` or `annotations` that a controller of this field put there."""
    found: set[str] = set()
    for entry in _entries(obj):
        if _is_ours(entry) or entry.get("manager") in KSERVE:
            fields = (entry.get("fieldsV1") or {}).get("f:metadata") or {}
            found.update(key[2:] for key in fields.get(f"f:{field}") or () if key != ".")
    return frozenset(found)


def owns_more(obj: Raw, wanted: Raw) -> bool:
    """Whether a controller of ours applied fields of the spec that are not wanted any longer."""
    spec = wanted.get("spec") or {}
    return any(
        ownedfields.exceed((entry.get("fieldsV1") or {}).get("f:spec") or {}, spec)
        for entry in _entries(obj)
        if _is_ours(entry)
        and entry.get("operation", "Apply") == "Apply"
        and not entry.get("subresource")
    )


def written_at(obj: Raw) -> datetime | None:
    """When one of our controllers changed the object last (to the second), status aside."""
    times = [
        str(entry.get("time"))
        for entry in _entries(obj)
        if _is_ours(entry) and entry.get("time") and not entry.get("subresource")
    ]
    return datetime.fromisoformat(max(times)) if times else None


def others(obj: Raw, subresource: str = "") -> tuple[str, ...]:
    """Managers of an object, or of its status, that are not ours, the latest first."""
    entries = [
        entry
        for entry in _entries(obj)
        if not _is_ours(entry) and (entry.get("subresource") or "") == subresource
    ]
    entries.sort(key=lambda entry: str(entry.get("time") or ""), reverse=True)
    return tuple(dict.fromkeys(str(entry.get("manager") or "") for entry in entries))


def digest(obj: Raw) -> Raw:
    """The object with as little of its managedFields as the questions above need."""
    meta = obj.get("metadata") or {}
    entries = meta.get("managedFields")
    if not entries:
        return obj
    kept = _WHOLE if obj.get("kind") in WORKLOADS else _PARTS
    short = [_short(entry, kept) for entry in entries]
    return {**obj, "metadata": {**meta, "managedFields": short}}


def _entries(obj: Raw) -> tuple[Mapping[str, Any], ...]:
    return tuple((obj.get("metadata") or {}).get("managedFields") or ())


def _is_ours(entry: Mapping[str, Any]) -> bool:
    return str(entry.get("manager") or "").startswith(PREFIX)


WORKLOADS = frozenset({"Deployment", "Service"})
"""Kinds whose specs are compared as a part of the stored one: their fields are kept as well."""

_PARTS = ("f:metadata",)
_WHOLE = ("f:metadata", "f:spec")


def _short(entry: Mapping[str, Any], kept: tuple[str, ...]) -> dict[str, Any]:
    short = {key: entry[key] for key in ("manager", "time", "subresource") if key in entry}
    fields = entry.get("fieldsV1")
    if fields and (_is_ours(entry) or entry.get("manager") in KSERVE):
        found = {key: fields[key] for key in kept if key in fields}
        merged = found.pop("f:metadata", {})
        names = {key: merged[key] for key in ("f:labels", "f:annotations") if key in merged}
        if names:
            found["f:metadata"] = names
        if found:
            short["fieldsV1"] = found
    return short
