"""A host belongs to one owner (F4, Q15; design.md section 4).

The one that holds it keeps it, else the older one, else namespace and name decide. The
other's route loses that host alone, and a finding names the holder.
"""

from __future__ import annotations

from collections.abc import Iterator

from ingressctl.api.refs import Ref
from ingressctl.core.model import Group, Host, Route
from ingressctl.core.outcome import Finding
from ingressctl.core.values import replace
from ingressctl.core.world import Claim, Reads

CODE = "IC2101"


def apply(routes: tuple[Route, ...], reads: Reads) -> tuple[tuple[Route, ...], tuple[Finding, ...]]:
    """The routes without hosts that belong to somebody else."""
    if not reads.differs("Q15"):
        return routes, ()
    if not any(_lost_to(host, route, reads) for route in routes for host in route.hosts()):
        return routes, ()
    found: list[Finding] = []
    kept = [route.with_groups(tuple(_groups(route, reads, found))) for route in routes]
    return tuple(route for route in kept if route.groups or route.alias), tuple(found)


def loss(host: str, owner: Ref, reads: Reads) -> Finding | None:
    """The finding about a host that an owner is given by others than a route of ours, where
    somebody else has the better claim to it."""
    claims = reads.claims(host) if host and reads.differs("Q15") else ()
    return None if not claims or claims[0].holder == owner else _finding(host, claims, owner)


def _groups(route: Route, reads: Reads, found: list[Finding]) -> Iterator[Group]:
    for group in route.groups:
        lost = {host: claims for host in group.hosts if (claims := _lost_to(host, route, reads))}
        found += [_finding(host.name, claims, route.owner.ref) for host, claims in lost.items()]
        hosts = tuple(host for host in group.hosts if host not in lost)
        if hosts or not lost:
            yield replace(group, hosts=hosts) if lost else group


def _lost_to(host: Host, route: Route, reads: Reads) -> tuple[Claim, ...]:
    """The claims on a public host of its own that somebody else holds; empty if nobody does."""
    if host.reach == "local" or host.origin == "shared":
        return ()
    claims = reads.claims(host.name)
    return () if not claims or claims[0].holder == route.owner.ref else claims


def _finding(host: str, claims: tuple[Claim, ...], owner: Ref) -> Finding:
    first = claims[0]
    mine = next((claim.created for claim in claims if claim.holder == owner), "")
    why = "older" if first.created and (not mine or first.created < mine) else "first in order"
    if first.holds and why != "older":
        why = "serving it now"
    return Finding.of(
        CODE,
        owner,
        first.holder,
        host=host,
        holder=str(first.holder),
        why=why,
        difference="Q15",
    )
