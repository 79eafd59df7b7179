"""Which groups of which routes meet under one host of one listener.

Envoy has one table a host, so what several owners ask for must be put in order here. A host
belongs to one owner; only hosts that are shared on purpose (path templates) hold rules of
several, the longest path first, so that no owner's prefix swallows another's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ingressctl.core.model import Entry, Group, Host, Route
from ingressctl.core.outcome import Finding
from ingressctl.providers.envoy import names


class Place(NamedTuple):
    """A host at a listener, in lower case."""

    listener: str
    host: str

    @property
    def wildcard(self) -> bool:
        """Whether it lies in the table of wildcards."""
        return "*" in self.host


class Tenant(NamedTuple):
    """One group of one route at a place."""

    route: Route
    group: Group
    host: Host


def tenants(routes: Iterable[Route]) -> dict[Place, list[Tenant]]:
    """Every place with everybody who asks for it, in the order of the routes."""
    found: dict[Place, list[Tenant]] = {}
    for route in routes:
        for place, tenant in of_route(route):
            found.setdefault(place, []).append(tenant)
    return found


def of_route(route: Route) -> Iterator[tuple[Place, Tenant]]:
    """The places of one route, each with its tenant there."""
    for group in route.groups:
        for host in group.hosts:
            for listener in _listeners(group.entries, host):
                yield Place(listener, host.name.lower().rstrip(".")), Tenant(route, group, host)


def _listeners(entries: Iterable[Entry], host: Host) -> tuple[str, ...]:
    """A cluster-local host or entry is never served to clients of the public listener."""
    found = (
        names.LOCAL if host.reach == "local" or entry.reach == "local" else names.PUBLIC
        for entry in entries
    )
    return tuple(dict.fromkeys(found))


def in_order(asking: Iterable[Tenant]) -> tuple[Tenant, ...]:
    """Those who get the place, in the order of their rules."""
    everybody = sorted(asking, key=_precedence)
    holder = everybody[0].route.owner.ref
    admitted = [
        tenant
        for tenant in everybody
        if tenant.route.owner.ref == holder or tenant.host.origin == "shared"
    ]
    if len({tenant.route.owner.ref for tenant in admitted}) == 1:
        return tuple(admitted)
    return tuple(sorted(admitted, key=lambda tenant: -_depth(tenant.group)))


def _precedence(tenant: Tenant) -> tuple[bool, str, str, str]:
    """The older owner first, then namespace and name (design of `claims`)."""
    owner = tenant.route.owner
    return (not owner.created, owner.created, owner.ref.namespace, owner.ref.name)


def _depth(group: Group) -> int:
    """Length of the shortest path of a group: what it takes of a shared host at most."""
    paths = (
        match.path.value if match.path else "" for rule in group.rules for match in rule.matches
    )
    return min((len(path) for path in paths), default=0)


def conflicts(asking: Mapping[Place, Sequence[Tenant]]) -> Iterator[Finding]:
    """A finding for every owner that does not get a host it asked for."""
    for place, everybody in asking.items():
        if len({tenant.route.owner.ref for tenant in everybody}) < 2:
            continue
        admitted = in_order(everybody)
        refused = dict.fromkeys(
            tenant.route.owner.ref for tenant in everybody if tenant not in admitted
        )
        for ref in refused:
            holder = admitted[0].route.owner.ref
            yield Finding.of("IC4201", ref, holder, host=place.host, holder=str(holder))
