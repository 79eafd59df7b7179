"""xDS resources back into a table, by Envoy's precedence: most specific host, first route.

Reads its own resources and those of anybody else who uses names as Envoy's examples do; a
cluster that is not named after a Service is taken as an external target.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import get_args

from envoy.config.core.v3 import base_pb2
from envoy.config.route.v3 import route_components_pb2 as components
from envoy.config.route.v3 import route_pb2

from ingressctl.core.model import (
    External,
    Filter,
    HeaderMatch,
    Match,
    PathKind,
    PathMatch,
    Redirect,
    RewriteHost,
    RewritePath,
    Role,
    SetHeaders,
    Split,
)
from ingressctl.core.table import Table, TableMatch, TableRule, VirtualHost
from ingressctl.providers.envoy import durations, names
from ingressctl.providers.envoy.routes import METADATA, SAFE_RETRIES

ADD = base_pb2.HeaderValueOption.APPEND_IF_EXISTS_OR_ADD


def table(resources: Mapping[tuple[str, str], bytes]) -> Table:
    """The table of serialised resources by (type URL, name)."""
    return of_tables(
        route_pb2.RouteConfiguration.FromString(body)
        for (kind, _), body in sorted(resources.items())
        if kind == names.ROUTES
    )


def of_tables(tables: Iterable[route_pb2.RouteConfiguration]) -> Table:
    """The table of route configurations. Our own listeners take a host in any spelling."""
    tables = tuple(tables)
    hosts = tuple(host for item in tables for host in _virtual_hosts(item))
    return Table("envoy", hosts, any_spelling=any(_is_ours(item) for item in tables))


def _is_ours(item: route_pb2.RouteConfiguration) -> bool:
    listener, slash, _ = item.name.partition("/")
    return bool(slash) and listener in (names.PUBLIC, names.LOCAL)


def _virtual_hosts(item: route_pb2.RouteConfiguration) -> Iterator[VirtualHost]:
    """A table that is found by scope takes any Host: the scope's key is the host.

    Entries are those that the routes were written for; without any, the listener.
    """
    listener, slash, key = item.name.partition("/")
    scoped = _is_ours(item) and key != names.WILDCARDS
    for host in item.virtual_hosts:
        entries = tuple(filter(None, _written(host.metadata, "entries").split(",")))
        hosts = (key,) if scoped else tuple(host.domains)
        rules = (_rule(route) for route in host.routes if route.name != names.NO_RULE)
        yield VirtualHost(entries or ((listener,) if slash else ()), hosts, tuple(rules))


def _written(metadata: object, key: str) -> str:
    found = getattr(metadata, "filter_metadata", {})
    if METADATA not in found or key not in found[METADATA].fields:
        return ""
    return str(found[METADATA].fields[key].string_value)


def _rule(route: components.Route) -> TableRule:
    source, name = names.parse_route(route.name)
    return TableRule(
        source=source,
        name=name,
        matches=(_table_match(route),),
        splits=tuple(_splits(route)),
        filters=tuple(_filters(route)),
        timeout=durations.text(route.route.timeout.ToNanoseconds())
        if route.route.HasField("timeout")
        else "",
        retries=_retries(route.route.retry_policy),
        direct_status=route.direct_response.status,
    )


def _retries(policy: components.RetryPolicy) -> int:
    """How often a request is sent again that the model may have seen."""
    return 0 if policy.retry_on in ("", SAFE_RETRIES) else policy.num_retries.value or 1


def _table_match(route: components.Route) -> TableMatch:
    """Envoy's plain prefix is by character, and so is a rewrite of it."""
    match = _match(route.match)
    if match.path is None and route.route.prefix_rewrite:
        match = Match(PathMatch("prefix", "/"), match.headers, match.method)
    by_character = route.match.WhichOneof("path_specifier") == "prefix"
    return TableMatch(match, prefix="character" if by_character else "element")


