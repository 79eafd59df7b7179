"""The istio provider: the five functions of core.ports.Provider."""

from __future__ import annotations

from collections.abc import Iterable

from ingressctl.api.refs import Raw
from ingressctl.core.model import Route
from ingressctl.core.ports import EVERYTHING, Capability, Emission, Verdict, nothing, side_by_side
from ingressctl.core.table import Table
from ingressctl.core.world import Kind, Reads
from ingressctl.providers.istio import emit, read

VIRTUAL_SERVICE: Kind = ("networking.istio.io", "VirtualService")


class Istio:
    """VirtualServices for Istio's gateways and sidecars."""

    name = "istio"
    kinds: tuple[Kind, ...] = (VIRTUAL_SERVICE, ("", "Service"))
    capabilities: frozenset[Capability] = EVERYTHING

    def emit(self, routes: tuple[Route, ...], *, reads: Reads) -> Emission:
        """VirtualServices, and the alias Service where a route has one."""
        objects: list[Raw] = []
        for route in routes:
            if route.groups and VIRTUAL_SERVICE not in reads.settings.absent:
                objects.append(emit.virtual_service(route, reads=reads))
            if route.alias:
                objects.append(emit.external_name(route))
        return Emission(routes[0].owner, tuple(objects)) if routes else nothing()

    def merge(self, emissions: Iterable[Emission]) -> Emission:
        """Nothing is shared: all objects side by side."""
        return side_by_side(emissions)

    def read(self, objects: Iterable[Raw], *, reads: Reads) -> Table:
        """VirtualServices as Istio evaluates them."""
        return read.table(objects, reads=reads)

    def readiness(self, route: Route, *, reads: Reads) -> Verdict:
        """VirtualServices tell nothing of themselves: accepted as written."""
        return Verdict(True)
