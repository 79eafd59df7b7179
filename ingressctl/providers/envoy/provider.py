"""The envoy provider: the five functions of core.ports.Provider.

The modules that build protobufs are imported when they are first needed: they take 0.1 s,
and every command loads every provider, `ingressctl --help` included.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from ingressctl.api.refs import Raw
from ingressctl.core.model import Route
from ingressctl.core.outcome import Finding
from ingressctl.core.ports import EVERYTHING, Capability, Emission, Verdict, nothing, side_by_side
from ingressctl.core.table import Table
from ingressctl.core.world import Kind, Reads
from ingressctl.providers.envoy import places


def _lazily(name: str) -> Any:
    return import_module(f"ingressctl.providers.envoy.{name}")


class Envoy:
    """Routes carried to Envoys by xDS; there are no Kubernetes objects."""

    name = "envoy"
    kinds: tuple[Kind, ...] = ()
    capabilities: frozenset[Capability] = EVERYTHING

    def emit(self, routes: tuple[Route, ...], *, reads: Reads) -> Emission:
        """The routes themselves; xDS resources are made when all owners are merged."""
        if not routes:
            return nothing()
        return Emission(routes[0].owner, routes=routes, findings=tuple(_losses(routes)))

    def merge(self, emissions: Iterable[Emission]) -> Emission:
        """One set of xDS resources, in their JSON form, of all owners' routes.

        Addresses and protocols of targets are not known here; `up` adds them.
        """
        merged = side_by_side(emissions)
        if not merged.routes:
            return merged
        resources = _lazily("snapshot").resources(merged.routes)
        found = tuple(places.conflicts(places.tenants(merged.routes)))
        objects = tuple(_lazily("dumping").objects(resources))
        return Emission(merged.owner, objects, merged.routes, (*merged.findings, *found))

    def read(self, objects: Iterable[Raw], *, reads: Reads) -> Table:
        """xDS resources in their JSON form as Envoy evaluates them."""
        table: Table = _lazily("reading").of_tables(_lazily("dumping").tables(objects))
        return table

    def readiness(self, route: Route, *, reads: Reads) -> Verdict:
        """Acknowledged configuration serves; what is refused is reported by the proxy."""
        return Verdict(True)


def _losses(routes: Iterable[Route]) -> Iterable[Finding]:
    """Certificates are the cluster's: on this machine everything is served in clear text."""
    for route in routes:
        if route.tls:
            hosts = ", ".join(host for tls in route.tls for host in tls.hosts)
            yield Finding.of("IC4202", route.owner.ref, hosts=hosts)
