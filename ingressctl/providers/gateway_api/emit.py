"""Routes to HTTPRoutes (shape: spec/kserve-ingress.md 10).

One HTTPRoute a group of hosts: rules of an HTTPRoute hold for all its hostnames.
"""

from __future__ import annotations

from typing import Any

from ingressctl.api import dns
from ingressctl.core import emitting
from ingressctl.core.model import (
    Entry,
    External,
    Group,
    HeaderMatch,
    Match,
    RewriteHost,
    RewritePath,
    Route,
    Rule,
    SetHeaders,
    Split,
)

API_VERSION = "gateway.networking.k8s.io/v1"
GROUP = "gateway.networking.k8s.io"
ANYTHING = "^/.*$"


def object_name(route: Route, group: Group) -> str:
    """The HTTPRoute of a group: the route's name, with the group's suffix if it has one."""
    if not group.suffix:
        return route.ref.name
    return dns.cut(f"{route.ref.name}-{group.suffix}", dns.SUBDOMAIN_LIMIT)


def http_route(route: Route, group: Group, *, regex_paths: bool) -> dict[str, Any]:
    """The HTTPRoute of one group. Without `regex_paths` no rule uses an expression (F11)."""
    obj = emitting.frame(API_VERSION, "HTTPRoute", route, name=object_name(route, group))
    obj["spec"] = {
        "parentRefs": [_parent(entry) for entry in group.entries if entry.kind == "gateway"],
        "hostnames": [host.name for host in group.hosts if host.name != "*"],
        "rules": [_rule(rule, route.ref.namespace, regex_paths) for rule in group.rules],
    }
    return obj


def _parent(entry: Entry) -> dict[str, Any]:
    namespace, _, name = entry.name.rpartition("/")
    parent: dict[str, Any] = {
        "group": GROUP,
        "kind": "Gateway",
        "namespace": namespace,
        "name": name,
    }
    if entry.listener:
        parent["sectionName"] = entry.listener
    if entry.port:
        parent["port"] = entry.port
    return parent


def _rule(rule: Rule, namespace: str, regex_paths: bool) -> dict[str, Any]:
    body: dict[str, Any] = {
        "matches": [_match(match, regex_paths) for match in rule.matches],
        "filters": _filters(rule),
        "backendRefs": [_backend(split, namespace) for split in rule.splits],
    }
    if rule.timeout:
        body["timeouts"] = {"request": rule.timeout}
    return body


def _match(match: Match, regex_paths: bool) -> dict[str, Any]:
    body: dict[str, Any] = {"path": _path(match, regex_paths)}
    if match.headers:
        body["headers"] = [_header(header) for header in match.headers]
    if match.method:
        body["method"] = match.method
    return body


_PATH_TYPES = {"exact": "Exact", "prefix": "PathPrefix", "regex": "RegularExpression"}


def _path(match: Match, regex_paths: bool) -> dict[str, str]:
    if match.path is not None:
        return {"type": _PATH_TYPES[match.path.kind], "value": match.path.value}
    if regex_paths:
        return {"type": "RegularExpression", "value": ANYTHING}
    return {"type": "PathPrefix", "value": "/"}


def _header(header: HeaderMatch) -> dict[str, str]:
    kinds = {"exact": "Exact", "regex": "RegularExpression"}
    value = {"present": ".*", "prefix": f"{header.value}.*"}.get(header.kind, header.value)
    return {
        "type": kinds.get(header.kind, "RegularExpression"),
        "name": header.name,
        "value": value,
    }


def _filters(rule: Rule) -> list[dict[str, Any]]:
    filters: list[dict[str, Any]] = []
    rewrite: dict[str, Any] = {}
    for item in rule.filters:
        if isinstance(item, SetHeaders):
            modifier: dict[str, Any] = {
                "set": [{"name": name, "value": value} for name, value in item.headers]
            }
            if item.remove:
                modifier["remove"] = list(item.remove)
            filters.append({"type": "RequestHeaderModifier", "requestHeaderModifier": modifier})
        elif isinstance(item, RewriteHost):
            rewrite["hostname"] = item.host
        elif isinstance(item, RewritePath):
            rewrite["path"] = _rewrite_path(item)
    if rewrite:
        filters.append({"type": "URLRewrite", "urlRewrite": rewrite})
    return filters


def _rewrite_path(item: RewritePath) -> dict[str, str]:
    if item.kind == "prefix":
        return {"type": "ReplacePrefixMatch", "replacePrefixMatch": item.value}
    return {"type": "ReplaceFullPath", "replaceFullPath": item.value}


def _backend(split: Split, namespace: str) -> dict[str, Any]:
    name, place = backend_name(split, namespace)
    body: dict[str, Any] = {"kind": "Service", "name": name, "namespace": place}
    body["port"] = split.port
    if split.weight is not None:
        body["weight"] = split.weight
    return body


def backend_name(split: Split, namespace: str) -> tuple[str, str]:
    """Name and namespace of a split's Service; of an external one by its DNS name."""
    target = split.target
    if not isinstance(target, External):
        return target.name, target.namespace
    name, _, rest = target.host.partition(".")
    return name, rest.partition(".")[0] or namespace
