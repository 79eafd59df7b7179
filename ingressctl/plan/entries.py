"""The doors of a cluster: which entries are private, and which Service stands for which.

A hop that leads to the Service of a gateway goes on at that gateway. KServe's and Knative's
configuration say which Service belongs to which; a Gateway whose pods one Service alone
selects is found as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ingressctl.api import configmaps
from ingressctl.api.refs import Raw, Ref, is_alias, ref_of
from ingressctl.core.kserve import configuration as config
from ingressctl.core.model import External, Service, Target
from ingressctl.core.naming import internal_host
from ingressctl.core.world import Reads
from ingressctl.sources.knative import gateways

MESH = "mesh"
_WORDS = ("gateway", "ingress")


@dataclass(frozen=True, slots=True)
class Doors:
    """`private` entries are reached from inside only; `behind` maps a DNS name to an entry.

    `named` are those that the configuration speaks of, whether routes are bound to them or not.
    """

    private: frozenset[str]
    named: frozenset[str]
    behind: Mapping[str, str]
    reads: Reads

    def behind_target(self, target: Target) -> str:
        """The entry that a target stands for; "" if it is an ordinary backend."""
        name = dns_name(target, self.reads)
        if isinstance(target, Service):
            obj = self.reads.get(Ref("", "Service", target.namespace, target.name)) or {}
            if is_alias(obj):
                name = str(obj["spec"].get("externalName") or "").rstrip(".")
        return self.behind.get(name, "")


def find(reads: Reads) -> Doors:
    """The doors of the reads' world."""
    knative = gateways.find(reads)
    behind = _by_selector(reads)
    private = {MESH, *(name for name, _ in knative.local)}
    behind |= {service: name for name, service in (*knative.public, *knative.local) if service}
    try:
        ingress = config.ingress(reads)
    except configmaps.ConfigFault:
        ingress = configmaps.IngressConfig()
    if ingress.localGateway:
        private.add(ingress.localGateway)
        for service in (ingress.localGatewayService, ingress.knativeLocalGatewayService):
            if service:
                behind[service] = ingress.localGateway
    named = {
        *private,
        *(name for name, _ in knative.public),
        *ingress.gateways,
        *filter(None, (ingress.kserveIngressGateway, ingress.ingressClassName)),
    }
    return Doors(frozenset(private), frozenset(named), behind, reads)


def _by_selector(reads: Reads) -> dict[str, str]:
    """Services that select the pods of exactly one Istio Gateway."""
    found: dict[str, list[str]] = {}
    by_selector: dict[frozenset[tuple[str, str]], list[str]] = {}
    for gateway in reads.list(("networking.istio.io", "Gateway")):
        key = _selector(gateway)
        ref = ref_of(gateway)
        by_selector.setdefault(key, []).append(f"{ref.namespace}/{ref.name}")
    if not by_selector:
        return {}
    for service in reads.list(("", "Service")):
        names = by_selector.get(_selector(service), [])
        ref = ref_of(service)
        host = internal_host(ref.name, ref.namespace, reads.settings.cluster_domain)
        found.setdefault(host, []).extend(names)
    return {host: names[0] for host, names in found.items() if len(names) == 1}


def _selector(obj: Raw) -> frozenset[tuple[str, str]]:
    return frozenset(((obj.get("spec") or {}).get("selector") or {"": ref_of(obj).name}).items())


def dns_name(target: Target, reads: Reads) -> str:
    """The name that a hop connects to."""
    if isinstance(target, External):
        return target.host.rstrip(".")
    return internal_host(target.name, target.namespace, reads.settings.cluster_domain)


def parse_via(text: str) -> tuple[str, str]:
    """``gateway ns/name``, ``ingress CLASS``, ``mesh`` or a bare name: kind ("" any), name."""
    word, _, rest = text.strip().partition(" ")
    return (word, rest.strip()) if word in _WORDS and rest else ("", text.strip())
