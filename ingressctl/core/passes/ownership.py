"""A host belongs to one owner (F4, Q15; design.md section 4).

The one that holds it keeps it, else the older one, else namespace and name decide. The
other's route loses that host alone, and a finding names the holder.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ingressctl.core.model import Group, Host, Route
from ingressctl.core.outcome import Finding
from ingressctl.core.world import Claim, Reads

CODE = "IC2101"


def apply(routes: tuple[Route, ...], reads: Reads) -> tuple[tuple[Route, ...], tuple[Finding, ...]]:
    """The routes without hosts that belong to somebody else."""
    if not reads.differs("Q15"):
        return routes, ()
    found: list[Finding] = []
    kept = [route.with_groups(tuple(_groups(route, reads, found))) for route in routes]
    return tuple(route for route in kept if route.groups or route.alias), tuple(found)


def _groups(route: Route, reads: Reads, found: list[Finding]) -> Iterator[Group]:
    for group in route.groups:
        lost = {host: claim for host in group.hosts if (claim := _holder(host, route, reads))}
        found += [_finding(host, claim, route) for host, claim in lost.items()]
        hosts = tuple(host for host in group.hosts if host not in lost)
        if hosts or not lost:
            yield replace(group, hosts=hosts) if lost else group


def _holder(host: Host, route: Route, reads: Reads) -> Claim | None:
    """Who holds a public host of its own in the route's stead; None if nobody does."""
    if host.reach == "local" or host.origin == "shared":
        return None
    claims = reads.claims(host.name)
    if not claims or claims[0].holder == route.owner.ref:
        return None
    return claims[0]


def _finding(host: Host, claim: Claim, route: Route) -> Finding:
    why = "serving it now" if claim.holds else "older"
    return Finding.of(
        CODE,
        route.owner.ref,
        claim.holder,
        host=host.name,
        holder=str(claim.holder),
        why=why,
        difference="Q15",
    )
