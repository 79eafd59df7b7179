"""Routes in few words."""

from __future__ import annotations

from typing import Any

from ingressctl.api.refs import Owner, Ref
from ingressctl.core.model import (
    ANY,
    Entry,
    Group,
    Host,
    Match,
    PathMatch,
    Route,
    Rule,
    Service,
    Split,
)

PUBLIC = Entry("gateway", "kserve/kserve-ingress-gateway")
LOCAL = Entry("gateway", "knative-serving/knative-local-gateway", reach="local")


def owner(name: str, namespace: str = "ns", created: str = "") -> Owner:
    ref = Ref("serving.kserve.io", "InferenceService", namespace, name)
    return Owner(ref, "", "serving.kserve.io/v1beta1", created)


def route(name: str, *groups: Group, namespace: str = "ns", created: str = "") -> Route:
    of = owner(name, namespace, created)
    return Route(ref=of.ref, owner=of, groups=groups)


def group(hosts: str | tuple[str, ...], *rules: Rule, entry: Entry = PUBLIC) -> Group:
    texts = (hosts,) if isinstance(hosts, str) else hosts
    found = tuple(Host(text, "wildcard" if "*" in text else "exact", entry.reach) for text in texts)
    return Group(found, (entry,), rules)


def split(name: str, weight: int | None = None, port: int = 80, **more: Any) -> Split:
    return Split(Service("ns", name), port, weight, **more)


def rule(name: str, *splits: Split, **more: Any) -> Rule:
    return Rule(name, splits, **more)


def to(name: str, **more: Any) -> Rule:
    return rule(f"to-{name}", split(name), **more)


def below(path: str) -> tuple[Match, ...]:
    return (Match(PathMatch("prefix", path)),)


EVERYTHING = ANY