def _match(match: components.RouteMatch) -> Match:
    headers = [_header(header) for header in match.headers]
    method = next((item.value for item in headers if item.name == ":method"), "")
    rest = tuple(item for item in headers if item.name != ":method")
    return Match(_path(match), rest, method)


def _path(match: components.RouteMatch) -> PathMatch | None:
    kind = match.WhichOneof("path_specifier")
    kinds: dict[str, tuple[PathKind, str]] = {
        "path": ("exact", match.path),
        "safe_regex": ("regex", match.safe_regex.regex),
        "path_separated_prefix": ("prefix", match.path_separated_prefix),
    }
    if kind in kinds:
        return PathMatch(*kinds[kind])
    return None if match.prefix == "/" else PathMatch("prefix", match.prefix)


def _header(header: components.HeaderMatcher) -> HeaderMatch:
    text = header.string_match
    kind = text.WhichOneof("match_pattern")
    if kind == "exact":
        return HeaderMatch(header.name, "exact", text.exact)
    if kind == "prefix":
        return HeaderMatch(header.name, "prefix", text.prefix)
    if kind == "safe_regex":
        return HeaderMatch(header.name, "regex", text.safe_regex.regex)
    return HeaderMatch(header.name, "present")


def _splits(route: components.Route) -> Iterator[Split]:
    action = route.route
    if route.WhichOneof("action") != "route":
        return
    roles = _roles(route)
    if action.cluster:
        yield _split(action.cluster, None, (), next(roles))
        return
    for item in action.weighted_clusters.clusters:
        headers = tuple(_pairs(item.request_headers_to_add))
        yield _split(item.name, item.weight.value, headers, next(roles))


def _roles(route: components.Route) -> Iterator[Role]:
    """The role of each split in turn; unknown texts and missing ones are stable."""
    known: dict[str, Role] = {role: role for role in get_args(Role)}
    for text in _written(route.metadata, "roles").split(","):
        yield known.get(text, "stable")
    while True:
        yield "stable"


def _split(
    cluster: str, weight: int | None, headers: tuple[tuple[str, str], ...], role: Role
) -> Split:
    try:
        upstream = names.upstream(cluster)
    except ValueError:
        return Split(External(cluster), 0, weight, headers, role)
    return Split(upstream.target, upstream.port, weight, headers, role)


def _pairs(options: Iterable[base_pb2.HeaderValueOption]) -> Iterator[tuple[str, str]]:
    for option in options:
        yield option.header.key, option.header.value.replace("%%", "%")


def _filters(route: components.Route) -> Iterator[Filter]:
    action = route.route
    if route.WhichOneof("action") == "redirect":
        yield _redirect(route.redirect)
        return
    rewrite = _rewrite(action)
    if rewrite is not None:
        yield rewrite
    if action.host_rewrite_literal:
        yield RewriteHost(action.host_rewrite_literal)
    written = route.request_headers_to_add
    replacing = tuple(_pairs(option for option in written if option.append_action != ADD))
    adding = tuple(_pairs(option for option in written if option.append_action == ADD))
    removed = tuple(route.request_headers_to_remove)
    if replacing or adding or removed:
        yield SetHeaders(replacing, removed, adding)


def _redirect(redirect: components.RedirectAction) -> Redirect:
    status = {0: 301, 1: 302, 2: 303, 3: 307, 4: 308}[redirect.response_code]
    return Redirect(
        redirect.scheme_redirect,
        redirect.host_redirect,
        redirect.port_redirect,
        status,
        redirect.path_redirect,
    )


def _rewrite(action: components.RouteAction) -> RewritePath | None:
    if action.prefix_rewrite:
        return RewritePath("prefix", action.prefix_rewrite)
    if action.regex_rewrite.pattern.regex:
        pattern = action.regex_rewrite.pattern.regex
        return RewritePath("regex", action.regex_rewrite.substitution, pattern)
    return None
