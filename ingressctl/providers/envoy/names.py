"""Names of xDS resources, and what can be read out of them again.

A name carries what Envoy has no field for: the target of a cluster, the source object of a
route. So a dump of the proxy tells where everything came from, and `read` needs no side table.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from ingressctl.api.refs import Ref
from ingressctl.core.model import External, Service, Target

PUBLIC = "public"
LOCAL = "local"
"""The two listeners: what clients reach, and what only other hops reach."""

WILDCARDS = "*"
"""The scope that holds every host with a wildcard."""

FALLBACKS = ("ingressctl.any-spelling", "ingressctl.wildcards")
"""The filters for requests whose Host is in no scope as it is written."""

HOST_HEADER = "x-ingressctl-host"
ENTRY_HEADER = "x-ingressctl-entry"
"""Headers that exist only inside Envoy, between two filters."""

NO_RULE = "no-rule"
"""The last route of a host: a host without a matching rule answers 404 by itself."""

TYPES = "type.googleapis.com/"
CLUSTER = TYPES + "envoy.config.cluster.v3.Cluster"
ENDPOINTS = TYPES + "envoy.config.endpoint.v3.ClusterLoadAssignment"
LISTENER = TYPES + "envoy.config.listener.v3.Listener"
SCOPE = TYPES + "envoy.config.route.v3.ScopedRouteConfiguration"
ROUTES = TYPES + "envoy.config.route.v3.RouteConfiguration"

ORDER = (CLUSTER, ENDPOINTS, LISTENER, SCOPE, ROUTES)
"""What must be there before what leads to it."""

_EXTERNAL = "external"
_H2 = "h2"


class Upstream(NamedTuple):
    """One cluster: a target's port, and whether it is spoken to in HTTP/2."""

    target: Target
    port: int
    h2: bool

    @property
    def name(self) -> str:
        """``NAMESPACE/NAME:PORT`` or ``external/HOST:PORT``, with ``/h2`` or ``@GATEWAY``."""
        if isinstance(self.target, External):
            entry = f"@{self.target.entry}" if self.target.entry else ""
            return f"{_EXTERNAL}/{self.target.host}:{self.port}{entry}"
        protocol = f"/{_H2}" if self.h2 else ""
        return f"{self.target.namespace}/{self.target.name}:{self.port}{protocol}"


def upstream(name: str) -> Upstream:
    """The upstream that a cluster is named after. Raises ValueError for foreign names."""
    place, _, rest = name.partition("/")
    host, _, tail = rest.partition(":")
    if not tail:
        raise ValueError(f"cluster {name!r} is not named NAMESPACE/NAME:PORT")
    if place == _EXTERNAL:
        port, _, entry = tail.partition("@")
        return Upstream(External(host, entry), int(port), h2=False)
    port, _, protocol = tail.partition("/")
    return Upstream(Service(place, host), int(port), h2=protocol == _H2)


def upstreams(clusters: Iterable[str]) -> tuple[Upstream, ...]:
    """The upstreams of those clusters whose names are ours."""
    found: list[Upstream] = []
    for name in clusters:
        with suppress(ValueError):
            found.append(upstream(name))
    return tuple(found)


def route_configuration(listener: str, host: str) -> str:
    """The table of one host at one listener."""
    return f"{listener}/{host}"


def route(source: Ref, rule: str) -> str:
    """``GROUP/KIND/NAMESPACE/NAME#RULE``"""
    return f"{source.group}/{source.kind}/{source.namespace}/{source.name}#{rule}"


def parse_route(name: str) -> tuple[Ref, str]:
    """Source and rule of a route's name; foreign names are a rule of no source."""
    path, mark, rule = name.partition("#")
    parts = path.split("/")
    if not mark or len(parts) != 4:
        return Ref("", "", "", ""), name
    return Ref(*parts), rule
