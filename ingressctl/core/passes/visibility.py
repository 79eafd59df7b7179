"""Private never becomes public: a cluster-local host never meets a public entry.

Sources build routes so; this pass takes a public entry out wherever one did not, and says
so, because a mistake here exposes somebody's model.
"""

from __future__ import annotations

from collections.abc import Iterator

from ingressctl.core.model import Group, Route
from ingressctl.core.outcome import Finding
from ingressctl.core.values import replace
from ingressctl.core.world import Reads


def apply(routes: tuple[Route, ...], reads: Reads) -> tuple[tuple[Route, ...], tuple[Finding, ...]]:
    """The routes with every cluster-local host at cluster-local entries alone."""
    found: list[Finding] = []
    kept = tuple(
        route.with_groups(tuple(part for group in route.groups for part in _parts(group)))
        if any(map(_exposes, route.groups))
        else route
        for route in routes
    )
    for route in routes:
        for group in filter(_exposes, route.groups):
            names = ", ".join(host.name for host in group.hosts if host.reach == "local")
            found.append(Finding.of("IC2301", route.owner.ref, hosts=names))
    return kept, tuple(found)


def _exposes(group: Group) -> bool:
    return any(host.reach == "local" for host in group.hosts) and any(
        entry.reach == "public" for entry in group.entries
    )


def _parts(group: Group) -> Iterator[Group]:
    """The group, or its local and its public hosts apart, each at fitting entries."""
    if not _exposes(group):
        yield group
        return
    local = tuple(host for host in group.hosts if host.reach == "local")
    public = tuple(host for host in group.hosts if host.reach == "public")
    inside = tuple(entry for entry in group.entries if entry.reach == "local")
    if local and inside:
        yield replace(group, hosts=local, entries=inside)
    if public:
        yield replace(group, hosts=public)
