"""xDS resources as the cases name them: kinds, names or hosts, lowerCamelCase JSON.

``xds Cluster``, ``xds RouteConfiguration``, ``xds VirtualHost``, ``xds Route`` "with the
name or host"; HTTP/2 to a cluster is always read as `http2ProtocolOptions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from google.protobuf import json_format

from ingressctl.core.model import Route
from ingressctl.core.world import World
from ingressctl.providers.envoy import dumping, facts, names, snapshot

Named = tuple[str, tuple[str, ...], Any]
"""Kind, the names that select it, and the JSON."""


def resources(routes: Iterable[Route], world: World) -> Iterator[Named]:
    """Everything that can be selected of the configuration for these routes."""
    made = snapshot.resources(routes, facts=facts.WorldFacts.of(world))
    for (kind, name), raw in sorted(made.items()):
        body = json_format.MessageToDict(dumping.MESSAGES[kind].FromString(raw))
        if kind == names.CLUSTER:
            yield "Cluster", (name, _place(name)), _cluster(body)
        if kind == names.ROUTES:
            yield "RouteConfiguration", (name, name.partition("/")[0]), body
            yield from _inside(body)


def _place(cluster: str) -> str:
    """``namespace/name`` of a cluster that is named after a Service and its port."""
    return cluster.partition(":")[0]


def _cluster(body: dict[str, Any]) -> dict[str, Any]:
    for options in (body.get("typedExtensionProtocolOptions") or {}).values():
        explicit = options.get("explicitHttpConfig") or {}
        if "http2ProtocolOptions" in explicit:
            return body | {"http2ProtocolOptions": explicit["http2ProtocolOptions"]}
    return body


def _inside(table: dict[str, Any]) -> Iterator[Named]:
    for virtual_host in table.get("virtualHosts") or ():
        hosts = tuple(map(str, virtual_host.get("domains") or ()))
        yield "VirtualHost", (str(virtual_host.get("name")), *hosts), virtual_host
        for route in virtual_host.get("routes") or ():
            yield "Route", (str(route.get("name")), str(virtual_host.get("name")), *hosts), route
