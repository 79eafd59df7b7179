"""Strategic merge of pods, as Kubernetes' patch does it (spec/kserve-runtimes.md 8).

The service is the patch, the runtime the base. Lists of named things are merged by their
key; arguments are joined; all other lists are replaced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ingressctl.api.refs import Raw

MERGE_KEYS = {
    "env": "name",
    "ports": "containerPort",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "volumes": "name",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "resourceClaims": "name",
}
_SOURCES = ("value", "valueFrom")


def container(base: Raw, patch: Raw) -> dict[str, Any]:
    """One container of the runtime with the service's fields over it; args are joined."""
    merged = strategic(base, {key: value for key, value in patch.items() if key != "args"})
    args = [*(base.get("args") or ()), *(patch.get("args") or ())]
    if args:
        merged["args"] = args
    return merged


def strategic(base: Raw, patch: Raw) -> dict[str, Any]:
    """`patch` over `base`; empty values of the patch say nothing, as in Go's JSON.

    Only lists of the pod or container itself are merged, those deeper down are replaced.
    """
    merged = dict(base)
    for key, value in patch.items():
        if _says_something(value):
            merged[key] = _value(key, base.get(key), value)
    return merged


def _says_something(value: Any) -> bool:
    """Whether Go would write it; numbers and booleans are pointers there."""
    return bool(value) or value == 0


def _value(key: str, base: Any, patch: Any) -> Any:
    if isinstance(patch, Mapping) and isinstance(base, Mapping):
        return overlay(base, patch)
    by = MERGE_KEYS.get(key)
    if by and base and _has_keys(base, by) and _has_keys(patch, by):
        return _list(key, base, patch)
    return patch


def _has_keys(entries: Any, by: str) -> bool:
    """Whether it is a list that can be merged; nobody checked the fields of a pod."""
    return isinstance(entries, list | tuple) and all(
        isinstance(entry, Mapping) and isinstance(entry.get(by), str | int) for entry in entries
    )


def _list(key: str, base: Sequence[Raw], patch: Sequence[Raw]) -> list[Raw]:
    """Entries merged by their key, in the order of Kubernetes' strategicpatch package: the
    patch's own order, and of the base's the ones that stood before an entry of both."""
    by = MERGE_KEYS[key]
    merge = _environment if key == "env" else strategic
    stored = {entry.get(by): entry for entry in base}
    places = {name: place for place, name in enumerate(stored)}
    named = {entry.get(by) for entry in patch}
    rest = [entry for entry in base if entry.get(by) not in named]
    merged: list[Raw] = []
    for entry in patch:
        name = entry.get(by)
        while name in places and rest and places[rest[0].get(by)] < places[name]:
            merged.append(rest.pop(0))
        merged.append(merge(stored[name], entry) if name in stored else entry)
    return [*merged, *rest]


def _environment(base: Raw, patch: Raw) -> dict[str, Any]:
    """One variable: the service's source replaces the runtime's of the other kind."""
    if not any(patch.get(source) is not None for source in _SOURCES):
        return strategic(base, patch)
    kept = {key: value for key, value in base.items() if key not in _SOURCES}
    return {**kept, **patch}


def overlay(base: Raw, patch: Raw) -> dict[str, Any]:
    """Non-empty fields of `patch` over `base`: maps join, lists are replaced."""
    merged = dict(base)
    for key, value in patch.items():
        if not _says_something(value):
            continue
        present = base.get(key)
        if isinstance(value, Mapping) and isinstance(present, Mapping):
            merged[key] = overlay(present, value)
        else:
            merged[key] = value
    return merged
