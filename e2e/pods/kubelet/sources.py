"""What a pod reads of other objects: the data of ConfigMaps and Secrets it names."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from e2e.pods import api

Data = Mapping[tuple[str, str], Mapping[str, bytes]]
NOT_FOUND = 404
# Where a container or a volume names another object: field of the place, kind, field of the name.
_ENV_FROM = (("configMapRef", "configmaps", "name"), ("secretRef", "secrets", "name"))
_VALUE_FROM = (("configMapKeyRef", "configmaps", "name"), ("secretKeyRef", "secrets", "name"))
_PROJECTED = (("configMap", "configmaps", "name"), ("secret", "secrets", "name"))
_VOLUME = (("configMap", "configmaps", "name"), ("secret", "secrets", "secretName"))


class Missing(Exception):
    """An object or key that the pod cannot do without is not there."""


@dataclass(frozen=True, slots=True)
class _Source:
    kind: str
    name: str
    optional: bool


async def read(client: api.Client, pod: Mapping[str, Any]) -> Data:
    """Everything that a pod names, by kind and name. Raises Missing."""
    namespace = pod["metadata"]["namespace"]
    found: dict[tuple[str, str], Mapping[str, bytes]] = {}
    for source in _named(pod["spec"]):
        try:
            path = f"/api/v1/namespaces/{namespace}/{source.kind}/{source.name}"
            found[source.kind, source.name] = _data(await client.get(path))
        except api.Refused as refused:
            if refused.status != NOT_FOUND:
                raise
            if not source.optional:
                raise Missing(f'{source.kind} "{source.name}" not found') from None
    return found


def _data(obj: Mapping[str, Any]) -> Mapping[str, bytes]:
    plain = obj.get("data") or {}
    if obj.get("kind") == "Secret":
        return {key: base64.b64decode(value) for key, value in plain.items()}
    binary = obj.get("binaryData") or {}
    return {
        **{key: value.encode() for key, value in plain.items()},
        **{key: base64.b64decode(value) for key, value in binary.items()},
    }


def _named(spec: Mapping[str, Any]) -> Iterator[_Source]:
    for container in [*spec.get("initContainers", ()), *spec["containers"]]:
        for one in container.get("envFrom", ()):
            yield from _of(one, _ENV_FROM)
        for one in container.get("env", ()):
            yield from _of(one.get("valueFrom", {}), _VALUE_FROM)
    for volume in spec.get("volumes", ()):
        yield from _of(volume, _VOLUME)
        for one in volume.get("projected", {}).get("sources", ()):
            yield from _of(one, _PROJECTED)


def _of(place: Mapping[str, Any], fields: tuple[tuple[str, str, str], ...]) -> Iterator[_Source]:
    for field, kind, name in fields:
        if field in place:
            yield _Source(kind, place[field][name], place[field].get("optional", False))
