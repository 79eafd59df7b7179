"""Targets to clusters and their endpoints.

Limits that nobody asked for are lifted: Envoy's defaults (1,024 requests, 60 KiB of headers)
would fail a model server's clients for no reason of theirs.
"""

from __future__ import annotations

from collections.abc import Iterable

from envoy.config.cluster.v3 import circuit_breaker_pb2, cluster_pb2
from envoy.config.core.v3 import address_pb2, base_pb2, config_source_pb2, protocol_pb2
from envoy.config.endpoint.v3 import endpoint_components_pb2, endpoint_pb2
from envoy.extensions.upstreams.http.v3 import http_protocol_options_pb2
from google.protobuf import any_pb2

from ingressctl.core.model import External
from ingressctl.providers.envoy import names
from ingressctl.providers.envoy.facts import Address

UNLIMITED = 1_000_000_000
MAX_HEADERS_KB = 8192
"""The most that Envoy lets one configure."""

CONNECT_SECONDS = 5
_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"


def cluster(upstream: names.Upstream) -> cluster_pb2.Cluster:
    """The cluster of one target's port; a hop through a gateway leads to our own listener."""
    if is_hop(upstream):
        result = _cluster(upstream.name, _same_protocol())
        result.type = cluster_pb2.Cluster.STATIC
        result.load_assignment.CopyFrom(_hop(upstream.name))
        return result
    result = _cluster(upstream.name, _http2() if upstream.h2 else _http1())
    result.type = cluster_pb2.Cluster.EDS
    result.eds_cluster_config.eds_config.CopyFrom(ads())
    return result


def is_hop(upstream: names.Upstream) -> bool:
    """Whether the target is a gateway whose routes are ours as well."""
    return isinstance(upstream.target, External) and bool(upstream.target.entry)


def endpoints(
    upstream: names.Upstream, addresses: Iterable[Address]
) -> endpoint_pb2.ClusterLoadAssignment:
    """Where a cluster is served. Without addresses Envoy answers 503 at once."""
    return endpoint_pb2.ClusterLoadAssignment(
        cluster_name=upstream.name,
        endpoints=[_locality(address_pb2.Address(socket_address=_socket(a)) for a in addresses)],
    )


def ads() -> config_source_pb2.ConfigSource:
    """Delivered over the one aggregated stream."""
    return config_source_pb2.ConfigSource(
        resource_api_version="V3", ads=config_source_pb2.AggregatedConfigSource()
    )


def _cluster(
    name: str, options: http_protocol_options_pb2.HttpProtocolOptions
) -> cluster_pb2.Cluster:
    packed = any_pb2.Any()
    packed.Pack(options, deterministic=True)
    limits = circuit_breaker_pb2.CircuitBreakers.Thresholds(
        max_connections={"value": UNLIMITED},
        max_pending_requests={"value": UNLIMITED},
        max_requests={"value": UNLIMITED},
        max_retries={"value": UNLIMITED},
    )
    return cluster_pb2.Cluster(
        name=name,
        connect_timeout={"seconds": CONNECT_SECONDS},
        circuit_breakers=circuit_breaker_pb2.CircuitBreakers(thresholds=[limits]),
        typed_extension_protocol_options={_OPTIONS: packed},
    )


def _common() -> protocol_pb2.HttpProtocolOptions:
    return protocol_pb2.HttpProtocolOptions(
        max_headers_count={"value": UNLIMITED},
        max_response_headers_kb={"value": MAX_HEADERS_KB},
    )


def _http1() -> http_protocol_options_pb2.HttpProtocolOptions:
    options = http_protocol_options_pb2.HttpProtocolOptions(common_http_protocol_options=_common())
    http1 = protocol_pb2.Http1ProtocolOptions(allow_chunked_length=True)
    options.explicit_http_config.http_protocol_options.CopyFrom(http1)
    return options


def _http2() -> http_protocol_options_pb2.HttpProtocolOptions:
    options = http_protocol_options_pb2.HttpProtocolOptions(common_http_protocol_options=_common())
    options.explicit_http_config.http2_protocol_options.SetInParent()
    return options


def _same_protocol() -> http_protocol_options_pb2.HttpProtocolOptions:
    """What the client speaks, so that upgrades and gRPC pass a hop unchanged."""
    options = http_protocol_options_pb2.HttpProtocolOptions(common_http_protocol_options=_common())
    options.use_downstream_protocol_config.http_protocol_options.SetInParent()
    options.use_downstream_protocol_config.http2_protocol_options.SetInParent()
    return options


def _hop(name: str) -> endpoint_pb2.ClusterLoadAssignment:
    inside = address_pb2.EnvoyInternalAddress(server_listener_name=names.LOCAL)
    address = address_pb2.Address(envoy_internal_address=inside)
    return endpoint_pb2.ClusterLoadAssignment(cluster_name=name, endpoints=[_locality([address])])


def _locality(
    addresses: Iterable[address_pb2.Address],
) -> endpoint_components_pb2.LocalityLbEndpoints:
    return endpoint_components_pb2.LocalityLbEndpoints(
        locality=base_pb2.Locality(),
        lb_endpoints=[
            endpoint_components_pb2.LbEndpoint(
                endpoint=endpoint_components_pb2.Endpoint(address=address)
            )
            for address in addresses
        ],
    )


def _socket(address: Address) -> address_pb2.SocketAddress:
    return address_pb2.SocketAddress(address=address.host, port_value=address.port)
