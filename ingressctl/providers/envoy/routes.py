"""Rules to Envoy routes, and hosts to route configurations.

A table a host: a change of one among thousands is one small message, and Envoy swaps one
small table (a single big table costs it a rebuild of everything). Tables are found by scope,
that is by the exact Host; see listeners.py for every other spelling of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from envoy.config.core.v3 import base_pb2
from envoy.config.route.v3 import route_components_pb2 as components
from envoy.config.route.v3 import route_pb2, scoped_route_pb2
from google.protobuf import any_pb2, duration_pb2

from ingressctl.api.refs import Ref
from ingressctl.core.model import (
    External,
    Match,
    Redirect,
    RewriteHost,
    RewritePath,
    Rule,
    SetHeaders,
    Split,
)
from ingressctl.providers.envoy import durations, matches, names, rewrites
from ingressctl.providers.envoy.facts import Facts
from ingressctl.providers.envoy.places import Place, Tenant

SAFE_RETRIES = "connect-failure,refused-stream,reset-before-request"
"""Failures before the model saw anything of the request: repeating cannot do harm."""

NO_BACKEND = 500
"""What a rule without a backend answers, as Gateway API demands."""

METADATA = "ingressctl"
_GRPC = re.compile(r"application/grpc")
_DISABLED = any_pb2.Any()
_DISABLED.Pack(components.FilterConfig(disabled=True), deterministic=True)


def route_configuration(
    place: Place, hosts: Iterable[tuple[str, tuple[Tenant, ...]]], facts: Facts
) -> route_pb2.RouteConfiguration:
    """The table of one host, or of all wildcard hosts of a listener."""
    wild = place.wildcard
    return route_pb2.RouteConfiguration(
        name=names.route_configuration(place.listener, place.host),
        virtual_hosts=[
            _virtual_host(host, host if wild else "*", tenants, facts) for host, tenants in hosts
        ],
        vhost_header=names.HOST_HEADER if wild else "",
        request_headers_to_remove=[names.ENTRY_HEADER] if place.listener == names.LOCAL else [],
        # Only requests that found no table by their Host run through these filters.
        typed_per_filter_config=dict.fromkeys(names.FALLBACKS, _DISABLED),
    )


def scope(place: Place) -> scoped_route_pb2.ScopedRouteConfiguration:
    """What leads from a Host to its table."""
    name = names.route_configuration(place.listener, place.host)
    key = scoped_route_pb2.ScopedRouteConfiguration.Key
    texts = [place.host] if place.listener == names.PUBLIC else [place.host, place.listener]
    return scoped_route_pb2.ScopedRouteConfiguration(
        name=name,
        route_configuration_name=name,
        key=key(fragments=[key.Fragment(string_key=text) for text in texts]),
    )


def _virtual_host(
    name: str, domain: str, tenants: tuple[Tenant, ...], facts: Facts
) -> components.VirtualHost:
    entries = dict.fromkeys(entry.name for tenant in tenants for entry in tenant.group.entries)
    host = components.VirtualHost(
        name=name,
        domains=[domain],
        routes=[route for tenant in tenants for route in _routes(tenant, facts)],
    )
    host.metadata.filter_metadata[METADATA]["entries"] = ",".join(entries)
    if not (host.routes and _takes_all(host.routes[-1].match)):
        host.routes.append(_direct(names.NO_RULE, components.RouteMatch(prefix="/"), 404))
    return host


def _takes_all(match: components.RouteMatch) -> bool:
    return bool(match.prefix == "/" and not match.headers)


def _routes(tenant: Tenant, facts: Facts) -> Iterator[components.Route]:
    source = tenant.route.owner.ref
    for rule in tenant.group.rules:
        for match in rule.matches:
            yield _route(rule, match, source, facts)


def _route(rule: Rule, match: Match, source: Ref, facts: Facts) -> components.Route:
    name, matcher = names.route(source, rule.name), matches.make(match)
    redirect = rule.filter(Redirect)
    if redirect is not None:
        return components.Route(name=name, match=matcher, redirect=_redirect(redirect))
    splits = [split for split in rule.splits if split.weight != 0]
    if not splits:
        return _direct(name, matcher, NO_BACKEND)
    route = components.Route(
        name=name,
        match=matcher,
        route=_action(rule, match, facts),
        request_headers_to_add=_set_headers(rule),
        request_headers_to_remove=_removed(rule),
    )
    roles = [split.role for split in rule.splits]
    if any(role != "stable" for role in roles):
        route.metadata.filter_metadata[METADATA]["roles"] = ",".join(roles)
    return route


def _direct(name: str, match: components.RouteMatch, status: int) -> components.Route:
    response = components.DirectResponseAction(status=status)
    return components.Route(name=name, match=match, direct_response=response)


def _redirect(redirect: Redirect) -> components.RedirectAction:
    codes = {302: "FOUND", 303: "SEE_OTHER", 307: "TEMPORARY_REDIRECT", 308: "PERMANENT_REDIRECT"}
    return components.RedirectAction(
        scheme_redirect=redirect.scheme,
        host_redirect=redirect.host,
        port_redirect=redirect.port,
        path_redirect=redirect.path,
        response_code=codes.get(redirect.status, "MOVED_PERMANENTLY"),
    )


def _action(rule: Rule, match: Match, facts: Facts) -> components.RouteAction:
    action = components.RouteAction(
        timeout=duration(rule.timeout),
        retry_policy=_retries(rule),
        host_rewrite_literal=_host(rule),
    )
    splits = [split for split in rule.splits if split.weight != 0]
    if len(splits) == 1 and not splits[0].headers:
        action.cluster = upstream(splits[0], rule, facts).name
    else:
        action.weighted_clusters.clusters.extend(_weighted(split, rule, facts) for split in splits)
    rewrite = rule.filter(RewritePath)
    if rewrite is not None:
        rewrites.put(action, rewrite, match.path)
    return action


def duration(text: str) -> duration_pb2.Duration:
    """A Go duration; none given means no limit, since nobody asked for one."""
    result = duration_pb2.Duration()
    result.FromNanoseconds(durations.nanoseconds(text) if text else 0)
    return result


def _retries(rule: Rule) -> components.RetryPolicy:
    wanted = rule.retries
    if wanted is None or not wanted.attempts:
        return components.RetryPolicy(retry_on=SAFE_RETRIES, num_retries={"value": 2})
    reasons = ",".join(wanted.on) or SAFE_RETRIES
    return components.RetryPolicy(retry_on=reasons, num_retries={"value": wanted.attempts})


def _weighted(split: Split, rule: Rule, facts: Facts) -> components.WeightedCluster.ClusterWeight:
    return components.WeightedCluster.ClusterWeight(
        name=upstream(split, rule, facts).name,
        weight={"value": 1 if split.weight is None else split.weight},
        request_headers_to_add=[_set(name, value) for name, value in split.headers],
    )


def upstream(split: Split, rule: Rule, facts: Facts) -> names.Upstream:
    """The cluster of a split. HTTP/2 by the port's protocol, or by a rule for gRPC alone."""
    target = split.target
    if isinstance(target, External):
        return names.Upstream(target, split.port, h2=False)
    return names.Upstream(target, split.port, _is_grpc(rule) or facts.h2(target, split.port))


