"""The two listeners and their filters.

Tables are found by scope: the Host up to a colon, compared letter by letter. That is fast
and leaves the Host as it is, but three kinds of request find no table so: Hosts with
capitals (host names have no case), names under ``.localhost`` (which browsers resolve to this
machine), and hosts that only a wildcard takes. For these alone two Lua filters look again
under another spelling and put the Host back, so that the model sees what the client sent.
Every table switches the filters off for itself, so a request that found one at once pays
nothing. Two filters, because a filter's second look-up in one run does not select a scope
again.

Paths are normalised before routing and forwarded so (`..` and its encodings are resolved);
``%2F`` stays as it is on both sides, for model names hold it. All clients are foreign:
headers by which Envoy takes orders (``x-envoy-*``) are dropped.
"""

from __future__ import annotations

from envoy.config.common.mutation_rules.v3 import mutation_rules_pb2
from envoy.config.core.v3 import address_pb2, base_pb2, extension_pb2, protocol_pb2
from envoy.config.listener.v3 import listener_components_pb2, listener_pb2
from envoy.extensions.filters.http.lua.v3 import lua_pb2
from envoy.extensions.filters.http.router.v3 import router_pb2
from envoy.extensions.filters.network.http_connection_manager.v3 import (
    http_connection_manager_pb2 as manager,
)
from envoy.extensions.http.early_header_mutation.header_mutation.v3 import header_mutation_pb2
from google.protobuf import any_pb2, message

from ingressctl.providers.envoy import clusters, names

EVERYWHERE = "::"
NOBODY = "255.255.255.255"

_SPELLING = r"""
local function spelling(sent)
  local host = string.lower(string.match(sent, "^[^:]*"))
  host = string.match(host, "^(.*)%.$") or host
  return string.match(host, "^(.+)%.localhost$") or host
end

local function look_up(handle, headers, key)
  local sent = headers:get(":authority")
  headers:replace(":authority", key)
  handle:clearRouteCache()
  handle:metadata()
  headers:replace(":authority", sent)
end
"""

ANY_SPELLING = (
    _SPELLING
    + """
function envoy_on_request(handle)
  local headers = handle:headers()
  look_up(handle, headers, spelling(headers:get(":authority") or ""))
end
"""
)

WILDCARDS = (
    _SPELLING
    + f"""
function envoy_on_request(handle)
  if handle:streamInfo():routeName() ~= "" then return end
  local headers = handle:headers()
  headers:replace("{names.HOST_HEADER}", spelling(headers:get(":authority") or ""))
  look_up(handle, headers, "{names.WILDCARDS}")
  headers:remove("{names.HOST_HEADER}")
end
"""
)


def public(port: int, address: str = "127.0.0.1") -> listener_pb2.Listener:
    """What clients reach. The port is never shared with another process; `::` takes clients
    of both families."""
    socket = address_pb2.SocketAddress(
        address=address, port_value=port, ipv4_compat=address == EVERYWHERE
    )
    listener = _listener(names.PUBLIC)
    listener.address.socket_address.CopyFrom(socket)
    listener.enable_reuse_port.value = False
    return listener


def local() -> listener_pb2.Listener:
    """Where hops of our own arrive: inside Envoy, out of reach for anybody else."""
    listener = _listener(names.LOCAL)
    listener.internal_listener.SetInParent()
    return listener


def _listener(name: str) -> listener_pb2.Listener:
    connections = _packed(_manager(name))
    chain = listener_components_pb2.FilterChain(
        filters=[listener_components_pb2.Filter(name="http", typed_config=connections)]
    )
    return listener_pb2.Listener(name=name, filter_chains=[chain])


def _manager(name: str) -> manager.HttpConnectionManager:
    http = manager.HttpConnectionManager
    result = http(
        stat_prefix=name,
        scoped_routes=_scoped_routes(name),
        http_filters=_filters(),
        # Only the first hop meets foreign clients.
        use_remote_address={"value": name == names.PUBLIC},
        skip_xff_append=name != names.PUBLIC,
        # An empty list would mean private networks and loopback; this address has no host.
        internal_address_config=http.InternalAddressConfig(
            cidr_ranges=[address_pb2.CidrRange(address_prefix=NOBODY, prefix_len={"value": 32})]
        ),
        normalize_path={"value": True},
        path_with_escaped_slashes_action=http.KEEP_UNCHANGED,
        preserve_external_request_id=True,
        server_header_transformation=http.PASS_THROUGH,
        upgrade_configs=[http.UpgradeConfig(upgrade_type="websocket")],
    )
    _lift_limits(result)
    if name == names.LOCAL:
        result.early_header_mutation_extensions.append(_mark(name))
    return result


def _lift_limits(result: manager.HttpConnectionManager) -> None:
    """No time limit on streams, no narrow limit on headers."""
    result.stream_idle_timeout.SetInParent()
    result.request_timeout.SetInParent()
    result.max_request_headers_kb.value = clusters.MAX_HEADERS_KB
    result.common_http_protocol_options.CopyFrom(
        protocol_pb2.HttpProtocolOptions(max_headers_count={"value": clusters.UNLIMITED})
    )
    result.common_http_protocol_options.idle_timeout.SetInParent()


def _scoped_routes(name: str) -> manager.ScopedRoutes:
    builder = manager.ScopedRoutes.ScopeKeyBuilder
    extractor = builder.FragmentBuilder.HeaderValueExtractor
    parts = [extractor(name=":authority", element_separator=":", index=0)]
    if name == names.LOCAL:
        parts.append(extractor(name=names.ENTRY_HEADER, element_separator=",", index=0))
    return manager.ScopedRoutes(
        name=name,
        scope_key_builder=builder(
            fragments=[builder.FragmentBuilder(header_value_extractor=part) for part in parts]
        ),
        rds_config_source=clusters.ads(),
        scoped_rds=manager.ScopedRds(scoped_rds_config_source=clusters.ads()),
    )


def _filters() -> list[manager.HttpFilter]:
    scripts = zip(names.FALLBACKS, (ANY_SPELLING, WILDCARDS), strict=True)
    router = router_pb2.Router(suppress_envoy_headers=True)
    return [
        *(
            manager.HttpFilter(name=name, typed_config=_packed(_lua(code)))
            for name, code in scripts
        ),
        manager.HttpFilter(name="router", typed_config=_packed(router)),
    ]


def _lua(code: str) -> lua_pb2.Lua:
    # The scripts clear the route themselves; clearing it again would undo what they found.
    return lua_pb2.Lua(
        default_source_code=base_pb2.DataSource(inline_string=code),
        clear_route_cache={"value": False},
    )


def _mark(name: str) -> extension_pb2.TypedExtensionConfig:
    """All scopes reach both listeners; those of the local one are told apart by this header."""
    option = base_pb2.HeaderValueOption(
        header=base_pb2.HeaderValue(key=names.ENTRY_HEADER, value=name),
        append_action=base_pb2.HeaderValueOption.OVERWRITE_IF_EXISTS_OR_ADD,
    )
    mutation = header_mutation_pb2.HeaderMutation(
        mutations=[mutation_rules_pb2.HeaderMutation(append=option)]
    )
    return extension_pb2.TypedExtensionConfig(name="mark", typed_config=_packed(mutation))


def _packed(content: message.Message) -> any_pb2.Any:
    result = any_pb2.Any()
    result.Pack(content, deterministic=True)
    return result
