"""What a template sees of a route: plain mappings and lists, no Python objects.

The names are those of the route model (core.model). A template gets `route`, and by the
unit of its provider `group`, `host` and `rule`; the filter `objectName` cuts a name to its
limit; `targetPort` and `servicePort` cross between a Service's ports and those of its pods.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ingressctl.api.refs import Ref
from ingressctl.core.model import (
    External,
    Filter,
    Group,
    Host,
    Match,
    Redirect,
    RewriteHost,
    RewritePath,
    Route,
    Rule,
    SetHeaders,
    Split,
)
from ingressctl.core.world import Reads
from ingressctl.providers.template.definition import Unit


def units(routes: tuple[Route, ...], unit: Unit) -> Iterator[dict[str, Any]]:
    """The variables of each rendering, in a fixed order."""
    if unit == "owner":
        yield {"routes": [_route(route) for route in routes]}
        return
    for route in routes:
        shown = _route(route)
        if unit == "route":
            yield {"route": shown}
            continue
        for index, group in enumerate(route.groups):
            yield from _below(shown, group, unit, index)


def _below(
    route: dict[str, Any], group: Group, unit: Unit, group_index: int
) -> Iterator[dict[str, Any]]:
    shown = _group(group, group_index)
    if unit == "group":
        yield {"route": route, "group": shown}
        return
    for host_index, host in enumerate(group.hosts):
        values = {"route": route, "group": shown, "host": {**_host(host), "index": host_index}}
        if unit == "host":
            yield values
            continue
        for index, rule in enumerate(group.rules):
            yield {**values, "rule": _rule(rule, index)}


def _route(route: Route) -> dict[str, Any]:
    return {
        "name": route.ref.name,
        "namespace": route.ref.namespace,
        "owner": route.owner.reference(),
        "labels": dict(route.labels),
        "annotations": dict(route.annotations),
        "alias": route.alias,
        "tls": [{"hosts": list(item.hosts), "secret": item.secret} for item in route.tls],
        "groups": [_group(group, index) for index, group in enumerate(route.groups)],
    }


def _group(group: Group, index: int) -> dict[str, Any]:
    return {
        "index": index,
        "suffix": group.suffix,
        "hosts": [_host(host) for host in group.hosts],
        "entries": [
            {"kind": entry.kind, "name": entry.name, "reach": entry.reach}
            for entry in group.entries
        ],
        "rules": [_rule(rule, place) for place, rule in enumerate(group.rules)],
    }


def _host(host: Host) -> dict[str, Any]:
    return {"name": host.name, "kind": host.kind, "reach": host.reach, "origin": host.origin}


def _rule(rule: Rule, index: int) -> dict[str, Any]:
    filters: dict[str, Any] = {"headers": [], "host": "", "path": None, "redirect": None}
    for item in rule.filters:
        _add_filter(filters, item)
    return {
        "index": index,
        "name": rule.name,
        "matches": [_match(match) for match in rule.matches],
        "splits": [_split(split) for split in rule.splits],
        "timeout": rule.timeout,
        "retries": None if rule.retries is None else rule.retries.attempts,
        "reason": rule.reason,
        **filters,
    }


def _add_filter(filters: dict[str, Any], item: Filter) -> None:
    if isinstance(item, SetHeaders):
        filters["headers"] += [{"name": name, "value": value} for name, value in item.headers]
    elif isinstance(item, RewriteHost):
        filters["host"] = item.host
    elif isinstance(item, RewritePath):
        filters["path"] = {"kind": item.kind, "value": item.value, "pattern": item.pattern}
    elif isinstance(item, Redirect):
        filters["redirect"] = {
            "scheme": item.scheme,
            "host": item.host,
            "port": item.port,
            "status": item.status,
        }


def _match(match: Match) -> dict[str, Any]:
    path = None if match.path is None else {"kind": match.path.kind, "value": match.path.value}
    headers = [
        {"name": header.name, "kind": header.kind, "value": header.value}
        for header in match.headers
    ]
    return {"path": path, "headers": headers, "method": match.method}


def target_port(reads: Reads, namespace: str, service: str, port: int) -> int | str:
    """The pod's port behind a Service's port: its name if it has one, else its number.

    Gateways that go to endpoints by themselves (OpenShift) want it; the Service's own port
    comes back while the Service does not exist.
    """
    for item in _ports(reads, namespace, service):
        if item.get("port") == port:
            return str(item.get("name") or "") or item.get("targetPort") or port
    return port


def service_port(reads: Reads, namespace: str, service: str, target: int | str) -> int | str:
    """The Service's port in front of a pod's port: what `target_port` turns back."""
    for item in _ports(reads, namespace, service):
        if target in (item.get("name"), item.get("targetPort")):
            return int(item.get("port") or 0)
    return target


def _ports(reads: Reads, namespace: str, service: str) -> Iterable[Mapping[str, Any]]:
    obj = reads.get(Ref("", "Service", namespace, service)) or {}
    return (obj.get("spec") or {}).get("ports") or ()


def _split(split: Split) -> dict[str, Any]:
    target = split.target
    if isinstance(target, External):
        name, _, rest = target.host.partition(".")
        place = {"service": name, "namespace": rest.partition(".")[0], "external": True}
    else:
        place = {"service": target.name, "namespace": target.namespace, "external": False}
    return {**place, "port": split.port, "weight": split.weight, "role": split.role}
