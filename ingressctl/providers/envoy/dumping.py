"""xDS resources in the JSON form of protobuf, as Envoy's own configuration dump shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

# Messages inside an Any are only readable when their modules are loaded.
from envoy.config.cluster.v3 import cluster_pb2
from envoy.config.endpoint.v3 import endpoint_pb2
from envoy.config.listener.v3 import listener_pb2
from envoy.config.route.v3 import route_pb2, scoped_route_pb2
from google.protobuf import json_format, message

from ingressctl.api.refs import Raw
from ingressctl.providers.envoy import listeners as _inside_any
from ingressctl.providers.envoy import names

assert _inside_any

MESSAGES: Mapping[str, type[message.Message]] = {
    names.CLUSTER: cluster_pb2.Cluster,
    names.ENDPOINTS: endpoint_pb2.ClusterLoadAssignment,
    names.LISTENER: listener_pb2.Listener,
    names.SCOPE: scoped_route_pb2.ScopedRouteConfiguration,
    names.ROUTES: route_pb2.RouteConfiguration,
}


def objects(resources: Mapping[tuple[str, str], bytes]) -> Iterator[dict[str, Any]]:
    """Resources as mappings with their ``@type``, in the order in which they are sent."""
    for kind, name in sorted(resources, key=lambda key: (names.ORDER.index(key[0]), key[1])):
        body = MESSAGES[kind].FromString(resources[kind, name])
        fields = json_format.MessageToDict(body, preserving_proto_field_name=True)
        yield {"@type": kind, **fields}


def tables(found: Iterable[Raw]) -> Iterator[route_pb2.RouteConfiguration]:
    """The route configurations among such mappings."""
    for obj in found:
        if obj.get("@type") == names.ROUTES:
            fields = {key: value for key, value in obj.items() if key != "@type"}
            yield json_format.ParseDict(fields, route_pb2.RouteConfiguration())
