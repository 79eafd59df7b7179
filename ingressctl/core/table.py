"""Routes as a proxy sees them: entries, virtual hosts, ordered rules.

Providers read their objects into a `Table`, already sorted by the precedence of their
target, so that answering a request is the same walk for all of them: entry, host by
specificity, first rule that matches. What is refused before a rule is reached (listener,
namespace, grant) stays in the table with the reason, so that explain can tell. Virtual
hosts are indexed by entry and host: a question costs the same among ten thousand.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from ingressctl.api import re2
from ingressctl.api.refs import Ref
from ingressctl.core import rewriting
from ingressctl.core.model import Filter, HeaderMatch, Match, Redirect, Split
from ingressctl.core.outcome import Finding

NO_BACKEND = 503
"""What proxies answer for a rule whose backends get nothing."""

_PORT = re.compile(r":\d+$")


@dataclass(frozen=True, slots=True)
class Request:
    """A request as the gateway gets it. `headers` have lower-case names.

    `port` 0 leaves the listener open; with a port the scheme has to be the listener's too.
    """

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
        return _PORT.sub("", self.host).lower()

    @property
    def bare_path(self) -> str:
        """The path without query and fragment, which no matcher sees, dots resolved."""
        return rewriting.normalised(re.split(r"[?#]", self.path, maxsplit=1)[0])

    def header(self, name: str) -> str | None:
        """A header's value, also of the pseudo headers that Envoy has; None if absent."""
        pseudo = {
            ":authority": self.host,
            "host": self.host,
            ":method": self.method,
            ":scheme": self.scheme,
            ":path": self.path,
        }
        return pseudo.get(name.lower(), self.headers.get(name.lower()))

    def parameter(self, name: str) -> str | None:
        """The first value of a query parameter; None if absent."""
        query = self.path.partition("#")[0].partition("?")[2]
        pairs = (part.partition("=") for part in query.split("&"))
        return next((value for key, _, value in pairs if key == name), None)


@dataclass(frozen=True, slots=True)
class TableMatch:
    """A match as the target evaluates it.

    `prefix` tells whether a prefix is by element (Gateway API, Ingress) or by character
    (VirtualService, Envoy). `without` are headers that must not match, `query` parameters.
    `entries` limits the match to entries by name, `port` to one port. `never` is the
    reason why nothing can match, such as a pattern that the proxy refuses.
    """

    match: Match
    prefix: Literal["element", "character"] = "element"
    ignore_case: bool = False
    without: tuple[HeaderMatch, ...] = ()
    query: tuple[HeaderMatch, ...] = ()
    entries: tuple[str, ...] = ()
    port: int = 0
    never: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """A backend that gets its share of the requests and answers each with `status`."""

    split: Split
    status: int
    reason: str


@dataclass(frozen=True, slots=True)
class TableRule:
    """One rule in the order of evaluation, and the object it was written in.

    A rule without backends answers with `direct_status` (Gateway API: 500). `retries` is
    the number that holds, None where the object leaves it to the gateway.
    """

    source: Ref
    name: str
    matches: tuple[TableMatch, ...]
    splits: tuple[Split, ...]
    filters: tuple[Filter, ...] = ()
    timeout: str = ""
    retries: int | None = None
    direct_status: int = 0
    refused: tuple[Refused, ...] = ()
    note: str = ""
    """What of the object is not evaluated, for people."""

    @property
    def status(self) -> int:
        """What the proxy answers by itself; 0 if it asks a backend."""
        redirect = next((item for item in self.filters if isinstance(item, Redirect)), None)
        if redirect is not None:
            return redirect.status
        return self.direct_status or (0 if self.shares() else NO_BACKEND)

    def shares(self) -> tuple[tuple[Split, float], ...]:
        """Each backend with its part of the requests; refused ones keep theirs."""
        splits = (*self.splits, *(item.split for item in self.refused))
        if len(splits) == 1 and splits[0].weight is None:
            return ((splits[0], 1.0),)
        total = sum(split.weight or 0 for split in splits)
        return tuple((split, (split.weight or 0) / total) for split in splits) if total else ()


