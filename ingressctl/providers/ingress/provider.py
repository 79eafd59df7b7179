"""The ingress provider: the five functions of core.ports.Provider."""

from __future__ import annotations

from collections.abc import Iterable

from ingressctl.api.refs import Raw, ref_of
from ingressctl.core import lowering
from ingressctl.core.model import Route
from ingressctl.core.ports import Capability, Emission, Verdict, nothing, side_by_side
from ingressctl.core.table import Table
from ingressctl.core.values import replace
from ingressctl.core.world import Kind, Reads
from ingressctl.providers.ingress import emit, read

INGRESS: Kind = ("networking.k8s.io", "Ingress")
LOOK_AGAIN = 30.0
"""Seconds until a class that was missing is looked for once more."""


class Ingress:
    """One Ingress an owner."""

    name = "ingress"
    kinds: tuple[Kind, ...] = (INGRESS,)
    capabilities: frozenset[Capability] = frozenset({"exact-path", "wildcard-host"})

    def emit(self, routes: tuple[Route, ...], *, reads: Reads) -> Emission:
        """One Ingress for all routes of the owner, and what it loses."""
        limits = lowering.Limits(self.name, self.capabilities, backends=1)
        lowered, losses = lowering.lower(routes, limits)
        told = emit.together(losses)
        if not any(route.groups for route in lowered):
            return replace(nothing(), findings=told)
        return Emission(routes[0].owner, (emit.ingress(lowered),), findings=told)

    def merge(self, emissions: Iterable[Emission]) -> Emission:
        """Nothing is shared: all objects side by side."""
        return side_by_side(emissions)

    def read(self, objects: Iterable[Raw], *, reads: Reads) -> Table:
        """Ingresses as controllers evaluate them: exact before the longest prefix."""
        return read.table(objects, reads=reads)

    def readiness(self, route: Route, *, reads: Reads) -> Verdict:
        """Refused when classes are known and the Ingress's is none of them (F57).

        Beyond that Ingresses tell too little: accepted as written.
        """
        known = {ref_of(obj).name for obj in reads.list(read.INGRESS_CLASS)}
        asked = {
            entry.name for group in route.groups for entry in group.entries if entry.kind == "class"
        }
        absent = sorted(name for name in asked if name and name not in known)
        if not known or not absent:
            return Verdict(True)
        message = f"there is no IngressClass {absent[0]}: no controller serves the Ingress"
        return Verdict(False, "IngressClassNotFound", message, LOOK_AGAIN)
