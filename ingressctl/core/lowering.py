"""Taking out of a route what a provider cannot express, and saying so.

A match that cannot be said is never widened: its rule is dropped. A share that cannot be
said stays with the first backend. Everything taken out is one finding a route and thing,
so that no loss is silent (ux.md 8.4).
"""

from __future__ import annotations

from ingressctl.core import emitting
from ingressctl.core.model import (
    External,
    Filter,
    Group,
    Match,
    RewriteHost,
    RewritePath,
    Route,
    Rule,
    SetHeaders,
)
from ingressctl.core.outcome import Finding
from ingressctl.core.ports import Capability
from ingressctl.core.values import Value, replace


class Limits(Value, frozen=True):
    """What a provider can say. `backends` is the most splits of a rule; 0 is no limit."""

    provider: str
    capabilities: frozenset[Capability]
    backends: int = 0

    def can(self, capability: Capability) -> bool:
        """Whether the provider has the capability."""
        return capability in self.capabilities


def lower(
    routes: tuple[Route, ...], limits: Limits
) -> tuple[tuple[Route, ...], tuple[Finding, ...]]:
    """The routes without what cannot be expressed, and a finding for each loss."""
    findings: dict[Finding, None] = {}
    lowered = []
    for route in routes:
        lost: dict[str, None] = {}
        groups = tuple(_group(group, limits, lost) for group in route.groups)
        lowered.append(route.with_groups(tuple(g for g in groups if g.rules and g.hosts)))
        findings |= {emitting.loss(route, limits.provider, what): None for what in lost}
    return tuple(lowered), tuple(findings)


def _group(group: Group, limits: Limits, lost: dict[str, None]) -> Group:
    hosts = group.hosts
    if not limits.can("wildcard-host"):
        hosts = tuple(host for host in hosts if host.kind != "wildcard")
        lost |= {f"host {host.name}": None for host in group.hosts if host.kind == "wildcard"}
    entries = group.entries
    if not limits.can("mesh"):
        entries = tuple(entry for entry in entries if entry.kind != "mesh")
    if not limits.can("local-entry"):
        local = [entry for entry in entries if entry.reach == "local"]
        entries = tuple(entry for entry in entries if entry.reach != "local")
        if (local or group.entries) and not entries:
            lost |= {f"in-cluster host {host.name}": None for host in hosts}
            return replace(group, entries=(), rules=())
    rules = (_rule(rule, limits, lost) for rule in group.rules)
    kept = tuple(rule for rule in rules if rule is not None)
    same_places = len(hosts) == len(group.hosts) and len(entries) == len(group.entries)
    if same_places and kept == group.rules:
        return group
    return replace(group, hosts=hosts, entries=entries, rules=kept)


def _rule(rule: Rule, limits: Limits, lost: dict[str, None]) -> Rule | None:
    matches = rule.matches
    if not all(_match_fits(match, limits) for match in matches):
        matches = tuple(match for match in matches if _match_fits(match, limits))
        lost[f"the matches of rule {rule.name}"] = None
    if not matches:
        return None
    barred = _unreachable(rule, limits)
    if barred:
        lost[f"{barred} of rule {rule.name}, which is left out"] = None
        return None
    fitting = rule if matches is rule.matches else replace(rule, matches=matches)
    return _weights(_filters(fitting, limits, lost), limits, lost)


def _match_fits(match: Match, limits: Limits) -> bool:
    if match.headers and not limits.can("header-match"):
        return False
    if match.method and not limits.can("method-match"):
        return False
    kind = "" if match.path is None else match.path.kind
    if kind == "exact":
        return limits.can("exact-path")
    return kind != "regex" or limits.can("regex-path")


def _unreachable(rule: Rule, limits: Limits) -> str:
    """What makes the whole rule useless when it is missing; "" if nothing."""
    if rule.filter(RewriteHost) and not limits.can("host-rewrite"):
        return "the Host rewrite"
    rewrite = rule.filter(RewritePath)
    if rewrite and not limits.can("path-rewrite"):
        return "the path rewrite"
    if rewrite and rewrite.kind == "regex" and not limits.can("regex-rewrite"):
        return "the path rewrite by expression"
    external = any(isinstance(split.target, External) for split in rule.splits)
    if external and not limits.can("external-target"):
        return "a target outside of the namespace"
    return ""


def _filters(rule: Rule, limits: Limits, lost: dict[str, None]) -> Rule:
    kept: tuple[Filter, ...] = rule.filters
    if rule.filter(SetHeaders) is not None and not limits.can("set-headers"):
        kept = tuple(item for item in kept if not isinstance(item, SetHeaders))
        lost[f"the request headers of rule {rule.name}"] = None
    timeout = rule.timeout
    if timeout and not limits.can("timeout"):
        lost[f"the timeout {timeout} of rule {rule.name}"] = None
        timeout = ""
    if (kept, timeout) == (rule.filters, rule.timeout):
        return rule
    return replace(rule, filters=kept, timeout=timeout)


def _weights(rule: Rule, limits: Limits, lost: dict[str, None]) -> Rule:
    most = limits.backends if limits.can("weights") else 1
    if not most or len(rule.splits) <= most:
        return rule
    extra = sum(split.weight or 0 for split in rule.splits[most:])
    first = rule.splits[0]
    if first.weight is not None:
        first = replace(first, weight=first.weight + extra)
    lost[f"the weights of rule {rule.name} beyond {most} backend(s)"] = None
    return replace(rule, splits=(first, *rule.splits[1:most]))
