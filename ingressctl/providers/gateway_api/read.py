"""HTTPRoutes as their Gateways attach and evaluate them.

Every match of a rule becomes a rule of its own, in Gateway API's order of precedence:
path (exact, then longest prefix), method, number of headers, number of query parameters,
then the older route, its name, and the order of its rules. The rank of regular expressions
is left to implementations: Envoy Gateway asks them before prefixes, Istio after all of them,
also after /, which takes everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core.model import (
    Filter,
    HeaderMatch,
    Match,
    PathMatch,
    Redirect,
    RewriteHost,
    RewritePath,
    SetHeaders,
    Split,
)
from ingressctl.core.outcome import Finding
from ingressctl.core.table import (
    Refusal,
    Refused,
    Table,
    TableMatch,
    TableRule,
    VirtualHost,
)
from ingressctl.core.world import Reads
from ingressctl.providers.gateway_api import attach, backends
from ingressctl.providers.gateway_api.attach import GATEWAY, GROUP, Attachment

HTTP_ROUTE = (GROUP, "HTTPRoute")

Place = tuple[str, int, str, str]
"""Entry, port, scheme, host."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What an implementation decides by itself. `retries` None: it does not repeat."""

    ranks: Mapping[str, int]
    retries: int | None = None


ENVOY = Profile({"exact": 0, "regex": 1, "prefix": 2})
ISTIO = Profile({"exact": 0, "prefix": 1, "regex": 2}, retries=2)


@dataclass(slots=True)
class _Draft:
    reads: Reads
    rules: dict[Place, list[TableRule]] = field(default_factory=dict)
    listeners: dict[Place, dict[str, None]] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    findings: dict[Finding, None] = field(default_factory=dict)


def table(objects: Iterable[Raw], *, reads: Reads) -> Table:
    """The table of all HTTPRoutes among the objects."""
    draft = _Draft(reads)
    ours = [obj for obj in objects if ref_of(obj)[:2] == HTTP_ROUTE]
    for obj in sorted(ours, key=_age):
        _add(obj, draft)
    profiles = {place[0]: profile(place[0], reads) for place in draft.rules}
    hosts = tuple(
        VirtualHost(
            (place[0],),
            (place[3],),
            _sorted(rules, profiles[place[0]]),
            (place[1],) if place[1] else (),
            scheme=place[2],  # type: ignore[arg-type]
            listener=_listener(place, draft),
        )
        for place, rules in sorted(draft.rules.items(), key=lambda item: item[0][1:3])
    )
    known = tuple(f"{ref.namespace}/{ref.name}" for ref in map(ref_of, reads.list(GATEWAY)))
    return Table("gateway_api", hosts, tuple(draft.refusals), tuple(draft.findings), known)


def _listener(place: Place, draft: _Draft) -> str:
    return f"listener {' and '.join(draft.listeners[place])} of Gateway {place[0]}"


def profile(entry: str, reads: Reads) -> Profile:
    """How the implementation behind a Gateway ranks, by its class's controller name."""
    namespace, _, name = entry.partition("/")
    gateway = reads.get(Ref(*GATEWAY, namespace, name)) or {}
    class_name = str((gateway.get("spec") or {}).get("gatewayClassName") or "")
    known = reads.get(Ref(GROUP, "GatewayClass", "", class_name)) or {}
    controller = str((known.get("spec") or {}).get("controllerName") or class_name)
    return ISTIO if controller.partition("/")[0] in ("istio", "istio.io") else ENVOY


def _age(obj: Raw) -> tuple[bool, str, str, str]:
    """Older first; an object not yet created is the youngest."""
    meta = obj["metadata"]
    created = str(meta.get("creationTimestamp") or "")
    return (not created, created, str(meta.get("namespace")), str(meta.get("name")))


def _add(obj: Raw, draft: _Draft) -> None:
    rules = tuple(_rules(obj, draft))
    for attached in attach.attachments(obj, reads=draft.reads):
        if isinstance(attached, Attachment):
            for host in attached.hosts:
                place = (attached.entry, attached.port, attached.scheme, host)
                draft.rules.setdefault(place, []).extend(rules)
                draft.listeners.setdefault(place, {})[attached.listener] = None
        elif isinstance(attached, Refusal):
            draft.refusals.append(attached)
        else:
            draft.findings[attached] = None


def _sorted(rules: list[TableRule], by: Profile) -> tuple[TableRule, ...]:
    """By precedence; the rules come by age, name and place already, and sorting is stable.

    One route that attaches to several listeners of a port is asked once.
    """
    found = [
        rule if by.retries is None else replace(rule, retries=by.retries)
        for rule in dict.fromkeys(rules)
    ]
    return tuple(sorted(found, key=lambda rule: _precedence(rule.matches[0], by)))


