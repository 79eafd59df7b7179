"""Routes to one Ingress an owner (shape: spec/kserve-ingress.md 9)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ingressctl.core import emitting
from ingressctl.core.model import Group, Match, Route, Rule, Service, Split
from ingressctl.core.outcome import Finding

API_VERSION = "networking.k8s.io/v1"


def ingress(routes: tuple[Route, ...]) -> dict[str, Any]:
    """One Ingress named like the owner, with a rule a host.

    The routes hold nothing but what an Ingress can say (core.lowering).
    """
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
    return [{**_path(match), "backend": backend} for match in rule.matches]


def _path(match: Match) -> dict[str, str]:
    if match.path is None:
        return {"path": "/", "pathType": "Prefix"}
    kind = {"exact": "Exact", "prefix": "Prefix"}[match.path.kind]
    return {"path": match.path.value, "pathType": kind}


def _backend(split: Split) -> dict[str, Any]:
    target = split.target
    name = target.name if isinstance(target, Service) else target.host.partition(".")[0]
    return {"service": {"name": name, "port": {"number": split.port}}}


def together(losses: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """One finding for all that an Ingress loses: headers and limits are lost for every rule."""
    if not losses:
        return ()
    lost = dict.fromkeys(str(dict(finding.args)["what"]) for finding in losses)
    return (replace(losses[0], args=(*_args(losses[0]), ("what", "; ".join(lost)))),)


def _args(finding: Finding) -> tuple[tuple[str, Any], ...]:
    return tuple(pair for pair in finding.args if pair[0] != "what")
