"""Where a request goes, hop by hop, by what was emitted and read back.

The objects that name a host on the way are read into a table a provider, beside what
Knative makes of its Services; the request is asked of every public entry that admits its
host (or of the one named), and followed through gateways that are backends themselves.
The world is taken as it is: whoever has InferenceServices runs the cascade over it first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ingressctl.api import configmaps, inferenceservices
from ingressctl.api.refs import Raw, Ref, group_of, ref_of
from ingressctl.core import model, naming
from ingressctl.core.model import External, Service, SetHeaders, Split
from ingressctl.core.outcome import Finding
from ingressctl.core.ports import Provider
from ingressctl.core.rewriting import set_headers
from ingressctl.core.settings import Settings
from ingressctl.core.table import Hop, NoRoute, Request, Table
from ingressctl.core.world import Kind, Reads, World
from ingressctl.plan import entries, limits, policies, registry
from ingressctl.plan.explanation import Attempt, Branch, Explanation, leaves, walk
from ingressctl.plan.explanation_text import as_json, render_text
from ingressctl.plan.host_index import HostIndex
from ingressctl.sources.knative import traffic
from ingressctl.sources.kserve import config

_NAME = re.compile(r"\.Name\b")

SERVICE: Kind = ("", "Service")
MAX_HOPS = 8
BAD_GATEWAY = 503

__all__ = ["Explanation", "as_json", "explain", "relevant", "render_text"]


class _Walk:
    """One question on its way: what it needs, what it has read, what it has found.

    Only objects that name a host on the way are read; the tables are kept by host. Tables of
    providers without objects are `carried`; they hold what Knative makes as well.
    """

    __slots__ = (
        "_carried",
        "_groups",
        "_indexes",
        "_knative",
        "_tables",
        "doors",
        "findings",
        "reads",
    )

    def __init__(self, reads: Reads, carried: tuple[Table, ...]) -> None:
        self.reads = reads
        self._carried = carried
        self.doors = entries.find(reads)
        self.findings: dict[Finding, None] = {}
        domain = reads.settings.cluster_domain
        self._indexes = {
            name: HostIndex(
                (obj for kind in provider.kinds for obj in reads.list(kind)), cluster_domain=domain
            )
            for name, provider in sorted(reads.providers.items())
            if provider.kinds
        }
        self._knative = reads.list(traffic.KNATIVE_SERVICE)
        self._tables: dict[str, tuple[Table, ...]] = {}
        self._groups = {group_of(str(obj.get("apiVersion"))) for obj in reads.world}

    @property
    def has_knative(self) -> bool:
        """Whether Knative Services are in the world."""
        return bool(self._knative)

    def tables(self, host: str) -> tuple[Table, ...]:
        """One table a provider, of what may act on requests for a bare lower-case host."""
        if host not in self._tables:
            knative = () if self._carried else self._knative
            second = tuple(_second_hop(knative, host, self.reads))
            by_host = (
                self._table(name, (*index.named(host).values(), *second))
                for name, index in self._indexes.items()
            )
            self._tables[host] = (*self._carried, *by_host)
        return self._tables[host]

    def _table(self, name: str, found: tuple[Raw, ...]) -> Table:
        """What the provider reads; nothing where the world knows none of its API groups."""
        provider = self.reads.providers[name]
        groups = {group for group, _ in provider.kinds if group}
        if groups & self._groups or any(ref_of(obj).group in groups for obj in found):
            return provider.read(found, reads=self.reads)
        return Table(name, ())


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
    """
    installed = registry.providers() if providers is None else providers
    going = _Walk(Reads(world, settings, providers=installed), carried)
    asked = _at_known_port(request, going.tables(request.bare_host))
    tried, private = _tried(asked, via, going)
    attempts = tuple(
        replace(_attempt(table, replace(asked, entry=first), going), also=tuple(also))
        for (table, first), also in _distinct(tried, asked)
    )
    for attempt in attempts:
        _look_round(attempt, going)
    return Explanation(request, attempts, tuple(going.findings), private)


def _at_known_port(request: Request, found: tuple[Table, ...]) -> Request:
    """The request at its port, if a gateway listens there; else at whichever it has.

    A URL names the port of a Service or load balancer, which need not be the listener's.
    """
    ports = {port for table in found for host in table.hosts for port in host.ports}
    return request if request.port in ports else replace(request, port=0)


def relevant(
    refs: Iterable[Ref], request: Request, world: World, settings: Settings
) -> frozenset[Ref]:
    """The objects without the InferenceServices that cannot concern the request.

    A service's name is part of its hosts and paths, unless the templates say otherwise: then
    all stay. Who explains one request reconciles these, not ten thousand services.
    """
    try:
        ingress = config.ingress(Reads(world, settings, providers={}))
    except configmaps.ConfigFault:
        return frozenset(refs)
    templates = (ingress.domainTemplate, *filter(None, [ingress.pathTemplate]))
    if not all(_NAME.search(template) for template in templates):
        return frozenset(refs)
    text = f"{request.bare_host} {request.path}".lower()
    kind = inferenceservices.KIND
    return frozenset(ref for ref in refs if ref[:2] != kind or ref.name in text)