@dataclass(frozen=True, slots=True)
class VirtualHost:
    """Hosts and their rules at some entries. A host may be exact, ``*.x`` or ``*``.

    No `entries`: at every entry. No `ports`: at every port. `one_label`: ``*.x`` stands
    for one label only (Ingress). Where a request leaves the port open, a host of its
    `scheme` is asked first, then one of the other. `listener` names it for people.
    """

    entries: tuple[str, ...]
    hosts: tuple[str, ...]
    rules: tuple[TableRule, ...]
    ports: tuple[int, ...] = ()
    one_label: bool = False
    scheme: Literal["", "http", "https"] = ""
    listener: str = ""

    def hears(self, request: Request) -> bool:
        """Whether a request comes by the port and protocol of this host's listener."""
        if not request.port or not self.ports:
            return True
        return request.port in self.ports and self.scheme in ("", request.scheme)

    def admits(self, pattern: str, request: Request) -> bool:
        """Whether a request that the pattern fits comes by the listener of this host."""
        if not self.hears(request):
            return False
        if not self.one_label or not pattern.startswith("*."):
            return True
        return "." not in request.bare_host[: -len(pattern) + 1]


@dataclass(frozen=True, slots=True)
class Refusal:
    """An object or part of it that no entry takes, with the reason for people."""

    source: Ref
    entry: str
    hosts: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Loss:
    """A rule that did not win, and why."""

    source: Ref
    rule: str
    reason: str
    broken: bool = False
    """Whether a pattern of the rule cannot be used, which is why it lost."""


@dataclass(frozen=True, slots=True)
class Hop:
    """The rule that wins at one entry, and what it does to the request.

    `virtual_host` is the host pattern that won; `host` and `path` are as the backend sees
    them. `losers` are in the order in which they were asked.
    """

    entry: str
    rule: TableRule
    virtual_host: str
    host: str
    path: str
    headers: Mapping[str, str]
    losers: tuple[Loss, ...] = ()


@dataclass(frozen=True, slots=True)
class NoRoute:
    """Nothing takes the request. `status` is what the proxy answers.

    `virtual_host` is the host pattern that was chosen and has no rule; "" for no host.
    """

    entry: str
    status: int
    losers: tuple[Loss, ...]
    virtual_host: str = ""


