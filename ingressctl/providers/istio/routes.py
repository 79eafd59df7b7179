"""The http routes of one VirtualService as rules, one a match."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core.model import (
    External,
    Filter,
    HeaderMatch,
    Match,
    PathMatch,
    Redirect,
    RewriteHost,
    RewritePath,
    Service,
    SetHeaders,
    Split,
    Target,
)
from ingressctl.core.outcome import Finding
from ingressctl.core.table import TableMatch, TableRule
from ingressctl.core.world import Reads
from ingressctl.providers.istio import gateways

DEFAULT_RETRIES = 2
"""Istio retries twice unless a route says otherwise."""

_KINDS = ("exact", "prefix", "regex")
_NOT_EVALUATED = ("fault", "mirror", "mirrors", "corsPolicy")

Findings = dict[Finding, None]


def rules(obj: Raw, *, reads: Reads, findings: Findings) -> tuple[TableRule, ...]:
    """Every match of every http route, in order; what cannot be judged goes to `findings`."""
    ref = ref_of(obj)
    http = (obj.get("spec") or {}).get("http") or ()
    return tuple(
        rule
        for place, route in enumerate(http)
        for rule in _route(route, str(route.get("name") or f"http[{place}]"), ref, reads, findings)
    )


def _route(
    route: Mapping[str, Any], name: str, ref: Ref, reads: Reads, findings: Findings
) -> Iterator[TableRule]:
    splits = tuple(_splits(route, ref, reads, findings))
    filters = tuple(_filters(route))
    retries = route.get("retries")
    matches = route.get("match") or [{}]
    for place, raw in enumerate(matches):
        match = _match(raw, bool(route.get("rewrite")), ref.namespace)
        if route.get("delegate"):
            match = _never(match, "hands over to a delegate, which is not followed")
            what = f"the delegate of {name}"
            findings[Finding.of("IC3304", ref, path=f"spec.{name}.delegate", what=what)] = None
        yield TableRule(
            source=ref,
            name=f"{name}.match[{place}]" if len(matches) > 1 else name,
            matches=(match,),
            splits=splits,
            filters=filters,
            timeout=str(route.get("timeout") or ""),
            retries=DEFAULT_RETRIES if retries is None else int(retries.get("attempts") or 0),
            direct_status=int((route.get("directResponse") or {}).get("status") or 0),
            note=", ".join(key for key in _NOT_EVALUATED if route.get(key)),
        )


def _never(match: TableMatch, reason: str) -> TableMatch:
    return TableMatch(match.match, match.prefix, never=reason)


def _match(raw: Mapping[str, Any], rewrites: bool, namespace: str) -> TableMatch:
    headers = [
        *_pseudo(raw, "authority"),
        *_pseudo(raw, "method"),
        *_pseudo(raw, "scheme"),
        *_headers(raw.get("headers")),
    ]
    path = _path(raw.get("uri"))
    if path is None and rewrites:
        path = PathMatch("prefix", "/")
    without, query = _headers(raw.get("withoutHeaders")), _headers(raw.get("queryParams"))
    clients = [key for key in ("sourceLabels", "sourceNamespace") if raw.get(key)]
    named = raw.get("gateways") or ()
    return TableMatch(
        match=Match(path, tuple(headers)),
        prefix="character",
        ignore_case=bool(raw.get("ignoreUriCase")),
        without=without,
        query=query,
        entries=tuple(gateways.full_name(str(name), namespace) for name in named),
        port=int(raw.get("port") or 0),
        never=f"is for clients by {' and '.join(clients)} only" if clients else "",
    )


def _path(uri: Mapping[str, Any] | None) -> PathMatch | None:
    kind = next((kind for kind in _KINDS if (uri or {}).get(kind) is not None), None)
    return None if uri is None or kind is None else PathMatch(kind, str(uri[kind]))  # type: ignore[arg-type]


def _pseudo(raw: Mapping[str, Any], part: str) -> tuple[HeaderMatch, ...]:
    return _headers({f":{part}": raw[part]}) if raw.get(part) else ()


def _headers(raw: Mapping[str, Any] | None) -> tuple[HeaderMatch, ...]:
    return tuple(_value(name, value or {}) for name, value in (raw or {}).items())


def _value(name: str, value: Mapping[str, Any]) -> HeaderMatch:
    if value.get("exact") is not None:
        return HeaderMatch(name, "exact", str(value["exact"]))
    if value.get("prefix") is not None:
        return HeaderMatch(name, "prefix", str(value["prefix"]))
    if value.get("regex") not in (None, "*"):
        return HeaderMatch(name, "regex", str(value["regex"]))
    return HeaderMatch(name, "present")


def _filters(route: Mapping[str, Any]) -> Iterator[Filter]:
    request = (route.get("headers") or {}).get("request") or {}
    rewrite = route.get("rewrite") or {}
    redirect = route.get("redirect")
    regex = rewrite.get("uriRegexRewrite")
    if redirect:
        yield _redirect(redirect)
    if rewrite.get("authority"):
        yield RewriteHost(str(rewrite["authority"]))
    if regex:
        yield RewritePath("regex", str(regex.get("rewrite") or ""), str(regex.get("match") or ""))
    elif rewrite.get("uri"):
        yield RewritePath("prefix", str(rewrite["uri"]))
    if request:
        yield SetHeaders(
            _pairs(request.get("set")),
            tuple(request.get("remove") or ()),
            _pairs(request.get("add")),
        )


def _pairs(values: Mapping[str, Any] | None) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(value)) for name, value in (values or {}).items())


def _redirect(raw: Mapping[str, Any]) -> Redirect:
    return Redirect(
        scheme=str(raw.get("scheme") or ""),
        host=str(raw.get("authority") or ""),
        port=int(raw.get("port") or 0),
        status=int(raw.get("redirectCode") or 301),
        path=str(raw.get("uri") or ""),
    )


def _splits(
    route: Mapping[str, Any], ref: Ref, reads: Reads, findings: Findings
) -> Iterator[Split]:
    backends = route.get("route") or ()
    for backend in backends:
        destination = backend.get("destination") or {}
        target = _target(str(destination.get("host") or ""), ref, reads, findings)
        port = int((destination.get("port") or {}).get("number") or 0) or _only_port(target, reads)
        request = (backend.get("headers") or {}).get("request") or {}
        weight = backend.get("weight")
        if weight is None and len(backends) > 1:
            weight = 0
        single = len(backends) == 1
        yield Split(target, port, None if single else int(weight or 0), _pairs(request.get("set")))


def _target(host: str, ref: Ref, reads: Reads, findings: Findings) -> Target:
    """A name without dots is completed by the namespace; other short names are not (F100)."""
    suffix = f".svc.{reads.settings.cluster_domain}"
    if host and "." not in host:
        return Service(ref.namespace, host)
    if host.endswith(suffix):
        name, _, namespace = host.removesuffix(suffix).partition(".")
        return Service(namespace, name) if namespace and "." not in namespace else External(host)
    name, _, namespace = host.removesuffix(".svc").partition(".")
    if reads.get(Ref("", "Service", namespace, name)) is not None:
        findings[Finding.of("IC3306", ref, host=host, full=f"{name}.{namespace}{suffix}")] = None
    return External(host)


def _only_port(target: Target, reads: Reads) -> int:
    """The port of a Service that has one; 0 where nothing says it."""
    if not isinstance(target, Service):
        return 0
    obj = reads.get(Ref("", "Service", target.namespace, target.name)) or {}
    ports: list[Any] = (obj.get("spec") or {}).get("ports") or []
    return int(ports[0].get("port") or 0) if len(ports) == 1 else 0
