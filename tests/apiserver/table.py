"""The kinds that the server knows, by group and plural."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ingressctl.plan import kinds

Place = tuple[str, str]
"""(group, plural)"""


class Kind(NamedTuple):
    """A kind as it is served."""

    group: str
    kind: str
    plural: str
    versions: tuple[str, ...]
    namespaced: bool = True

    @property
    def place(self) -> Place:
        return (self.group, self.plural)

    def api_version(self, version: str) -> str:
        return f"{self.group}/{version}" if self.group else version


_OTHERS = (
    Kind("coordination.k8s.io", "Lease", "leases", ("v1",)),
    Kind("events.k8s.io", "Event", "events", ("v1",)),
    Kind("", "Secret", "secrets", ("v1",)),
)

EVERY: tuple[Kind, ...] = (
    *(Kind(it.group, it.kind, it.plural, it.versions, it.namespaced) for it in kinds.RESOURCES),
    *_OTHERS,
)
BY_PLACE = {kind.place: kind for kind in EVERY}
BY_IDENTITY = {(kind.group, kind.kind): kind for kind in EVERY}


def of(obj: dict[str, Any]) -> Kind:
    """The kind of an object."""
    group, slash, _ = str(obj["apiVersion"]).partition("/")
    return BY_IDENTITY[group if slash else "", str(obj["kind"])]


def groups(served: Iterable[Kind]) -> dict[str, list[str]]:
    """The versions of every group, in order."""
    found: dict[str, list[str]] = {}
    for kind in served:
        if kind.group:
            versions = found.setdefault(kind.group, [])
            versions += [version for version in kind.versions if version not in versions]
    return found
