"""Routes to one Ingress an owner (shape: spec/kserve-ingress.md 9)."""

from __future__ import annotations

from typing import Any

from ingressctl.core import emitting
from ingressctl.core.model import External, Group, Match, Route, Rule, Service, Split
from ingressctl.core.outcome import Finding

API_VERSION = "networking.k8s.io/v1"


def ingress(routes: tuple[Route, ...]) -> dict[str, Any]:
    """One Ingress named like the owner, with a rule a host."""
    first = routes[0]
    obj = emitting.frame(API_VERSION, "Ingress", first, name=first.owner.ref.name)
    spec: dict[str, Any] = {}
    class_name = next(
        (entry.name for group in first.groups for entry in group.entries if entry.name), ""
    )
    if class_name:
        spec["ingressClassName"] = class_name
    spec["rules"] = [
        rule for route in routes for group in route.groups for rule in _host_rules(group)
    ]
    tls = [
        {"hosts": list(item.hosts), "secretName": item.secret}
        for route in routes
        for item in route.tls
    ]
    if tls:
        spec["tls"] = tls
    obj["spec"] = spec
    return obj


def _host_rules(group: Group) -> list[dict[str, Any]]:
    paths = [path for rule in group.rules for path in _paths(rule)]
    return [{"host": host.name, "http": {"paths": paths}} for host in group.hosts if paths]


def _paths(rule: Rule) -> list[dict[str, Any]]:
    backend = _backend(rule.splits[0])
    return [{**_path(match), "backend": backend} for match in rule.matches if expressible(match)]


def expressible(match: Match) -> bool:
    """Whether an Ingress path can say it: exact and prefix paths, nothing else."""
    if match.headers or match.method:
        return False
    return match.path is None or match.path.kind in ("exact", "prefix")


def _path(match: Match) -> dict[str, str]:
    if match.path is None:
        return {"path": "/", "pathType": "Prefix"}
    kind = {"exact": "Exact", "prefix": "Prefix"}[match.path.kind]
    return {"path": match.path.value, "pathType": kind}


def _backend(split: Split) -> dict[str, Any]:
    target = split.target
    name = target.name if isinstance(target, Service) else target.host.partition(".")[0]
    return {"service": {"name": name, "port": {"number": split.port}}}


def losses(route: Route) -> tuple[Finding, ...]:
    """What of the route an Ingress does not carry."""
    found: dict[str, None] = {}
    for group in route.groups:
        for rule in group.rules:
            if any(not expressible(match) for match in rule.matches):
                found[f"rule {rule.name}: its matches"] = None
            if len(rule.splits) > 1:
                found[f"rule {rule.name}: weights"] = None
            if any(isinstance(split.target, External) for split in rule.splits):
                found[f"rule {rule.name}: a target outside of the namespace"] = None
    return tuple(emitting.loss(route, "ingress", what) for what in found)
