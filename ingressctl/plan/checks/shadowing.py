"""Two objects on one host: which one answers, and which never does (F4, F8, F9, F101).

Istio: a VirtualService that names a host hides those that take it by a star, and of two
that name it the older one's rules come first. Gateway API: of two equal matches the older
HTTPRoute wins. Ingress controllers keep the older of two equal paths as well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

import orjson

from ingressctl.api.refs import Raw, Ref
from ingressctl.core.outcome import Finding
from ingressctl.plan import normalise
from ingressctl.plan.checks import istio
from ingressctl.plan.checks.picture import HTTP_ROUTE, INGRESS, Picture, created, spec_of


def find(picture: Picture) -> Iterator[Finding]:
    """Every pair of objects of which one takes the other's requests."""
    listed = [entry for entry in istio.listed(picture) if entry.gateway != istio.MESH]
    yield from _hidden_catch_alls(listed)
    yield from _swallowed(listed, picture)
    yield from _equal_matches(_http_routes(picture), picture)
    yield from _equal_matches(_ingresses(picture), picture)


def _hidden_catch_alls(listed: list[istio.Listed]) -> Iterator[Finding]:
    """A host with path rules alone takes all its paths away from a catch-all (F8)."""
    by_host = _by_host(listed)
    for star in (entry for entry in listed if "*" in entry.host):
        for (gateway, host), entries in by_host.items():
            if gateway != star.gateway or not istio.covers(star.host, host):
                continue
            rules = [rule for entry in entries for rule in entry.rules]
            if not rules or any(rule.takes_all for rule in rules):
                continue
            yield from (_hidden(entry, star) for entry in entries if entry.ref != star.ref)


def _hidden(entry: istio.Listed, star: istio.Listed) -> Finding:
    return Finding.of(
        "IC2202",
        entry.ref,
        star.ref,
        path="spec.hosts",
        host=entry.host,
        gateway=entry.gateway,
        star=star.host,
        hidden=str(star.ref),
        by=str(entry.ref),
    )


def _by_host(listed: Iterable[istio.Listed]) -> dict[tuple[str, str], list[istio.Listed]]:
    by_host: dict[tuple[str, str], list[istio.Listed]] = defaultdict(list)
    for entry in listed:
        by_host[entry.gateway, entry.host].append(entry)
    return by_host


def _swallowed(listed: list[istio.Listed], picture: Picture) -> Iterator[Finding]:
    """Rules of a younger VirtualService that an older one's rules match first (F9)."""
    seen: set[tuple[Ref, Ref, str]] = set()
    for (gateway, host), entries in _by_host(listed).items():
        for older, younger in combinations(sorted(entries, key=lambda entry: entry.age), 2):
            if picture.owner(older.ref) == picture.owner(younger.ref):
                continue
            broad = _swallowing(older.rules, younger.rules)
            if not broad or (older.ref, younger.ref, host) in seen:
                continue
            seen.add((older.ref, younger.ref, host))
            yield Finding.of(
                "IC2203",
                younger.ref,
                older.ref,
                host=host,
                gateway=gateway,
                winner=str(older.ref),
                loser=str(younger.ref),
                broad=broad,
            )


def _swallowing(older: Iterable[istio.Rule], younger: Iterable[istio.Rule]) -> str:
    """What of the older rules takes a request that a younger rule is for; "" if nothing."""
    mine = list(younger)
    for rule in older:
        if rule.limited:
            continue
        if rule.takes_all:
            return "every path" if mine else ""
        for kind, value in rule.uris:
            if kind == "prefix" and any(_below(value, other, rule) for other in mine):
                return f"path prefix {value}"
    return ""


def _below(prefix: str, other: istio.Rule, rule: istio.Rule) -> bool:
    return other.target != rule.target and any(
        kind in ("prefix", "exact") and value.startswith(prefix) for kind, value in other.uris
    )


class Claimed(NamedTuple):
    """One match of one object under one host at one entry, in a form to compare."""

    ref: Ref
    age: tuple[bool, str, str, str]
    entry: str
    host: str
    match: bytes


def _http_routes(picture: Picture) -> Iterator[Claimed]:
    for ref, obj in picture.objects(HTTP_ROUTE):
        spec = normalise.normal_spec(obj)
        for parent in spec.get("parentRefs") or ():
            gateway = f"{parent.get('namespace') or ref.namespace}/{parent.get('name')}"
            for host in spec.get("hostnames") or ["*"]:
                for rule in spec.get("rules") or ():
                    for match in rule.get("matches") or ():
                        yield Claimed(ref, created(obj), gateway, host, _comparable(match))


def _ingresses(picture: Picture) -> Iterator[Claimed]:
    for ref, obj in picture.objects(INGRESS):
        spec = spec_of(obj)
        name = f"ingress class {_class(obj)!r}"
        for rule in spec.get("rules") or ():
            for path in (rule.get("http") or {}).get("paths") or ():
                match = {key: path.get(key) for key in ("path", "pathType")}
                host = str(rule.get("host") or "*")
                yield Claimed(ref, created(obj), name, host, _comparable(match))


def _class(obj: Raw) -> str:
    return str(spec_of(obj).get("ingressClassName") or "")


def _comparable(match: Any) -> bytes:
    return orjson.dumps(match, option=orjson.OPT_SORT_KEYS)


def _equal_matches(claims: Iterable[Claimed], picture: Picture) -> Iterator[Finding]:
    """Of two objects with one match on one host the older one answers (F101, F4)."""
    by_match: dict[tuple[str, str, bytes], list[Claimed]] = defaultdict(list)
    for claim in claims:
        by_match[claim.entry, claim.host, claim.match].append(claim)
    seen: set[tuple[Ref, Ref, str, str]] = set()
    for (entry, host, _), claimed in by_match.items():
        winner, *losers = sorted(claimed, key=lambda claim: claim.age)
        for loser in losers:
            key = (winner.ref, loser.ref, entry, host)
            if key in seen or picture.owner(winner.ref) == picture.owner(loser.ref):
                continue
            seen.add(key)
            yield Finding.of(
                "IC2201",
                loser.ref,
                winner.ref,
                host=host,
                entry=entry,
                winner=str(winner.ref),
                loser=str(loser.ref),
                rank="is older than" if winner.age[:2] < loser.age[:2] else "sorts before",
            )
