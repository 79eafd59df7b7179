"""Routes to VirtualServices (shape: spec/kserve-ingress.md 7).

One VirtualService a route. Rules that are equal under several groups of hosts become one
http route whose matches name host and gateways, as KServe writes them.
"""

from __future__ import annotations

import re
from typing import Any

from ingressctl.core import emitting
from ingressctl.core.model import (
    Entry,
    External,
    Group,
    Host,
    Match,
    PathMatch,
    RewriteHost,
    RewritePath,
    Route,
    Rule,
    SetHeaders,
    Split,
)
from ingressctl.core.naming import internal_host
from ingressctl.core.world import Reads

API_VERSION = "networking.istio.io/v1beta1"


def virtual_service(route: Route, *, reads: Reads) -> dict[str, Any]:
    """The VirtualService of a route with at least one group."""
    obj = emitting.frame(API_VERSION, "VirtualService", route)
    obj["spec"] = {
        "hosts": list(dict.fromkeys(host.name for host in route.hosts())),
        "gateways": list(dict.fromkeys(_gateways(route.groups))),
        "http": [_http(rule, groups, reads) for rule, groups in _rules(route.groups)],
    }
    return obj


def external_name(route: Route) -> dict[str, Any]:
    """The Service ``<name>`` that resolves to the local gateway (spec 8)."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": route.ref.name,
            "namespace": route.ref.namespace,
            "ownerReferences": [route.owner.reference()],
        },
        "spec": {
            "type": "ExternalName",
            "externalName": route.alias,
            "sessionAffinity": "None",
        },
    }


def _gateways(groups: tuple[Group, ...]) -> list[str]:
    return [gateway(entry) for group in groups if not group.dead for entry in group.entries]


def gateway(entry: Entry) -> str:
    """How VirtualService names an entry."""
    return "mesh" if entry.kind == "mesh" else entry.name


def _rules(groups: tuple[Group, ...]) -> list[tuple[Rule, list[Group]]]:
    """Each distinct rule with the groups it is under, in order of first appearance."""
    merged: dict[Rule, list[Group]] = {}
    for group in groups:
        for rule in group.rules:
            merged.setdefault(rule, []).append(group)
    return list(merged.items())


def _http(rule: Rule, groups: list[Group], reads: Reads) -> dict[str, Any]:
    http: dict[str, Any] = {
        "match": [
            entry
            for group in groups
            for host in group.hosts
            for match in rule.matches
            for entry in _matches(group, host, match, reads)
        ],
        "route": [_destination(split, reads) for split in rule.splits],
    }
    headers = _headers(rule)
    if headers:
        http["headers"] = {"request": {"set": headers}}
    rewrite = rule.filter(RewritePath)
    if rewrite is not None:
        http["rewrite"] = _rewrite(rewrite)
    if rule.timeout:
        http["timeout"] = rule.timeout
    if rule.retries is not None:
        http["retries"] = {"attempts": rule.retries.attempts}
    return http


def _matches(group: Group, host: Host, match: Match, reads: Reads) -> list[dict[str, Any]]:
    base: dict[str, Any] = {"gateways": [gateway(entry) for entry in group.entries]}
    if host.kind != "wildcard":
        base["authority"] = {"regex": authority(host.name, any_case=reads.differs("Q2"))}
    if match.headers:
        base["headers"] = {
            header.name: {} if header.kind == "present" else {header.kind: header.value}
            for header in match.headers
        }
    if match.method:
        base["method"] = {"exact": match.method}
    if match.path is None:
        return [base]
    return [{**base, "uri": uri} for uri in _uris(match.path)]


def authority(host: str, *, any_case: bool) -> str:
    """The expression for a Host header with or without port (spec 4)."""
    flag = "(?i)" if any_case else ""
    return rf"{flag}^{re.escape(host).replace(chr(92) + '-', '-')}(?::\d{{1,5}})?$"


def _uris(path: PathMatch) -> list[dict[str, str]]:
    """A prefix by element is a prefix with a slash, and the bare path."""
    if path.kind != "prefix":
        return [{path.kind: path.value}]
    bare = path.value.rstrip("/")
    if not bare:
        return [{"prefix": "/"}]
    return [{"prefix": bare + "/"}, {"exact": bare}]


def _rewrite(rewrite: RewritePath) -> dict[str, Any]:
    if rewrite.kind == "regex":
        return {"uriRegexRewrite": {"match": rewrite.pattern, "rewrite": rewrite.value}}
    return {"uri": rewrite.value}


def _headers(rule: Rule) -> dict[str, str]:
    values: dict[str, str] = {}
    host = rule.filter(RewriteHost)
    if host is not None:
        values["Host"] = host.host
    for item in rule.filters:
        if isinstance(item, SetHeaders):
            values.update(item.headers)
    return values


def _destination(split: Split, reads: Reads) -> dict[str, Any]:
    target = split.target
    host = (
        target.host
        if isinstance(target, External)
        else internal_host(target.name, target.namespace, reads.settings.cluster_domain)
    )
    body: dict[str, Any] = {"destination": {"host": host, "port": {"number": split.port}}}
    body["weight"] = 100 if split.weight is None else split.weight
    if split.headers:
        body["headers"] = {"request": {"set": dict(split.headers)}}
    return body
