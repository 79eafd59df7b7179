"""The envoy provider: the five functions of core.ports.Provider."""

from __future__ import annotations

from collections.abc import Iterable

from ingressctl.api.refs import Raw
from ingressctl.core.model import Route
from ingressctl.core.ports import Capability, Emission, Verdict, nothing, side_by_side
from ingressctl.core.table import Table
from ingressctl.core.world import Kind, Reads


class Envoy:
    """Routes carried to Envoys by xDS; there are no Kubernetes objects."""

    name = "envoy"
    kinds: tuple[Kind, ...] = ()
    capabilities: frozenset[Capability] = frozenset()

    def emit(self, routes: tuple[Route, ...], *, reads: Reads) -> Emission:
        """The routes themselves; xDS resources are made when all owners are merged."""
        return Emission(routes[0].owner, routes=routes) if routes else nothing()

    def merge(self, emissions: Iterable[Emission]) -> Emission:
        """All owners' routes."""
        return side_by_side(emissions)

    def read(self, objects: Iterable[Raw], *, reads: Reads) -> Table:
        """xDS resources as Envoy evaluates them."""
        raise NotImplementedError

    def readiness(self, route: Route, *, reads: Reads) -> Verdict:
        """Acknowledged configuration serves."""
        return Verdict(True)