def _second_hop(services: tuple[Raw, ...], host: str, reads: Reads) -> Iterator[Raw]:
    """What net-istio would write for the Knative Services that a host may name.

    A Service's name is part of its hosts; one whose objects are there already is left out.
    """
    emitter = reads.providers.get("istio")
    if emitter is None:
        return
    for service in services:
        if ref_of(service).name not in host:
            continue
        try:
            route = traffic.route(service, reads=reads)
        except (naming.NameFault, configmaps.ConfigFault):
            continue
        if route is not None and reads.get(_written(route.ref)) is None:
            yield from emitter.emit((route,), reads=reads).objects


def _written(ref: Ref) -> Ref:
    return Ref("networking.istio.io", "VirtualService", ref.namespace, ref.name)


Door = tuple[Table, str]
"""An entry, and the table that knows it."""


def _tried(request: Request, via: str, going: _Walk) -> tuple[list[Door], bool]:
    """The entries to ask; whether only private ones take the request.

    Public ones that have the host, if one of them takes the request or nobody does.
    """
    found = going.tables(request.bare_host)
    if via:
        return _named(via, found), False
    every = [(table, entry) for table in found for entry in table.entries or ("",)]
    public = [door for door in every if door[1] not in going.doors.private]
    inside = [door for door in every if door[1] in going.doors.private and _takes(door, request)]
    having = [door for door in public if _has_host(door, request)]
    if inside and not any(_takes(door, request) for door in having):
        return inside, True
    return having or [door for door in public if door[1]], False


def _distinct(doors: list[Door], request: Request) -> list[tuple[Door, list[str]]]:
    """The entries to ask, each with those that share its virtual hosts."""
    first: dict[tuple[int, ...], int] = {}
    found: list[tuple[Door, list[str]]] = []
    for table, entry in doors:
        hosts = table.candidates(replace(request, entry=entry))
        shared = tuple(id(virtual_host) for _, virtual_host in hosts)
        if shared and shared in first:
            found[first[shared]][1].append(entry)
            continue
        first[shared] = len(found)
        found.append(((table, entry), []))
    return found


def _has_host(door: Door, request: Request) -> bool:
    table, entry = door
    return next(table.candidates(replace(request, entry=entry)), None) is not None


def _takes(door: Door, request: Request) -> bool:
    table, entry = door
    return isinstance(table.answer(replace(request, entry=entry)), Hop)


def _named(via: str, found: tuple[Table, ...]) -> list[Door]:
    """The tables that know the entry, else the first one of its kind."""
    word, name = entries.parse_via(via)
    fitting = [
        table for table in found if not word or (table.provider == "ingress") == (word == "ingress")
    ]
    known = [table for table in fitting if name in table.entries]
    return [(table, name) for table in known or fitting[:1]]


def _attempt(
    table: Table,
    request: Request,
    going: _Walk,
    seen: frozenset[tuple[str, str, str]] = frozenset(),
) -> Attempt:
    answer = table.answer(request)
    _gather(table, request.entry, answer, going)
    if isinstance(answer, NoRoute):
        return Attempt(table.provider, request.entry, request, answer)
    limit = limits.of_rule(table.provider, request.entry, answer.rule)
    if answer.rule.status:
        return Attempt(table.provider, request.entry, request, answer, limit)
    branches = tuple(_branches(table, request, answer, going, seen))
    return Attempt(table.provider, request.entry, request, answer, limit, branches)


def _branches(
    table: Table, request: Request, hop: Hop, going: _Walk, seen: frozenset[tuple[str, str, str]]
) -> Iterator[Branch]:
    refused = {item.split: item for item in hop.rule.refused}
    for split, share in hop.rule.shares():
        headers = dict(hop.headers)
        host = set_headers(headers, SetHeaders(split.headers), hop.host)
        branch = Branch(split, share, backend_name(split, going.reads), host, headers)
        bad = refused.get(split)
        if bad is not None:
            going.findings[
                Finding.of("IC3307", hop.rule.source, backend=bad.reason, status=bad.status)
            ] = None
            yield replace(branch, status=bad.status, reason=bad.reason)
            continue
        yield _go_on(branch, request, hop, going, seen) if share else branch


def _go_on(
    branch: Branch, request: Request, hop: Hop, going: _Walk, seen: frozenset[tuple[str, str, str]]
) -> Branch:
    """The branch with its next hop, where the backend is a gateway."""
    entry = going.doors.behind_target(branch.split.target)
    if not entry:
        return _arrived(branch, hop, going)
    step = (entry, branch.host, hop.path)
    if step in seen or len(seen) >= MAX_HOPS:
        loop = Finding.of(
            "IC3308", hop.rule.source, entry=entry, host=branch.host, rule=hop.rule.name
        )
        going.findings[loop] = None
        return replace(branch, status=BAD_GATEWAY, reason="requests go in a circle")
    asked = Request(request.method, branch.host, hop.path, branch.headers, entry)
    found = going.tables(asked.bare_host)
    table = next((table for table in found if entry in table.entries), found[0])
    if next(table.candidates(asked), None) is None and not going.has_knative:
        return replace(branch, reason=f"no route of {entry} is in the input")
    return replace(branch, then=_attempt(table, asked, going, seen | {step}))