@dataclass(frozen=True)
class Table:
    """Everything one provider's objects route, ready to be asked.

    `known` are entries that exist although nothing may be bound to them; `findings` tell
    what reading could not do. `any_spelling`: a final dot and ``.localhost`` say nothing.
    """

    provider: str
    hosts: tuple[VirtualHost, ...]
    refusals: tuple[Refusal, ...] = ()
    findings: tuple[Finding, ...] = ()
    known: tuple[str, ...] = ()
    any_spelling: bool = False

    @cached_property
    def _by_host(self) -> Mapping[tuple[str, str], tuple[VirtualHost, ...]]:
        found: dict[tuple[str, str], list[VirtualHost]] = {}
        for virtual_host in self.hosts:
            for entry in virtual_host.entries or ("",):
                for host in virtual_host.hosts:
                    found.setdefault((entry, host.lower() or "*"), []).append(virtual_host)
        return {key: tuple(hosts) for key, hosts in found.items()}

    @cached_property
    def entries(self) -> tuple[str, ...]:
        """Every entry by name, in order of first appearance; "" is not among them."""
        bound = (entry for virtual_host in self.hosts for entry in virtual_host.entries)
        return tuple(dict.fromkeys((*bound, *self.known)))

    def answer(self, request: Request) -> Hop | NoRoute:
        """The rule that wins for `request` at `request.entry`, or why none does.

        The most specific host wins first (exact, longest wildcard, ``*``); then the first
        rule that matches. A host without a matching rule answers 404: a less specific
        host is never asked (Envoy, Istio and Gateway API agree).
        """
        candidates = list(self.candidates(request))
        if not candidates:
            return NoRoute(request.entry, 404, (*self._unheard(request), *self._refused(request)))
        pattern, virtual_host = candidates[0]
        hidden = _less_specific(pattern, candidates[1:])
        losers: list[Loss] = []
        for place, rule in enumerate(virtual_host.rules):
            found = _try(rule, request, pattern)
            if isinstance(found, Loss):
                losers.append(found)
                continue
            later = virtual_host.rules[place + 1 :]
            losers += [Loss(late.source, late.name, "comes later") for late in later]
            return replace(found, losers=(*losers, *hidden, *self._refused(request)))
        return NoRoute(request.entry, 404, (*losers, *hidden, *self._refused(request)), pattern)

    def pattern_faults(self, *, trusted: Container[Ref] = ()) -> Iterator[tuple[TableRule, str]]:
        """Rules of other than the trusted objects with a pattern that cannot be used, and why."""
        for rule in dict.fromkeys(rule for host in self.hosts for rule in host.rules):
            if rule.source in trusted:
                continue
            fault = next(filter(None, map(pattern_fault, rule.matches)), "")
            if fault:
                yield rule, fault

    def candidates(self, request: Request) -> Iterator[tuple[str, VirtualHost]]:
        """Every host pattern that fits the request, the most specific first."""
        for pattern in self._patterns(request.bare_host):
            hosts = [
                virtual_host
                for entry in dict.fromkeys((request.entry, ""))
                for virtual_host in self._by_host.get((entry, pattern), ())
                if virtual_host.admits(pattern, request)
            ]
            hosts.sort(key=lambda found: found.scheme not in ("", request.scheme))
            yield from ((pattern, virtual_host) for virtual_host in hosts)

    def _patterns(self, host: str) -> Iterator[str]:
        """The host as it was sent comes before what it is spelt for, and that before wildcards."""
        if not self.any_spelling:
            return patterns(host)
        bare = host.removesuffix(".")
        spelt = bare.removesuffix(".localhost") or bare
        return iter(dict.fromkeys((host, *patterns(spelt))))

    def _unheard(self, request: Request) -> Iterator[Loss]:
        """Objects that have the host at other listeners of the entry only."""
        for _, virtual_host in self.candidates(replace(request, port=0)):
            ports = " and ".join(map(str, virtual_host.ports))
            protocol = f"{virtual_host.scheme.upper()} " if virtual_host.scheme else ""
            reason = (
                f"{virtual_host.listener or request.entry} is {protocol}on port {ports}; "
                f"the request is {request.scheme} on port {request.port}"
            )
            sources = dict.fromkeys(rule.source for rule in virtual_host.rules)
            yield from (Loss(source, "", reason) for source in sources)

    def _refused(self, request: Request) -> tuple[Loss, ...]:
        return tuple(
            Loss(refusal.source, "", refusal.reason)
            for refusal in self.refusals
            if refusal.entry in ("", request.entry)
            and any(host_matches(host, request.bare_host) for host in refusal.hosts)
        )


def patterns(host: str) -> Iterator[str]:
    """Every pattern that takes a bare host, the most specific first."""
    yield host
    place = host.find(".")
    while place >= 0:
        yield "*" + host[place:]
        place = host.find(".", place + 1)
    yield "*"


def host_matches(pattern: str, host: str) -> bool:
    """Whether a host pattern (exact, ``*.x``, ``*``) takes a bare lower-case host."""
    pattern = pattern.lower()
    if pattern in ("*", ""):
        return True
    if pattern.startswith("*."):
        return host.endswith(pattern[1:]) and len(host) > len(pattern) - 1
    return pattern == host


def _try(rule: TableRule, request: Request, pattern: str) -> Hop | Loss:
    """What the rule makes of the request, or why it does not take it."""
    reasons: dict[str, None] = {}
    broken = False
    for match in rule.matches or (None,):
        try:
            reason = mismatch(match, request) if match else ""
            if not reason:
                return _hop(request, rule, match, pattern)
        except re2.PatternFault as fault:
            reason, broken = str(fault), True
        reasons[reason] = None
    return Loss(rule.source, rule.name, "; ".join(reasons), broken)


