"""The environment and the command of a container, as its object writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from e2e.pods.kubelet import sources

_REFERENCE = re.compile(r"\$(\$|\(([^)]*)\))")
_SUBSCRIPT = re.compile(r"metadata\.(labels|annotations)\['([^']*)'\]")
# Processes are not limited; what asks for its share of the machine is told a small one.
_RESOURCES = {"cpu": "1", "memory": str(2**30), "ephemeral-storage": str(2**30)}


def make(
    container: Mapping[str, Any], pod: Mapping[str, Any], *, data: sources.Data, address: str
) -> dict[str, str]:
    """All variables, in the order in which later ones may use earlier ones. Raises Missing."""
    found: dict[str, str] = {}
    for one in container.get("envFrom", ()):
        found.update(_all_of(one, data))
    for one in container.get("env", ()):
        value = _value(one, pod, data=data, address=address)
        if value is not None:
            found[one["name"]] = expand(value, found)
    return found


def expand(text: str, known: Mapping[str, str]) -> str:
    """A text with $(NAME) replaced where the name is known; $$ is a dollar."""

    def one(match: re.Match[str]) -> str:
        if match[1] == "$":
            return "$"
        return known.get(match[2], match[0])

    return _REFERENCE.sub(one, text)


def command(
    container: Mapping[str, Any], entry: Sequence[str], known: Mapping[str, str]
) -> list[str]:
    """The container's command, else the image's, with the arguments."""
    words = [*(container.get("command") or entry), *container.get("args", ())]
    return [expand(word, known) for word in words]


def field(path: str, pod: Mapping[str, Any], address: str) -> str:
    """A field of the pod, as fieldRef names it."""
    meta, spec = pod["metadata"], pod["spec"]
    subscript = _SUBSCRIPT.fullmatch(path)
    if subscript:
        return str(meta.get(subscript[1], {}).get(subscript[2], ""))
    known: dict[str, Any] = {
        "metadata.name": meta["name"],
        "metadata.namespace": meta["namespace"],
        "metadata.uid": meta["uid"],
        "metadata.labels": _lines(meta.get("labels", {})),
        "metadata.annotations": _lines(meta.get("annotations", {})),
        "spec.nodeName": spec.get("nodeName", ""),
        "spec.serviceAccountName": spec.get("serviceAccountName", "default"),
        "status.podIP": address,
        "status.podIPs": address,
        "status.hostIP": pod.get("status", {}).get("hostIP", ""),
    }
    return str(known.get(path, ""))


def _lines(pairs: Mapping[str, str]) -> str:
    return "\n".join(f'{key}="{value}"' for key, value in sorted(pairs.items()))


def _all_of(one: Mapping[str, Any], data: sources.Data) -> Iterator[tuple[str, str]]:
    prefix = one.get("prefix", "")
    for kind, place in (("configmaps", "configMapRef"), ("secrets", "secretRef")):
        if place in one:
            for key, value in data.get((kind, one[place]["name"]), {}).items():
                yield prefix + key, value.decode()


def _value(
    one: Mapping[str, Any], pod: Mapping[str, Any], *, data: sources.Data, address: str
) -> str | None:
    origin = one.get("valueFrom")
    if not origin:
        return str(one.get("value", ""))
    if "fieldRef" in origin:
        return field(origin["fieldRef"]["fieldPath"], pod, address)
    if "resourceFieldRef" in origin:
        return _RESOURCES.get(origin["resourceFieldRef"]["resource"].partition(".")[2], "0")
    for kind, place in (("configmaps", "configMapKeyRef"), ("secrets", "secretKeyRef")):
        if place in origin:
            return _key(origin[place], data.get((kind, origin[place]["name"]), {}), kind)
    return None


def _key(origin: Mapping[str, Any], values: Mapping[str, bytes], kind: str) -> str | None:
    if origin["key"] in values:
        return values[origin["key"]].decode()
    if origin.get("optional"):
        return None
    raise sources.Missing(f'{kind} "{origin["name"]}" has no key "{origin["key"]}"')
