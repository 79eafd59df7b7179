"""Which listeners of which Gateways take an HTTPRoute, and under which host names.

By the rules of Gateway API: parentRef (sectionName, port), protocol, allowedRoutes (kinds
and namespaces) and the intersection of host names. A Gateway that is not in the world is
taken to have one listener for everything, which is a finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ingressctl.api.refs import Raw, Ref, labels_of, ref_of
from ingressctl.core.outcome import Finding
from ingressctl.core.table import Refusal, host_matches
from ingressctl.core.world import Kind, Reads

GROUP = "gateway.networking.k8s.io"
GATEWAY: Kind = (GROUP, "Gateway")
NAMESPACE_NAME = "kubernetes.io/metadata.name"

ANYTHING: Mapping[str, Any] = {
    "name": "",
    "protocol": "HTTP",
    "allowedRoutes": {"namespaces": {"from": "All"}},
}
"""The listener of a Gateway that is not in the world."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """One listener that takes the route. `port` 0: nothing is known of it."""

    entry: str
    listener: str
    port: int
    scheme: Literal["", "http", "https"]
    hosts: tuple[str, ...]


Attached = Attachment | Refusal | Finding


def attachments(route: Raw, *, reads: Reads) -> Iterator[Attached]:
    """Every listener of every parent: taken, or refused with the reason."""
    ref = ref_of(route)
    spec = route.get("spec") or {}
    hostnames = tuple(str(host).lower() for host in spec.get("hostnames") or ())
    for parent in spec.get("parentRefs") or ():
        kind = (parent.get("group", GROUP), parent.get("kind") or "Gateway")
        if kind != GATEWAY:
            yield Finding.of("IC3304", ref, what=f"parent {kind[1]} {parent.get('name')}")
            continue
        yield from _of_parent(parent, ref, hostnames, reads)


def _of_parent(
    parent: Mapping[str, Any], ref: Ref, hostnames: tuple[str, ...], reads: Reads
) -> Iterator[Attached]:
    gateway_ref = Ref(*GATEWAY, parent.get("namespace") or ref.namespace, str(parent.get("name")))
    entry = f"{gateway_ref.namespace}/{gateway_ref.name}"
    gateway = reads.get(gateway_ref)
    if gateway is None:
        yield Finding.of("IC5002", gateway_ref, gateway=entry)
        yield Attachment(entry, "", 0, "", hostnames or ("*",))
        return
    listeners = (gateway.get("spec") or {}).get("listeners") or ()
    chosen = [listener for listener in listeners if _named(parent, listener)]
    if not chosen:
        wanted = parent.get("sectionName") or f"on port {parent.get('port')}"
        reason = f"Gateway {entry} has no listener {wanted}"
        yield Refusal(ref, entry, hostnames or ("*",), reason)
    for listener in chosen:
        reason = listener_fault(listener, ref, gateway_ref.namespace, reads)
        hosts = intersection(str(listener.get("hostname") or ""), hostnames)
        if not reason and not hosts:
            reason = f"admits only {listener.get('hostname')}"
        if reason:
            text = f"listener {listener.get('name')} of Gateway {entry} {reason}"
            yield Refusal(ref, entry, hostnames or ("*",), text)
        else:
            yield _attachment(entry, listener, hosts)


def _named(parent: Mapping[str, Any], listener: Mapping[str, Any]) -> bool:
    section, port = parent.get("sectionName"), parent.get("port")
    return (not section or section == listener.get("name")) and (
        not port or port == listener.get("port")
    )


def _attachment(entry: str, listener: Mapping[str, Any], hosts: tuple[str, ...]) -> Attachment:
    scheme: Literal["http", "https"] = "https" if listener.get("protocol") == "HTTPS" else "http"
    name, port = str(listener.get("name") or ""), int(listener.get("port") or 0)
    return Attachment(entry, name, port, scheme, hosts)


def listener_fault(listener: Mapping[str, Any], ref: Ref, namespace: str, reads: Reads) -> str:
    """Why a listener of a Gateway in `namespace` takes no such route; "" if it does."""
    if listener.get("protocol") not in ("HTTP", "HTTPS"):
        return f"speaks {listener.get('protocol')}, which carries no HTTPRoute"
    allowed = listener.get("allowedRoutes") or {}
    kinds = allowed.get("kinds") or ()
    if kinds and not any(_is_http_route(kind) for kind in kinds):
        return f"allows only {', '.join(str(kind.get('kind')) for kind in kinds)}"
    return _namespace_fault(allowed.get("namespaces") or {}, ref, namespace, reads)


def _is_http_route(kind: Mapping[str, Any]) -> bool:
    return kind.get("group", GROUP) == GROUP and kind.get("kind") == "HTTPRoute"


def _namespace_fault(rule: Mapping[str, Any], ref: Ref, namespace: str, reads: Reads) -> str:
    source = rule.get("from") or "Same"
    if source == "All" or (source == "Same" and ref.namespace == namespace):
        return ""
    if source == "Same":
        return f"allows only routes of namespace {namespace}"
    if source != "Selector":
        return f"allows routes from {source}"
    obj = reads.get(Ref("", "Namespace", "", ref.namespace)) or {}
    labels = {NAMESPACE_NAME: ref.namespace, **labels_of(obj)}
    selector = rule.get("selector") or {}
    if selects(selector, labels):
        return ""
    return f"allows only namespaces with labels {dict(selector.get('matchLabels') or selector)}"


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a label selector (matchLabels, matchExpressions) takes these labels."""
    wanted: Mapping[str, str] = selector.get("matchLabels") or {}
    return wanted.items() <= labels.items() and all(
        _expression(item, labels) for item in selector.get("matchExpressions") or ()
    )


def _expression(item: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    value, values = labels.get(str(item.get("key"))), item.get("values") or ()
    operator = item.get("operator")
    if operator == "In":
        return value in values
    if operator == "NotIn":
        return value not in values
    return (value is not None) == (operator == "Exists")


def intersection(listener: str, hostnames: tuple[str, ...]) -> tuple[str, ...]:
    """The host names under which a route is served by a listener; empty if none."""
    listener = listener.lower()
    if not listener:
        return hostnames or ("*",)
    if not hostnames:
        return (listener,)
    common = (narrower(listener, host) for host in hostnames)
    return tuple(dict.fromkeys(host for host in common if host))


def narrower(one: str, other: str) -> str:
    """The more specific of two host patterns that meet; "" if they do not."""
    if one == other or (one.startswith("*.") and host_matches(one, other.removeprefix("*"))):
        return other
    if other.startswith("*.") and host_matches(other, one.removeprefix("*")):
        return one
    return ""
