"""The gateway_api provider: the five functions of core.ports.Provider."""

from __future__ import annotations

from collections.abc import Iterable

from ingressctl.api.refs import Raw
from ingressctl.core.model import Route
from ingressctl.core.ports import Capability, Emission, Verdict, nothing, side_by_side
from ingressctl.core.table import Table
from ingressctl.core.world import Kind, Reads
from ingressctl.providers.gateway_api import emit, read, status

HTTP_ROUTE: Kind = ("gateway.networking.k8s.io", "HTTPRoute")


class GatewayAPI:
    """HTTPRoutes for any Gateway API implementation."""

    name = "gateway_api"
    kinds: tuple[Kind, ...] = (HTTP_ROUTE,)
    capabilities: frozenset[Capability] = frozenset(
        {
            "header-match",
            "method-match",
            "regex-path",
            "weights",
            "set-headers",
            "host-rewrite",
            "path-rewrite",
            "timeout",
            "wildcard-host",
            "external-target",
            "grpc",
        }
    )

    def emit(self, routes: tuple[Route, ...], *, reads: Reads) -> Emission:
        """An HTTPRoute a group."""
        if not routes:
            return nothing()
        objects = tuple(
            emit.http_route(route, group, regex_paths=route.regex_paths)
            for route in routes
            for group in route.groups
        )
        return Emission(routes[0].owner, objects)

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
