"""Routes as a proxy sees them: entries, virtual hosts, ordered rules.

Providers read their objects into a `Table`, already sorted by the precedence of their
target, so that answering a request is the same walk for all of them: entry, host by
specificity, first rule that matches. What is refused before a rule is reached (listener,
namespace, grant) stays in the table with the reason, so that explain can tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from ingressctl.api.refs import Ref
from ingressctl.core import rewriting
from ingressctl.core.model import Filter, HeaderMatch, Match, Split


@dataclass(frozen=True, slots=True)
class Request:
    """A request as the gateway gets it. `headers` have lower-case names."""

    method: str
    host: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    entry: str = ""
    scheme: Literal["http", "https"] = "http"
    port: int = 0

    @property
    def bare_host(self) -> str:
        """The host in lower case without port."""
        return re.sub(r":\d+$", "", self.host).lower()

    @property
    def bare_path(self) -> str:
        """The path without query and fragment, which no matcher sees."""
        return re.split(r"[?#]", self.path, maxsplit=1)[0]


@dataclass(frozen=True, slots=True)
class TableMatch:
    """A match as the target evaluates it.

    `authority` is a regular expression over the Host as sent (VirtualService);
    `path_prefix_kind` tells whether a prefix is by element (Gateway API, Ingress) or by
    character (VirtualService, Envoy). `entries` limits the match to entries by name.
    """

    match: Match
    authority: str = ""
    prefix: Literal["element", "character"] = "element"
    entries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableRule:
    """One rule in the order of evaluation, and the object it was written in."""

    source: Ref
    name: str
    matches: tuple[TableMatch, ...]
    splits: tuple[Split, ...]
    filters: tuple[Filter, ...] = ()
    timeout: str = ""
    retries: int | None = None
    direct_status: int = 0
    """A rule without backends answers with this status (Gateway API: 500)."""


@dataclass(frozen=True, slots=True)
class VirtualHost:
    """Hosts and their rules at some entries. A host may be exact, ``*.x`` or ``*``."""

    entries: tuple[str, ...]
    hosts: tuple[str, ...]
    rules: tuple[TableRule, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """An object or part of it that no entry takes, with the reason for people."""

    source: Ref
    entry: str
    hosts: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Hop:
    """The rule that wins at one entry, and what it does to the request.

    `index` is the position among the rules of the virtual host; `host` and `path` are as
    the backend sees them.
    """

    entry: str
    rule: TableRule
    virtual_host: str
    host: str
    path: str
    headers: Mapping[str, str]
    losers: tuple[Loss, ...] = ()


@dataclass(frozen=True, slots=True)
class Loss:
    """A rule that did not win, and why."""

    source: Ref
    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class NoRoute:
    """Nothing takes the request. `status` is what the proxy answers."""

    entry: str
    status: int
    losers: tuple[Loss, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Everything one provider's objects route, ready to be asked.

    `entry_hosts` maps the DNS name of a gateway's Service to the entry it stands for.
    """

    provider: str
    hosts: tuple[VirtualHost, ...]
    refusals: tuple[Refusal, ...] = ()

    def answer(self, request: Request) -> Hop | NoRoute:
        """The rule that wins for `request` at `request.entry`, or why none does.

        The most specific host wins first (exact, longest wildcard, ``*``); then the first
        rule that matches. A host without a matching rule answers 404: a less specific
        host is never asked (Envoy, Istio and Gateway API agree).
        """
        best = self._virtual_host(request)
        if best is None:
            return NoRoute(request.entry, 404, self._refused(request))
        pattern, virtual_host = best
        losers: list[Loss] = []
        for rule in virtual_host.rules:
            reasons = [_mismatch(match, request) for match in rule.matches]
            if "" in reasons or not rule.matches:
                won = rule.matches[reasons.index("")] if rule.matches else None
                return _hop(request, rule, won, pattern, tuple(losers))
            losers.append(Loss(rule.source, rule.name, "; ".join(sorted(set(reasons)))))
        return NoRoute(request.entry, 404, (*losers, *self._refused(request)))

    def _virtual_host(self, request: Request) -> tuple[str, VirtualHost] | None:
        candidates = [
            (host, virtual_host)
            for virtual_host in self.hosts
            if not virtual_host.entries or request.entry in virtual_host.entries
            for host in virtual_host.hosts
            if host_matches(host, request.bare_host)
        ]
        return max(candidates, key=lambda found: specificity(found[0]), default=None)

    def _refused(self, request: Request) -> tuple[Loss, ...]:
        return tuple(
            Loss(refusal.source, "", refusal.reason)
            for refusal in self.refusals
            if refusal.entry in ("", request.entry)
            and any(host_matches(host, request.bare_host) for host in refusal.hosts)
        )


