"""The volumes of a pod as folders, and how a container's process sees them at its mount paths.

A process shares the machine's files. In its own mount namespace a volume is bound over its
path; a path that the machine lacks is made in a layer over the nearest folder that exists.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from e2e.pods.kubelet import environment, sources

if TYPE_CHECKING:
    from e2e.pods.kubelet.pod import Pod

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Unmountable(Exception):
    """A mount path that cannot be served here."""


@dataclass(frozen=True, slots=True)
class Mounts:
    """The volumes of a pod by name, and what its containers read."""

    folders: Mapping[str, Path]
    data: sources.Data


def write(pod: Pod, data: sources.Data) -> Mounts:
    """All volumes of a pod. Raises sources.Missing."""
    folders: dict[str, Path] = {}
    for volume in pod.obj["spec"].get("volumes", ()):
        if "hostPath" in volume:
            folders[volume["name"]] = Path(volume["hostPath"]["path"])
            continue
        folder = pod.folder / "volumes" / volume["name"]
        folder.mkdir(parents=True, exist_ok=True)
        folders[volume["name"]] = folder
        parts = volume.get("projected", {}).get("sources", (volume,))
        for part in parts:
            for name, content in _files(part, pod, data):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content)
    return Mounts(folders, data)


def _files(part: Mapping[str, Any], pod: Pod, data: sources.Data) -> Iterator[tuple[str, bytes]]:
    for field, kind, name in (
        ("configMap", "configmaps", "name"),
        ("secret", "secrets", "secretName"),
    ):
        if field in part:
            own = part[field]
            values = data.get((kind, own.get(name) or own["name"]), {})
            yield from _chosen(own, values)
    for item in part.get("downwardAPI", {}).get("items", ()):
        address = pod.place.address if pod.place else ""
        value = environment.field(item["fieldRef"]["fieldPath"], pod.obj, address)
        yield item["path"], value.encode()


def _chosen(own: Mapping[str, Any], values: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    if "items" not in own:
        yield from values.items()
        return
    for item in own["items"]:
        if item["key"] in values:
            yield item["path"], values[item["key"]]
        elif not own.get("optional"):
            raise sources.Missing(f"a volume wants the key {item['key']}, which is not there")


def script(container: Mapping[str, Any], mounts: Mounts, scratch: Path) -> str:
    """Shell that puts the volumes in place and becomes the command. Raises Unmountable."""
    steps: list[str] = []
    for number, mount in enumerate(
        sorted(container.get("volumeMounts", ()), key=lambda one: one["mountPath"])
    ):
        target = Path(mount["mountPath"])
        source = mounts.folders[mount["name"]] / mount.get("subPath", "")
        if not source.exists():
            source.mkdir(parents=True)
        steps += _mount(source, target, scratch / str(number))
    placing = " && ".join(steps) or "true"
    return f'(PATH={DEFAULT_PATH}; {placing}) || exit 125\nexec "$@"'


def _mount(source: Path, target: Path, layer: Path) -> Iterator[str]:
    if not target.exists():
        base = next(parent for parent in target.parents if parent.exists()).resolve()
        if base == Path("/"):
            raise Unmountable(f"mount path {target}: only paths below an existing folder work")
        for part in ("upper", "work"):
            (layer / part).mkdir(parents=True, exist_ok=True)
        below = f"lowerdir={base},upperdir={layer / 'upper'},workdir={layer / 'work'}"
        layered = shlex.join(["mount", "-t", "overlay", "overlay", "-o", below, str(base)])
        # Without root's rights a folder that others are mounted in takes no layer: it is hidden.
        hidden = shlex.join(["mount", "-t", "tmpfs", "tmpfs", str(base)])
        yield f"{{ {layered} 2>/dev/null || {hidden}; }}"
        folder = target if source.is_dir() else target.parent
        yield shlex.join(["mkdir", "-p", str(folder)])
        if not source.is_dir():
            yield shlex.join(["touch", str(target)])
    yield shlex.join(["mount", "--bind", str(source), str(target)])
