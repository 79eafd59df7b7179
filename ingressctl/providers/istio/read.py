"""VirtualServices as Istio's gateways and sidecars evaluate them.

Every match of an http route becomes a route of its own, in the order written: Istio does
not sort by precision. VirtualServices of one host at one gateway are joined by age, with
routes that take everything moved last; a sidecar takes the oldest and ignores the others.
A host is served from the most specific host list: once somebody names example.com, hosts
``*`` never see it (F8), also when they came by another Gateway of the same pods and port:
those share one route table. Not evaluated, and said so: delegates, client labels, faults.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core.model import HeaderMatch, Match, Redirect
from ingressctl.core.outcome import Finding
from ingressctl.core.table import Refusal, Table, TableMatch, TableRule, VirtualHost
from ingressctl.core.world import Reads
from ingressctl.providers.istio import gateways, routes
from ingressctl.providers.istio.gateways import MESH, Server

VIRTUAL_SERVICE = ("networking.istio.io", "VirtualService")


class Door(NamedTuple):
    """A port of some gateway pods: of all Gateways that select the same ones."""

    pods: str
    port: int
    scheme: Literal["", "http", "https"]


@dataclass(slots=True)
class _Draft:
    """What is gathered while objects are read one after the other."""

    reads: Reads
    rules: dict[tuple[Door, str], list[TableRule]] = field(default_factory=dict)
    redirects: dict[tuple[Door, str], str] = field(default_factory=dict)
    entries: dict[Door, dict[str, None]] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    findings: dict[Finding, None] = field(default_factory=dict)
    holders: dict[str, Ref] = field(default_factory=dict)
    """The VirtualService that holds each name in the mesh."""
    servers: dict[str, tuple[tuple[Door, Server], ...]] = field(default_factory=dict)


MESH_DOOR = Door(MESH, 0, "")


def table(objects: Iterable[Raw], *, reads: Reads) -> Table:
    """The table of all VirtualServices among the objects."""
    draft = _Draft(reads, entries={MESH_DOOR: {MESH: None}})
    known = tuple(
        f"{ref.namespace}/{ref.name}" for ref in map(ref_of, reads.list(gateways.GATEWAY))
    )
    for name in known:
        _doors(name, draft)
    ours = [obj for obj in objects if ref_of(obj)[:2] == VIRTUAL_SERVICE]
    for obj in sorted(ours, key=_age):
        _add(obj, draft)
    hosts = tuple(_virtual_host(*place, draft) for place in draft.rules)
    return Table("istio", hosts, tuple(draft.refusals), tuple(draft.findings), known)


def _age(obj: Raw) -> tuple[bool, str, str]:
    """Older first, then by name and namespace; an object not yet created is the youngest."""
    meta = obj["metadata"]
    created = str(meta.get("creationTimestamp") or "")
    return (not created, created, f"{meta.get('name')}.{meta.get('namespace')}")


def _add(obj: Raw, draft: _Draft) -> None:
    ref, spec = ref_of(obj), obj.get("spec") or {}
    http = routes.rules(obj, reads=draft.reads, findings=draft.findings)
    hosts = [_full_host(str(host), ref.namespace, draft.reads) for host in spec.get("hosts") or ()]
    named = spec.get("gateways") or [MESH]
    for name in dict.fromkeys(gateways.full_name(str(gateway), ref.namespace) for gateway in named):
        if not _exported(spec, ref, name):
            reason = f"exportTo does not reach {name}"
            draft.refusals.append(Refusal(ref, name, tuple(hosts), reason))
            continue
        rules = _ordered(http, name)
        for host in hosts:
            if name == MESH:
                _bind_mesh(ref, host, rules, draft)
            else:
                _bind(ref, name, host, rules, draft)


def _full_host(host: str, namespace: str, reads: Reads) -> str:
    """Istio completes a name without dots by the namespace; no other short name."""
    host = host.lower()
    if "." in host or host == "*":
        return host
    return f"{host}.{namespace}.svc.{reads.settings.cluster_domain}"


def _exported(spec: Mapping[str, Any], ref: Ref, entry: str) -> bool:
    to = spec.get("exportTo") or ["*"]
    namespace = entry.partition("/")[0]
    reached = {ref.namespace if item == "." else item for item in to}
    return entry == MESH or "*" in reached or namespace in reached


def _bind(ref: Ref, entry: str, host: str, rules: list[TableRule], draft: _Draft) -> None:
    fitting = [
        (door, server)
        for door, server in _doors(entry, draft)
        if server.admits(host, ref.namespace)
    ]
    if not fitting:
        reason = f"Gateway {entry} admits no host {host} from namespace {ref.namespace}"
        draft.refusals.append(Refusal(ref, entry, (host,), reason))
    for door, server in fitting:
        draft.rules.setdefault((door, host), []).extend(_at_port(rule, door.port) for rule in rules)
        if server.redirects:
            draft.redirects.setdefault((door, host), entry)


def _doors(entry: str, draft: _Draft) -> tuple[tuple[Door, Server], ...]:
    """The ports of a Gateway's pods, each with the server that this Gateway has there."""
    if entry not in draft.servers:
        gateway = gateways.find(entry, draft.reads)
        servers = gateways.ANYTHING if gateway is None else gateways.servers(gateway)
        pods = entry if gateway is None else gateways.pods(gateway) or entry
        draft.servers[entry] = tuple(
            (Door(pods, server.port, server.scheme), server) for server in servers
        )
        for door, _ in draft.servers[entry]:
            draft.entries.setdefault(door, {})[entry] = None
        if gateway is None:
            namespace, _, name = entry.partition("/")
            missing = Ref(*gateways.GATEWAY, namespace, name)
            draft.findings[Finding.of("IC5002", missing, gateway=entry)] = None
    return draft.servers[entry]