def _arrived(branch: Branch, hop: Hop, going: _Walk) -> Branch:
    """The branch at an ordinary backend: what a revision allows, and whether it is there."""
    lacking = _lacking(branch.split, going.reads)
    if lacking:
        lost = Finding.of("IC3307", hop.rule.source, backend=lacking, status=BAD_GATEWAY)
        going.findings[lost] = None
    source = hop.rule.source
    owner = Ref(*traffic.KNATIVE_SERVICE, source.namespace, source.name.removesuffix("-ingress"))
    limit = limits.of_revision(_with_role(branch.split), owner, going.reads)
    return replace(branch, limit=limit)


def _lacking(split: Split, reads: Reads) -> str:
    """The Service or port that is not there, where the Services of its namespace are known."""
    target = split.target
    if not isinstance(target, Service) or _with_role(split).role == "revision":
        return ""
    if not reads.list(SERVICE, target.namespace):
        return ""
    ref = Ref(*SERVICE, target.namespace, target.name)
    ports = ((reads.get(ref) or {}).get("spec") or {}).get("ports") or ()
    if reads.get(ref) is None:
        return f"Service {target.namespace}/{target.name}"
    known = {port.get("port") for port in ports}
    wrong = known and split.port and split.port not in known
    return f"port {split.port} of Service {target.namespace}/{target.name}" if wrong else ""


def _with_role(split: Split) -> Split:
    """A revision is told by the header that Knative sets for it."""
    marked = any(name == "Knative-Serving-Revision" for name, _ in split.headers)
    return model.replace(split, role="revision") if marked else split


def backend_name(split: Split, reads: Reads) -> str:
    """``host:port`` of a backend; without a port where none is known."""
    name = entries.dns_name(split.target, reads)
    return f"{name}:{split.port}" if split.port else name


def _gather(table: Table, entry: str, answer: Hop | NoRoute, going: _Walk) -> None:
    """Findings of the table that are about this entry or an object that was looked at."""
    looked = {loss.source for loss in answer.losers}
    looked |= {answer.rule.source} if isinstance(answer, Hop) else set()
    for finding in table.findings:
        about = finding.refs[0]
        if about in looked or f"{about.namespace}/{about.name}" == entry:
            going.findings[finding] = None
    for loss in answer.losers:
        if loss.broken:
            broken = Finding.of("IC3305", loss.source, path=loss.rule, text=loss.reason)
            going.findings[broken] = None
    if isinstance(answer, Hop) and answer.rule.note:
        note = Finding.of("IC3304", answer.rule.source, what=answer.rule.note)
        going.findings[note] = None


def _look_round(attempt: Attempt, going: _Walk) -> None:
    """Findings about the whole way: policies, time limits, retries."""
    found: list[Finding] = []
    for hop in walk(attempt):
        found += _of_hop(hop, going)
    for leaf in leaves(attempt):
        found += limits.findings(leaf)
    knative = any(hop.entry in going.doors.private for hop in walk(attempt)) or any(
        going.doors.behind_target(branch.split.target) for branch in attempt.branches
    )
    for namespace in sorted(_namespaces(attempt, going.reads)):
        found += policies.at_backend(namespace, attempt.request, knative=knative, reads=going.reads)
    going.findings.update(dict.fromkeys(found))


def _of_hop(hop: Attempt, going: _Walk) -> Iterator[Finding]:
    if hop.entry not in going.doors.private or _is_known(hop.entry, going.reads):
        yield from policies.at_gateway(hop.entry, hop.request, reads=going.reads)
    if isinstance(hop.answer, Hop) and hop.answer.rule.retries and hop.branches:
        rule = hop.answer.rule
        yield Finding.of(
            "IC3311",
            rule.source,
            entry=hop.entry,
            method=hop.request.method,
            attempts=rule.retries,
            rule=rule.name,
        )


def _is_known(entry: str, reads: Reads) -> bool:
    """Whether the labels of a gateway's pods are known; those of a public one are guessed."""
    namespace, _, name = entry.partition("/")
    return reads.get(Ref("networking.istio.io", "Gateway", namespace, name)) is not None


def _namespaces(attempt: Attempt, reads: Reads) -> set[str]:
    """Namespaces of the backends, also of one that only the Host names so far."""
    suffix = f".svc.{reads.settings.cluster_domain}"
    found: set[str] = set()
    for leaf in leaves(attempt):
        if leaf.branch is None:
            continue
        target, host = leaf.branch.split.target, leaf.branch.host
        if host.endswith(suffix):
            found.add(host.removesuffix(suffix).rpartition(".")[2])
        elif isinstance(target, Service):
            found.add(target.namespace)
        elif isinstance(target, External):
            found.add(target.host.removesuffix(suffix).rpartition(".")[2])
    return found
