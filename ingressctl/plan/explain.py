"""Where a request goes, hop by hop, by what was emitted and read back.

The objects that name a host on the way are read into a table a provider, beside what
Knative makes of its Services; the request is asked of every public entry that admits its
host (or of the one named), and followed through gateways that are backends themselves.
The world is taken as it is: whoever has InferenceServices runs the cascade over it first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ingressctl.api.refs import Ref
from ingressctl.core import values
from ingressctl.core.model import Service, SetHeaders, Split
from ingressctl.core.outcome import Finding
from ingressctl.core.ports import Provider
from ingressctl.core.rewriting import set_headers
from ingressctl.core.settings import Settings
from ingressctl.core.table import Hop, NoRoute, Request, Table
from ingressctl.core.world import Reads, World
from ingressctl.plan import absent, addressing, asking, entries, limits, meeting, missing, registry
from ingressctl.plan.asking import UnknownEntry
from ingressctl.plan.entries import Doors
from ingressctl.plan.explanation import Attempt, Branch, Explanation
from ingressctl.plan.explanation_text import as_json, render_text
from ingressctl.plan.host_tables import HostTables, relevant
from ingressctl.sources.knative import traffic

MAX_HOPS = 8

__all__ = ["Explanation", "UnknownEntry", "as_json", "explain", "relevant", "render_text"]

Seen = frozenset[tuple[str, str, str]]
"""Entries already passed, with Host and path: a request that comes back goes in a circle."""


@dataclass(slots=True)
class _Walk:
    """One question on its way: what it needs, and what was found."""

    tables: HostTables
    doors: Doors
    reads: Reads
    findings: dict[Finding, None] = field(default_factory=dict)

    def tell(self, found: Iterable[Finding]) -> None:
        """Keep findings in the order in which they were met, each once."""
        self.findings.update(dict.fromkeys(found))


def explain(
    request: Request,
    world: World,
    settings: Settings,
    *,
    via: str = "",
    providers: Mapping[str, Provider] | None = None,
    carried: tuple[Table, ...] = (),
) -> Explanation:
    """Every attempt for a request. `via` is ``gateway ns/name``, ``ingress CLASS`` or a name.

    `carried` are tables of providers that have no objects in a world (plan.serving).
    Raises UnknownEntry.
    """
    installed = registry.providers() if providers is None else providers
    reads = Reads(world, settings, providers=installed)
    going = _Walk(HostTables(reads, carried), entries.find(reads), reads)
    found = going.tables.of(request.bare_host)
    if via and not asking.knows(via, found, going.doors):
        every = going.tables.everything()
        if not asking.knows(via, every, going.doors):
            bound = (entry for table in every for entry in table.entries)
            raise asking.UnknownEntry(via, (*going.doors.named, *bound))
    tried, private = asking.tried(request, via, found, going.doors)
    attempts = tuple(
        replace(
            _attempt(table, asking.at_door(request, first, going.doors), going), also=tuple(also)
        )
        for (table, first), also in asking.distinct(tried, request, going.doors)
    )
    for attempt in attempts:
        going.tell(meeting.of_way(attempt, going.doors))
    answer = Explanation(request, attempts, tuple(going.findings), private)
    if not answer.missed:
        return answer
    going.tell(missing.made_internal(request, reads))
    return replace(answer, findings=tuple(going.findings))


def _attempt(
    table: Table,
    request: Request,
    going: _Walk,
    seen: Seen = frozenset(),
) -> Attempt:
    answer = table.answer(request)
    going.tell(meeting.of_answer(table, request.entry, answer))
    if isinstance(answer, NoRoute) and request.entry == entries.MESH and not answer.virtual_host:
        itself = addressing.hop(request, answer.losers, going.reads)
        if itself is not None:
            branches = tuple(_branches(table, request, itself, going, seen))
            return Attempt(addressing.PROVIDER, request.entry, request, itself, None, branches)
    if isinstance(answer, NoRoute):
        return Attempt(table.provider, request.entry, request, answer)
    limit = limits.of_rule(table.provider, request.entry, answer.rule)
    if answer.rule.status:
        return Attempt(table.provider, request.entry, request, answer, limit)
    branches = tuple(_branches(table, request, answer, going, seen))
    return Attempt(table.provider, request.entry, request, answer, limit, branches)


def _branches(
    table: Table, request: Request, hop: Hop, going: _Walk, seen: Seen
) -> Iterator[Branch]:
    refused = {item.split: item for item in hop.rule.refused}
    for split, share in hop.rule.shares():
        headers = dict(hop.headers)
        host = set_headers(headers, SetHeaders(split.headers), hop.host)
        branch = Branch(split, share, backend_name(split, going.reads), host, headers)
        bad = refused.get(split)
        if bad is not None:
            lost = Finding.of("IC3307", hop.rule.source, backend=bad.reason, status=bad.status)
            going.tell([lost])
            yield replace(branch, status=bad.status, reason=bad.reason)
            continue
        yield _go_on(branch, request, hop, going, seen) if share else branch


def _go_on(branch: Branch, request: Request, hop: Hop, going: _Walk, seen: Seen) -> Branch:
    """The branch with its next hop, where the backend is a gateway."""
    entry = going.doors.behind_target(branch.split.target)
    if not entry:
        return _arrived(branch, hop, going)
    step = (entry, branch.host, hop.path)
    if step in seen or len(seen) >= MAX_HOPS:
        loop = Finding.of(
            "IC3308", hop.rule.source, entry=entry, host=branch.host, rule=hop.rule.name
        )
        going.tell([loop])
        return replace(branch, status=absent.BAD_GATEWAY, reason="requests go in a circle")
    asked = Request(request.method, branch.host, hop.path, branch.headers, entry)
    found = going.tables.of(asked.bare_host)
    table = next((table for table in found if entry in table.entries), found[0])
    if next(table.candidates(asked), None) is None and not going.tables.has_knative:
        return replace(branch, reason=f"no route of {entry} is in the input")
    return replace(branch, then=_attempt(table, asked, going, seen | {step}))


def _arrived(branch: Branch, hop: Hop, going: _Walk) -> Branch:
    """The branch at an ordinary backend: what a revision allows, and whether it is there."""
    lacking = _lacking(branch.split, going.reads)
    if lacking:
        lost = Finding.of("IC3307", hop.rule.source, backend=lacking, status=absent.BAD_GATEWAY)
        going.tell([lost])
    source = hop.rule.source
    owner = Ref(*traffic.KNATIVE_SERVICE, source.namespace, source.name.removesuffix("-ingress"))
    limit = limits.of_revision(_with_role(branch.split), owner, going.reads)
    return replace(branch, limit=limit)


def _lacking(split: Split, reads: Reads) -> str:
    """The Service or port that is not there, where the Services of its namespace are known."""
    target = split.target
    if not isinstance(target, Service) or _with_role(split).role == "revision":
        return ""
    if text := absent.service(target.namespace, target.name, reads.world):
        return text
    stored = reads.get(Ref(*absent.SERVICE, target.namespace, target.name)) or {}
    ports = (stored.get("spec") or {}).get("ports") or ()
    known = {port.get("port") for port in ports}
    if not known or not split.port or split.port in known:
        return ""
    return f"port {split.port} of Service {target.namespace}/{target.name} is not in the input"


def _with_role(split: Split) -> Split:
    """A revision is told by the header that Knative sets for it."""
    marked = any(name == "Knative-Serving-Revision" for name, _ in split.headers)
    return values.replace(split, role="revision") if marked else split


def backend_name(split: Split, reads: Reads) -> str:
    """``host:port`` of a backend; without a port where none is known."""
    name = entries.dns_name(split.target, reads)
    return f"{name}:{split.port}" if split.port else name