def host_matches(pattern: str, host: str) -> bool:
    """Whether a host pattern (exact, ``*.x``, ``*``) takes a bare lower-case host."""
    pattern = pattern.lower()
    if pattern in ("*", ""):
        return True
    if pattern.startswith("*."):
        return host.endswith(pattern[1:]) and len(host) > len(pattern) - 1
    return pattern == host


def specificity(pattern: str) -> tuple[int, int]:
    """Exact before wildcards, longer wildcards before shorter ones."""
    if pattern in ("*", ""):
        return (0, 0)
    return (1, len(pattern)) if pattern.startswith("*.") else (2, len(pattern))


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> re.Pattern[str]:
    """A regular expression of an object (RE2 syntax, which Python's covers here)."""
    return re.compile(pattern)


def _mismatch(table_match: TableMatch, request: Request) -> str:
    """Why a match does not take the request; "" if it does."""
    if table_match.entries and request.entry not in table_match.entries:
        return f"is for {', '.join(table_match.entries)} only"
    if table_match.authority and not compiled(table_match.authority).fullmatch(request.host):
        return f"host {request.host!r} is not {table_match.authority}"
    match = table_match.match
    if match.method and match.method != request.method:
        return f"method is not {match.method}"
    if match.path is not None:
        reason = _path_mismatch(table_match, request.bare_path)
        if reason:
            return reason
    return next(
        (
            f"header {header.name} is not {header.kind} {header.value!r}"
            for header in match.headers
            if not header_matches(header, request.headers.get(header.name.lower()))
        ),
        "",
    )


def _path_mismatch(table_match: TableMatch, path: str) -> str:
    wanted = table_match.match.path
    assert wanted is not None
    if wanted.kind == "exact":
        return "" if path == wanted.value else f"path is not {wanted.value}"
    if wanted.kind == "regex":
        return "" if compiled(wanted.value).fullmatch(path) else f"path is not {wanted.value}"
    if table_match.prefix == "character":
        return "" if path.startswith(wanted.value) else f"path is not below {wanted.value}"
    return "" if below(path, wanted.value) else f"path is not below {wanted.value}"


def below(path: str, prefix: str) -> bool:
    """Whether `path` is `prefix` or one of its elements: /a holds /a, /a/ and /a/b."""
    bare = prefix.rstrip("/")
    return path == bare or path.startswith(bare + "/")


def header_matches(header: HeaderMatch, value: str | None) -> bool:
    """Whether a header's value (None: absent) satisfies the match."""
    if value is None:
        return False
    if header.kind == "present":
        return True
    if header.kind == "exact":
        return value == header.value
    if header.kind == "prefix":
        return value.startswith(header.value)
    return compiled(header.value).fullmatch(value) is not None


def _hop(
    request: Request,
    rule: TableRule,
    won: TableMatch | None,
    pattern: str,
    losers: tuple[Loss, ...],
) -> Hop:
    host, path, headers = rewriting.apply(request, rule.filters, won)
    return Hop(request.entry, rule, pattern, host, path, headers, losers)


def sources(tables: Iterable[Table]) -> frozenset[Ref]:
    """Every object that some rule of the tables was written in."""
    return frozenset(
        rule.source
        for table in tables
        for virtual_host in table.hosts
        for rule in virtual_host.rules
    )
