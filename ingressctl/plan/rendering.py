"""The objects that a provider makes of written sources, and how two providers differ.

What is compared is what the objects mean: both are read back into tables, and the rules of
each host are put side by side. What a provider cannot express is among its findings.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

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
    Target,
)
from ingressctl.core.outcome import Fault, Finding
from ingressctl.core.ports import Provider
from ingressctl.core.settings import Settings
from ingressctl.core.table import Table, TableMatch, TableRule, VirtualHost
from ingressctl.core.world import Reads, World
from ingressctl.plan import applying, cascade, serving
from ingressctl.plan.overlay import Laid
from ingressctl.providers.envoy import dumping, snapshot
from ingressctl.providers.envoy.facts import WorldFacts

XDS = "envoy"
XDS_PORT = 8080


@dataclass(frozen=True, slots=True)
class Rendering:
    """One provider's objects in order, and everything there is to say about them."""

    provider: str
    objects: tuple[Raw, ...]
    findings: tuple[Finding, ...]
    faults: tuple[tuple[Ref, Fault], ...]
    refused: tuple[Finding, ...]
    world: World


def render(
    laid: Laid,
    settings: Settings,
    *,
    now: datetime,
    providers: Mapping[str, Provider],
) -> Rendering:
    """What the written sources become; `settings.provider` "" takes the configured one."""
    if settings.provider == XDS:
        return _xds(laid, settings, now, providers)
    laid, refused = applying.apply(laid, settings)
    only = frozenset(item.ref for item in laid.written)
    done = cascade.run(laid.world, settings, now=now, providers=providers, only=only)
    objects = {ref_of(obj): obj for step in done.steps for obj in _made(step, settings)}
    return Rendering(
        settings.provider,
        tuple(objects[ref] for ref in sorted(objects, key=_order)),
        tuple(dict.fromkeys(item for step in done.steps for item in step.findings)),
        tuple((step.ref, fault) for step in done.steps for fault in step.faults),
        refused,
        done.world,
    )


def _made(step: cascade.Step, settings: Settings) -> Iterator[Raw]:
    if "routes" in settings.write:
        yield from step.emission.objects
    if "workloads" in settings.write:
        yield from (child.body for child in step.outcome.children)


def _order(ref: Ref) -> tuple[str, str, str]:
    return (ref.kind, ref.namespace, ref.name)


def _xds(
    laid: Laid, settings: Settings, now: datetime, providers: Mapping[str, Provider]
) -> Rendering:
    served = serving.served(laid, settings, now=now, providers=providers)
    facts = WorldFacts.of(served.world)
    book = snapshot.Book(facts, XDS_PORT, "127.0.0.1")
    book.replace(served.routes, facts)
    objects = tuple(dumping.objects(book.resources))
    return Rendering(XDS, objects, served.findings, served.faults, served.refused, served.world)


@dataclass(frozen=True, slots=True)
class HostDifference:
    """A host that two providers serve differently, as unified lines of its rules."""

    host: str
    lines: tuple[str, ...]


def compare(
    one: Rendering,
    other: Rendering,
    settings: Settings,
    providers: Mapping[str, Provider],
) -> tuple[HostDifference, ...]:
    """Hosts in order whose rules differ, for requests as a gateway gets them."""
    mine = _rules_by_host(_table(one, settings, providers))
    theirs = _rules_by_host(_table(other, settings, providers))
    found: list[HostDifference] = []
    for host in sorted({*mine, *theirs}):
        left, right = mine.get(host, []), theirs.get(host, [])
        if left != right:
            lines = difflib.unified_diff(left, right, one.provider, other.provider, "", "", 9, "")
            found.append(HostDifference(host, tuple(lines)[2:]))
    return tuple(found)


def _table(rendering: Rendering, settings: Settings, providers: Mapping[str, Provider]) -> Table:
    reads = Reads(
        rendering.world, replace(settings, provider=rendering.provider), providers=providers
    )
    return providers[rendering.provider].read(rendering.objects, reads=reads)


def _rules_by_host(table: Table) -> dict[str, list[str]]:
    """The rules of each host in the order in which they are asked."""
    found: dict[str, list[str]] = {}
    for virtual_host in table.hosts:
        for host in virtual_host.hosts:
            lines = found.setdefault(host, [])
            lines.extend(line for line in _lines(virtual_host) if line not in lines)
    for refusal in table.refusals:
        for host in refusal.hosts:
            found.setdefault(host, []).append(f"refused: {refusal.reason}")
    return found


def _lines(virtual_host: VirtualHost) -> Iterator[str]:
    for rule in virtual_host.rules:
        for match in rule.matches:
            yield f"{_match(match)} -> {_backends(rule)}{_actions(rule)}"


def _match(match: TableMatch) -> str:
    """A match in words. That a host is matched again by its header is no difference."""
    inner: Match = match.match
    headers = [_header(header) for header in inner.headers if header.name != ":authority"]
    method = [inner.method] if inner.method else []
    return " and ".join([_path(inner.path), *method, *headers])


ANYTHING = (("prefix", "/"), ("regex", "^/.*$"), ("regex", "/.*"))


def _path(path: PathMatch | None) -> str:
    if path is None or (path.kind, path.value) in ANYTHING:
        return "any path"
    return f"{path.kind} {path.value}"


def _header(header: HeaderMatch) -> str:
    return f"{header.name} {header.kind} {header.value}".rstrip()


def _backends(rule: TableRule) -> str:
    if rule.status:
        return f"status {rule.status}"
    shares = (f"{_target(split.target)}:{split.port} {share:.0%}" for split, share in rule.shares())
    return ", ".join(shares)


def _target(target: Target) -> str:
    if isinstance(target, External):
        return target.host
    return f"{target.namespace}/{target.name}"


def _actions(rule: TableRule) -> str:
    words = [_filter(item) for item in rule.filters]
    words += [f"timeout {rule.timeout}"] if rule.timeout else []
    return f" ({'; '.join(words)})" if words else ""


def _filter(item: Filter) -> str:
    if isinstance(item, RewriteHost):
        return f"host {item.host}"
    if isinstance(item, RewritePath):
        return f"path {item.kind} {item.value}"
    if isinstance(item, Redirect):
        return f"redirect {item.status}"
    return "headers " + ", ".join(f"{name}={value}" for name, value in item.headers)
