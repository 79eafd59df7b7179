"""Objects of a templated gateway back into rules, as its `read.yaml.j2` describes them.

The template is rendered for each object and gives documents, one a rule in the order in
which the gateway evaluates them:

    hosts: [a.example.com]            entries: [name]            (none: every entry)
    name: predict                     priority: 0                (higher wins first)
    match: {path: {kind: prefix, value: /v1}, headers: [{name, kind, value}], method: ""}
    prefix: element | character       (how the gateway reads a prefix)
    backends: [{service, namespace, port, weight}]
    setHeaders: [{name, value}]       rewriteHost: ""            timeout: 60s
    rewritePath: {kind: prefix|full|regex, value, pattern}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import pydantic

from ingressctl.api import wording
from ingressctl.api.refs import Raw, Ref
from ingressctl.core.model import (
    Filter,
    HeaderMatch,
    Match,
    PathMatch,
    RewriteHost,
    RewritePath,
    Service,
    SetHeaders,
    Split,
)
from ingressctl.core.ports import Verdict
from ingressctl.core.table import Table, TableMatch, TableRule, VirtualHost
from ingressctl.providers.template.definition import Readiness
from ingressctl.providers.template.sandbox import TemplateFault


class _Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)


class _Path(_Model):
    kind: Literal["exact", "prefix", "regex"]
    value: str


class _Header(_Model):
    name: str
    kind: Literal["exact", "regex", "present", "prefix"] = "exact"
    value: str = ""


class _Match(_Model):
    path: _Path | None = None
    headers: tuple[_Header, ...] = ()
    method: str = ""


class _Backend(_Model):
    service: str
    namespace: str
    port: int
    weight: int | None = None


class _Pair(_Model):
    name: str
    value: str


class _Rewrite(_Model):
    kind: Literal["prefix", "full", "regex"]
    value: str
    pattern: str = ""


class _Rule(_Model):
    hosts: tuple[str, ...]
    backends: tuple[_Backend, ...]
    name: str = ""
    priority: int = 0
    entries: tuple[str, ...] = ()
    match: _Match = _Match()
    prefix: Literal["element", "character"] = "element"
    setHeaders: tuple[_Pair, ...] = ()
    rewriteHost: str = ""
    rewritePath: _Rewrite | None = None
    timeout: str = ""


def regex_groups(text: str, pattern: str) -> list[list[str]]:
    """All matches of `pattern` in `text`, each as the list of its groups."""
    return [list(found.groups("")) for found in re.finditer(pattern, text)]


def table(provider: str, described: Iterable[tuple[Ref, list[dict[str, Any]]]], file: str) -> Table:
    """A table with one virtual host for each host and set of entries."""
    rules: dict[tuple[str, tuple[str, ...]], list[tuple[int, TableRule]]] = {}
    for ref, documents in described:
        for document in documents:
            rule = _parse(document, ref, file)
            for host in rule.hosts:
                key = (host.lower(), rule.entries)
                rules.setdefault(key, []).append((rule.priority, _table_rule(rule, ref)))
    hosts = tuple(
        VirtualHost(entries, (host,), tuple(rule for _, rule in sorted(found, key=_rank)))
        for (host, entries), found in rules.items()
    )
    return Table(provider, hosts)


def _rank(ranked: tuple[int, TableRule]) -> int:
    return -ranked[0]


def _parse(document: Mapping[str, Any], ref: Ref, file: str) -> _Rule:
    try:
        return _Rule.model_validate(document)
    except pydantic.ValidationError as fault:
        first = fault.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        raise TemplateFault(f"{file}: for {ref}: {path}: {wording.said(first)}") from None


def _table_rule(rule: _Rule, ref: Ref) -> TableRule:
    headers = tuple(HeaderMatch(item.name, item.kind, item.value) for item in rule.match.headers)
    path = (
        None if rule.match.path is None else PathMatch(rule.match.path.kind, rule.match.path.value)
    )
    return TableRule(
        source=ref,
        name=rule.name or ref.name,
        matches=(TableMatch(Match(path, headers, rule.match.method), prefix=rule.prefix),),
        splits=tuple(
            Split(Service(item.namespace, item.service), item.port, item.weight)
            for item in rule.backends
        ),
        filters=tuple(_filters(rule)),
        timeout=rule.timeout,
    )


def _filters(rule: _Rule) -> Iterable[Filter]:
    if rule.rewritePath is not None:
        rewrite = rule.rewritePath
        yield RewritePath(rewrite.kind, rewrite.value, rewrite.pattern)
    if rule.rewriteHost:
        yield RewriteHost(rule.rewriteHost)
    if rule.setHeaders:
        yield SetHeaders(tuple((item.name, item.value) for item in rule.setHeaders))


def verdict(obj: Raw, rule: Readiness) -> Verdict:
    """What the object's status says by the condition that the definition names."""
    found: Any = obj.get("status") or {}
    for part in filter(None, rule.list.split(".")):
        found = (found or {}).get(part) if isinstance(found, Mapping) else None
    statuses = found if isinstance(found, list) else [found] if found else []
    conditions = [
        condition for status in statuses for condition in (status or {}).get("conditions") or ()
    ]
    mine = [item for item in conditions if item.get("type") == rule.condition]
    if not mine:
        return Verdict(None, f"{rule.condition}NotReported", "no router has answered yet", 1.0)
    bad = next((item for item in mine if item.get("status") != "True"), None)
    if bad is None:
        return Verdict(True)
    return Verdict(False, str(bad.get("reason") or ""), str(bad.get("message") or ""), 1.0)
