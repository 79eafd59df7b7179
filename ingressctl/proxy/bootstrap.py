"""The little that Envoy knows when it starts: where its configuration comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_EXTENSIONS = "type.googleapis.com/envoy.extensions."
_HTTP_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"


def bootstrap(directory: Path) -> dict[str, Any]:
    """For an Envoy whose sockets lie in `directory`, which only its user may enter."""
    ads = {
        "api_type": "DELTA_GRPC",
        "transport_api_version": "V3",
        "set_node_on_first_message_only": True,
        "grpc_services": [{"envoy_grpc": {"cluster_name": "xds"}}],
    }
    source = {"resource_api_version": "V3", "ads": {}}
    return {
        "node": {"id": "ingressctl-up", "cluster": "ingressctl"},
        "admin": {"address": {"pipe": {"path": str(admin_socket(directory))}}},
        # Without these, a cluster and its statistics cost twice the time and memory.
        "cluster_manager": {"enable_deferred_cluster_creation": True},
        "deferred_stat_options": {"enable_deferred_creation_stats": True},
        "dynamic_resources": {"ads_config": ads, "cds_config": source, "lds_config": source},
        "static_resources": {"clusters": [_xds(directory)]},
        "bootstrap_extensions": [_internal_listener()],
    }


def xds_socket(directory: Path) -> Path:
    """Where the ADS server listens."""
    return directory / "xds.sock"


def admin_socket(directory: Path) -> Path:
    """Where Envoy answers questions about itself."""
    return directory / "admin.sock"


def _xds(directory: Path) -> dict[str, Any]:
    address = {"pipe": {"path": str(xds_socket(directory))}}
    endpoint = {"endpoint": {"address": address}}
    options = {
        "@type": f"type.googleapis.com/{_HTTP_OPTIONS}",
        "explicit_http_config": {"http2_protocol_options": {}},
    }
    return {
        "name": "xds",
        "type": "STATIC",
        "typed_extension_protocol_options": {_HTTP_OPTIONS: options},
        "load_assignment": {
            "cluster_name": "xds",
            "endpoints": [{"lb_endpoints": [endpoint]}],
        },
    }


def _internal_listener() -> dict[str, Any]:
    """Lets one listener of Envoy be the upstream of another without a socket."""
    kind = f"{_EXTENSIONS}bootstrap.internal_listener.v3.InternalListener"
    return {"name": "envoy.bootstrap.internal_listener", "typed_config": {"@type": kind}}