def _bind_mesh(ref: Ref, host: str, rules: list[TableRule], draft: _Draft) -> None:
    """A service's name holds under its short forms as well; the oldest object wins."""
    suffix = f".svc.{draft.reads.settings.cluster_domain}"
    short = host.removesuffix(suffix)
    names = (host, f"{short}.svc", short) if short != host else (host,)
    for name in names:
        holder = draft.holders.setdefault(name, ref)
        if holder == ref:  # short forms that it names itself add nothing
            draft.rules[MESH_DOOR, name] = list(rules)
        else:
            reason = f"an older VirtualService holds {name}: sidecars do not join them"
            draft.refusals.append(Refusal(ref, MESH, (name,), reason))


def _ordered(http: Iterable[TableRule], entry: str) -> list[TableRule]:
    """One object's rules at an entry; what follows a rule for everything is never asked."""
    kept: list[TableRule] = []
    caught = False
    for rule in http:
        match = _at(rule.matches[0], entry)
        if caught:
            match = replace(match, never="follows a rule of its object for everything")
        kept.append(replace(rule, matches=(match,)))
        caught = caught or takes_everything(kept[-1])
    return kept


def _at(match: TableMatch, entry: str) -> TableMatch:
    """The match at one of its object's gateways: entries are judged, once and for all."""
    if not match.entries:
        return match
    never = "" if entry in match.entries else f"is for {', '.join(match.entries)} only"
    return replace(match, entries=(), never=never or match.never)


def _at_port(rule: TableRule, port: int) -> TableRule:
    """The rule at a listener of that port, 0 if it is not known: ports are judged as well."""
    match = rule.matches[0]
    if not match.port or not port:
        return rule
    never = "" if match.port == port else f"is for port {match.port} only"
    return replace(rule, matches=(replace(match, port=0, never=match.never or never),))


def takes_everything(rule: TableRule) -> bool:
    """Istio's catch-all: path prefix /, no header and no query parameter."""
    match = rule.matches[0]
    if match.never or match.port:
        return False
    path = match.match.path
    if path is not None and (path.kind, path.value) not in (("prefix", "/"), ("regex", "*")):
        return False
    return not (match.match.headers or match.match.method or match.without or match.query)


def _virtual_host(door: Door, host: str, draft: _Draft) -> VirtualHost:
    """The host at a door; a gateway asks rules that take everything last."""
    rules, entries = draft.rules[door, host], tuple(draft.entries[door])
    if door == MESH_DOOR:
        return VirtualHost(entries, (host,), tuple(rules))
    ordered = sorted(rules, key=takes_everything)
    redirecting = draft.redirects.get((door, host))
    first = [_to_https(redirecting)] if redirecting else []
    ports = (door.port,) if door.port else ()
    listener = f"the server of Gateway {' and '.join(entries)}"
    return VirtualHost(
        entries, (host,), (*first, *ordered), ports, scheme=door.scheme, listener=listener
    )


def _to_https(entry: str) -> TableRule:
    namespace, _, name = entry.partition("/")
    plain = TableMatch(Match(headers=(HeaderMatch(":scheme", "exact", "http"),)))
    return TableRule(
        source=Ref(*gateways.GATEWAY, namespace, name),
        name="httpsRedirect",
        matches=(plain,),
        splits=(),
        filters=(Redirect("https"),),
    )