def pattern_fault(table_match: TableMatch) -> str:
    """Why a pattern of the match cannot be used; "" if all can."""
    match = table_match.match
    values = [
        part.value
        for part in (*match.headers, *table_match.without, *table_match.query)
        if part.kind == "regex"
    ]
    if match.path is not None and match.path.kind == "regex":
        values.append(match.path.value)
    return next(filter(None, map(re2.fault, values)), "")


def mismatch(table_match: TableMatch, request: Request) -> str:
    """Why a match does not take the request; "" if it does. Raises re2.PatternFault."""
    if table_match.never:
        return table_match.never
    if table_match.entries and request.entry not in table_match.entries:
        return f"is for {', '.join(table_match.entries)} only"
    if table_match.port and request.port and table_match.port != request.port:
        return f"is for port {table_match.port} only"
    match = table_match.match
    if match.method and match.method != request.method:
        return f"method is not {match.method}"
    path = _path_mismatch(table_match, request.bare_path)
    return path or next(_value_mismatches(table_match, request), "")


def _value_mismatches(table_match: TableMatch, request: Request) -> Iterator[str]:
    for header in table_match.match.headers:
        if not header_matches(header, request.header(header.name)):
            yield f"header {header.name} is not {_wanted(header)}"
    for header in table_match.without:
        value = request.header(header.name)
        if header_matches(header, value if header.kind == "present" else value or ""):
            yield f"header {header.name} is {_wanted(header)}, which is excluded"
    for parameter in table_match.query:
        if not header_matches(parameter, request.parameter(parameter.name)):
            yield f"query parameter {parameter.name} is not {_wanted(parameter)}"


def _wanted(header: HeaderMatch) -> str:
    return "present" if header.kind == "present" else f"{header.kind} {header.value!r}"


def _path_mismatch(table_match: TableMatch, path: str) -> str:
    wanted = table_match.match.path
    if wanted is None:
        return ""
    value = wanted.value
    if wanted.kind == "regex":
        return "" if re2.full_match(value, path) else f"path is not {value}"
    if table_match.ignore_case:
        path, value = path.lower(), value.lower()
    if wanted.kind == "exact":
        return "" if path == value else f"path is not {wanted.value}"
    by_character = table_match.prefix == "character"
    fits = path.startswith(value) if by_character else below(path, value)
    return "" if fits else f"path is not below {wanted.value}"


def below(path: str, prefix: str) -> bool:
    """Whether `path` is `prefix` or one of its elements: /a holds /a, /a/ and /a/b."""
    bare = prefix.rstrip("/")
    return path == bare or path.startswith(bare + "/")


def header_matches(header: HeaderMatch, value: str | None) -> bool:
    """Whether a value (None: absent) satisfies the match."""
    if value is None:
        return False
    if header.kind == "present":
        return True
    if header.kind == "exact":
        return value == header.value
    if header.kind == "prefix":
        return value.startswith(header.value)
    return re2.full_match(header.value, value)


def _less_specific(pattern: str, candidates: Iterable[tuple[str, VirtualHost]]) -> list[Loss]:
    """Rules that are never asked because another object names the host more closely.

    The same host at another port is no loss.
    """
    return [
        Loss(rule.source, rule.name, f"its host {other} is less specific than {pattern}")
        for other, virtual_host in candidates
        if other != pattern
        for rule in virtual_host.rules
    ]


def _hop(request: Request, rule: TableRule, won: TableMatch | None, pattern: str) -> Hop:
    """Raises re2.PatternFault for a rewrite that cannot be."""
    host, path, headers = rewriting.apply(request, rule.filters, won)
    return Hop(request.entry, rule, pattern, host, path, headers)


def sources(tables: Iterable[Table]) -> frozenset[Ref]:
    """Every object that some rule of the tables was written in."""
    return frozenset(
        rule.source
        for table in tables
        for virtual_host in table.hosts
        for rule in virtual_host.rules
    )