def _precedence(match: TableMatch, by: Profile) -> tuple[int, ...]:
    path = match.match.path or PathMatch("prefix", "/")
    headers, query = len(match.match.headers), len(match.query)
    return (
        by.ranks[path.kind],
        -len(path.value),
        not match.match.method,
        -headers,
        -query,
    )


def _rules(obj: Raw, draft: _Draft) -> Iterator[TableRule]:
    ref = ref_of(obj)
    for place, rule in enumerate((obj.get("spec") or {}).get("rules") or ()):
        found = tuple(backends.read(rule, ref, reads=draft.reads))
        splits = tuple(item for item in found if isinstance(item, Split))
        refused = tuple(item for item in found if isinstance(item, Refused))
        filters = tuple(_filters(rule))
        served = any(split.weight for split in splits) or any(bad.split.weight for bad in refused)
        name = str(rule.get("name") or f"rules[{place}]")
        matches = rule.get("matches") or [{}]
        for position, raw in enumerate(matches):
            yield TableRule(
                source=ref,
                name=f"{name}.matches[{position}]" if len(matches) > 1 else name,
                matches=(_match(raw),),
                splits=splits,
                filters=filters,
                timeout=_timeout(rule),
                direct_status=0 if served else backends.STATUS,
                refused=refused,
                note=", ".join(_not_evaluated(rule)),
            )


def _timeout(rule: Mapping[str, Any]) -> str:
    timeouts = rule.get("timeouts") or {}
    return str(timeouts.get("request") or timeouts.get("backendRequest") or "")


_PATHS = {"Exact": "exact", "PathPrefix": "prefix", "RegularExpression": "regex"}


def _match(raw: Mapping[str, Any]) -> TableMatch:
    path = raw.get("path") or {}
    kind = _PATHS.get(path.get("type") or "PathPrefix", "prefix")
    headers = tuple(_value(item) for item in raw.get("headers") or ())
    query = tuple(_value(item) for item in raw.get("queryParams") or ())
    value = str(path.get("value") or "/")
    everything = kind == "prefix" and value == "/"
    return TableMatch(
        match=Match(
            None if everything else PathMatch(kind, value),  # type: ignore[arg-type]
            headers,
            str(raw.get("method") or ""),
        ),
        query=query,
    )


def _value(item: Mapping[str, Any]) -> HeaderMatch:
    regex = item.get("type") == "RegularExpression"
    return HeaderMatch(str(item.get("name")), "regex" if regex else "exact", str(item.get("value")))


def _filters(rule: Mapping[str, Any]) -> Iterator[Filter]:
    for item in rule.get("filters") or ():
        modifier = item.get("requestHeaderModifier")
        rewrite = item.get("urlRewrite") or {}
        if modifier:
            yield SetHeaders(
                _pairs(modifier.get("set")),
                tuple(modifier.get("remove") or ()),
                _pairs(modifier.get("add")),
            )
        if rewrite.get("hostname"):
            yield RewriteHost(str(rewrite["hostname"]))
        if rewrite.get("path"):
            yield _rewrite(rewrite["path"])
        if item.get("requestRedirect") is not None:
            yield _redirect(item["requestRedirect"])


def _pairs(items: Iterable[Mapping[str, Any]] | None) -> tuple[tuple[str, str], ...]:
    return tuple((str(item.get("name")), str(item.get("value"))) for item in items or ())


def _rewrite(path: Mapping[str, Any]) -> RewritePath:
    if path.get("type") == "ReplacePrefixMatch":
        return RewritePath("prefix", str(path.get("replacePrefixMatch") or "/"))
    return RewritePath("full", str(path.get("replaceFullPath") or "/"))


def _redirect(raw: Mapping[str, Any]) -> Redirect:
    path = raw.get("path") or {}
    return Redirect(
        scheme=str(raw.get("scheme") or ""),
        host=str(raw.get("hostname") or ""),
        port=int(raw.get("port") or 0),
        status=int(raw.get("statusCode") or 302),
        path=str(path.get("replaceFullPath") or path.get("replacePrefixMatch") or ""),
    )


_KNOWN_FILTERS = frozenset(
    {"RequestHeaderModifier", "ResponseHeaderModifier", "URLRewrite", "RequestRedirect"}
)


def _not_evaluated(rule: Mapping[str, Any]) -> Iterator[str]:
    kinds = (str(item.get("type")) for item in rule.get("filters") or ())
    yield from sorted({kind for kind in kinds if kind not in _KNOWN_FILTERS})
    if rule.get("sessionPersistence"):
        yield "sessionPersistence"
