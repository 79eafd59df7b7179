"""The gateway_api provider: the five functions of core.ports.Provider."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ingressctl.api.refs import Raw, Ref
from ingressctl.core import emitting, lowering
from ingressctl.core.model import Route
from ingressctl.core.outcome import Finding
from ingressctl.core.ports import EVERYTHING, Capability, Emission, Verdict, nothing, side_by_side
from ingressctl.core.table import Table
from ingressctl.core.world import Kind, Reads
from ingressctl.providers.gateway_api import backends, emit, read, status

HTTP_ROUTE: Kind = ("gateway.networking.k8s.io", "HTTPRoute")


class GatewayAPI:
    """HTTPRoutes for any Gateway API implementation."""

    name = "gateway_api"
    kinds: tuple[Kind, ...] = (HTTP_ROUTE,)
    capabilities: frozenset[Capability] = EVERYTHING - {
        "regex-rewrite",
        "retries-off",
        "mesh",
        "local-entry",
        "split-headers",
    }

    _limits = lowering.Limits(name, capabilities)

    def emit(self, routes: tuple[Route, ...], *, reads: Reads) -> Emission:
        """An HTTPRoute a group."""
        if not routes:
            return nothing()
        lowered, losses = lowering.lower(routes, self._limits)
        objects = tuple(
            emit.http_route(route, group, regex_paths=route.regex_paths)
            for route in lowered
            for group in route.groups
        )
        return Emission(routes[0].owner, objects, findings=(*losses, *_ungranted(lowered, reads)))

    def merge(self, emissions: Iterable[Emission]) -> Emission:
        """Nothing is shared: all objects side by side."""
        return side_by_side(emissions)

    def read(self, objects: Iterable[Raw], *, reads: Reads) -> Table:
        """HTTPRoutes as their Gateways attach and evaluate them."""
        return read.table(objects, reads=reads)

    def readiness(self, route: Route, *, reads: Reads) -> Verdict:
        """What the Gateways say of the route's objects, the first problem first."""
        names = dict.fromkeys(emit.object_name(route, group) for group in route.groups)
        for name in names:
            verdict = status.verdict(route, name, reads=reads)
            if verdict.ready is not True:
                return verdict
        return Verdict(True)


def _ungranted(routes: tuple[Route, ...], reads: Reads) -> Iterator[Finding]:
    """Backends in other namespaces that nothing there lets HTTPRoutes refer to."""
    found: dict[tuple[Route, Ref], None] = {}
    for route in routes:
        source = Ref(*HTTP_ROUTE, route.ref.namespace, route.ref.name)
        for split in (s for group in route.groups for rule in group.rules for s in rule.splits):
            name, space = emit.backend_name(split, route.ref.namespace)
            if space == route.ref.namespace:
                continue
            if not backends.granted(backends.SERVICE, space, name, source, reads):
                found[route, Ref(*backends.SERVICE, space, name)] = None
    for route, target in found:
        yield emitting.loss(
            route,
            GatewayAPI.name,
            f"{target} as a backend: nothing there lets HTTPRoutes of {route.ref.namespace} "
            "refer to it, so requests end with 500",
            f"add a ReferenceGrant in namespace {target.namespace} for HTTPRoutes of "
            f"{route.ref.namespace}",
        )