def _is_grpc(rule: Rule) -> bool:
    return all(
        any(
            header.name.lower() == "content-type" and _GRPC.search(header.value)
            for header in match.headers
        )
        for match in rule.matches
    )


def _set(name: str, value: str, *, add: bool = False) -> base_pb2.HeaderValueOption:
    option = base_pb2.HeaderValueOption
    action = option.APPEND_IF_EXISTS_OR_ADD if add else option.OVERWRITE_IF_EXISTS_OR_ADD
    # A percent sign starts a substitution in Envoy; doubled it is itself.
    header = base_pb2.HeaderValue(key=name, value=value.replace("%", "%%"))
    return base_pb2.HeaderValueOption(header=header, append_action=action, keep_empty_value=True)


def _set_headers(rule: Rule) -> list[base_pb2.HeaderValueOption]:
    added = (item.add for item in rule.filters if isinstance(item, SetHeaders))
    return [
        *(_set(name, value) for name, value in _headers(rule) if not _is_host(name)),
        *(_set(name, value, add=True) for pairs in added for name, value in pairs),
    ]


def _headers(rule: Rule) -> Iterator[tuple[str, str]]:
    for item in rule.filters:
        if isinstance(item, SetHeaders):
            yield from item.headers


def _removed(rule: Rule) -> list[str]:
    return [name for item in rule.filters if isinstance(item, SetHeaders) for name in item.remove]


def _is_host(name: str) -> bool:
    return name.lower() in ("host", ":authority")


def _host(rule: Rule) -> str:
    """The rewritten Host, "" to leave the client's."""
    rewrite = rule.filter(RewriteHost)
    written = [value for name, value in _headers(rule) if _is_host(name)]
    return written[-1] if written else rewrite.host if rewrite else ""
