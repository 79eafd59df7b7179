"""Routing objects by the hosts they name, so that a question reads only those it concerns.

An object can only act on a request if it names the host, a wildcard above it, or none. The
fields are those of the kinds; an object of a kind that is not listed here is always read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core.table import patterns
from ingressctl.core.world import Kind

EVERYTHING = "*"


class HostIndex:
    """Objects of one provider by host pattern."""

    __slots__ = ("_by_host",)

    def __init__(self, objects: Iterable[Raw], *, cluster_domain: str) -> None:
        self._by_host: dict[str, dict[Ref, Raw]] = {}
        for obj in objects:
            ref = ref_of(obj)
            for host in hosts_of(obj, ref, cluster_domain):
                self._by_host.setdefault(host, {})[ref] = obj

    def named(self, host: str) -> dict[Ref, Raw]:
        """Every object that may act on requests for a bare lower-case host."""
        found: dict[Ref, Raw] = {}
        for pattern in patterns(host):
            found |= self._by_host.get(pattern, {})
        return found


def hosts_of(obj: Raw, ref: Ref, cluster_domain: str) -> Iterator[str]:
    """The host patterns an object names, in every form in which a request may name them."""
    names = _HOSTS.get((ref.group, ref.kind), _everything)(obj.get("spec") or {})
    suffix = f".svc.{cluster_domain}"
    for name in names:
        host = str(name).lower()
        yield host
        if host.endswith(suffix):
            yield host.removesuffix(suffix)
            yield f"{host.removesuffix(suffix)}.svc"
        elif "." not in host and host != EVERYTHING:
            yield f"{host}.{ref.namespace}{suffix}"
            yield f"{host}.{ref.namespace}.svc"
            yield f"{host}.{ref.namespace}"


def _everything(_: Mapping[str, Any]) -> Iterator[str]:
    yield EVERYTHING


def _virtual_service(spec: Mapping[str, Any]) -> Iterator[str]:
    yield from spec.get("hosts") or ()


def _http_route(spec: Mapping[str, Any]) -> Iterator[str]:
    yield from spec.get("hostnames") or (EVERYTHING,)


def _ingress(spec: Mapping[str, Any]) -> Iterator[str]:
    yield from (rule.get("host") or EVERYTHING for rule in spec.get("rules") or ())
    if spec.get("defaultBackend"):
        yield EVERYTHING


_HOSTS: Mapping[Kind, Callable[[Mapping[str, Any]], Iterator[str]]] = {
    ("networking.istio.io", "VirtualService"): _virtual_service,
    ("gateway.networking.k8s.io", "HTTPRoute"): _http_route,
    ("networking.k8s.io", "Ingress"): _ingress,
    ("", "Service"): lambda _: iter(()),
}
