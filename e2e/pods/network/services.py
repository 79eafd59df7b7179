"""What nftables is told: which pods stand behind the address and port of a Service.

A pure function of Services and EndpointSlices, as kube-proxy is one. Each connection chooses
one ready endpoint by chance; where none is ready, one that ends but still serves; a Service
without endpoints refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from e2e.pods.network import addresses

Objects = Iterable[Mapping[str, Any]]
SERVICE_LABEL = "kubernetes.io/service-name"


@dataclass(frozen=True, slots=True)
class Front:
    """An address and port of a Service, and who answers there."""

    address: str
    port: int
    protocol: str
    backends: tuple[tuple[str, int], ...]


def fronts(services: Objects, slices: Objects) -> list[Front]:
    """Those of all Services that have an address, in a fixed order."""
    by_service = _by_service(slices)
    found: list[Front] = []
    for service in services:
        meta, spec = service["metadata"], service["spec"]
        own = by_service.get((meta["namespace"], meta["name"]), [])
        for address in _addresses(service):
            for port in spec.get("ports", ()):
                protocol = port.get("protocol", "TCP").lower()
                backends = tuple(sorted(_backends(own, port.get("name", ""))))
                found.append(Front(address, port["port"], protocol, backends))
    return sorted(found, key=lambda front: (front.address, front.port, front.protocol))


def endpoints(slices: Objects) -> list[Mapping[str, Any]]:
    """The ready endpoints of a Service; those that end but still serve where none is ready."""
    every = [one for piece in slices for one in piece.get("endpoints") or ()]
    condition = _wanted(every)
    return [one for one in every if condition(one)]


def of_service(slices: Objects, namespace: str, name: str) -> list[Mapping[str, Any]]:
    """The EndpointSlices of one Service."""
    return _by_service(slices).get((namespace, name), [])


def ruleset(told: Sequence[Front], *, hosts: Sequence[str]) -> str:
    """The whole table, which replaces the one before in one step."""
    owns = sorted({(ip, ip) for front in told for ip, _ in front.backends})
    owns += [(one, other) for one in hosts for other in hosts]
    lines = ["add table ip services", "delete table ip services", "table ip services {"]
    lines += ["set own {", "type ipv4_addr . ipv4_addr", f"elements = {{ {_pairs(owns)} }}", "}"]
    for number, front in enumerate(told):
        lines += _chain(number, front)
    lines += ["chain incoming {", "type nat hook prerouting priority dstnat"]
    for protocol in ("tcp", "udp"):
        lines += _choice(told, protocol)
    # Who reaches itself by a Service would drop packets that come from its own address.
    lines += ["}", "chain outgoing {", "type nat hook postrouting priority srcnat"]
    lines += ["ip saddr . ip daddr @own masquerade", "}"]
    lines += ["chain passing {", "type filter hook forward priority filter"]
    lines += [f"ip daddr {addresses.SERVICES} meta l4proto tcp reject with tcp reset"]
    lines += [f"ip daddr {addresses.SERVICES} reject", "}", "}"]
    return "\n".join(lines) + "\n"


def _chain(number: int, front: Front) -> list[str]:
    if not front.backends:
        return []
    one_of = ", ".join(f"{i} : {ip} . {port}" for i, (ip, port) in enumerate(front.backends))
    choice = f"numgen random mod {len(front.backends)} map {{ {one_of} }}"
    return [f"chain front{number} {{", f"meta l4proto {front.protocol} dnat ip to {choice}", "}"]


def _choice(told: Sequence[Front], protocol: str) -> list[str]:
    known = [
        f"{front.address} . {front.port} : goto front{number}"
        for number, front in enumerate(told)
        if front.backends and front.protocol == protocol
    ]
    return [f"ip daddr . {protocol} dport vmap {{ {', '.join(known)} }}"] if known else []


def _pairs(owns: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{source} . {target}" for source, target in owns)


def _addresses(service: Mapping[str, Any]) -> list[str]:
    spec = service["spec"]
    cluster = [ip for ip in spec.get("clusterIPs", ()) if ip != "None" and ":" not in ip]
    balancer = service.get("status", {}).get("loadBalancer", {}).get("ingress") or ()
    given = [one["ip"] for one in balancer if one.get("ip", "").startswith("10.96.")]
    return [*cluster, *given]


def _backends(slices: Objects, port: str) -> Iterator[tuple[str, int]]:
    pieces = [piece for piece in slices if piece.get("addressType") == "IPv4"]
    is_wanted = _wanted([one for piece in pieces for one in piece.get("endpoints") or ()])
    for piece in pieces:
        numbers = [one["port"] for one in piece.get("ports") or () if one.get("name", "") == port]
        for endpoint in filter(is_wanted, piece.get("endpoints") or ()):
            yield from ((ip, number) for ip in endpoint["addresses"] for number in numbers)


def _wanted(every: Iterable[Mapping[str, Any]]) -> Callable[[Mapping[str, Any]], bool]:
    def is_ready(endpoint: Mapping[str, Any]) -> bool:
        return bool(endpoint.get("conditions", {}).get("ready", True))

    def is_serving(endpoint: Mapping[str, Any]) -> bool:
        return bool(endpoint.get("conditions", {}).get("serving", False))

    return is_ready if any(map(is_ready, every)) else is_serving


def _by_service(slices: Objects) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for piece in slices:
        meta = piece["metadata"]
        name = meta.get("labels", {}).get(SERVICE_LABEL, "")
        found.setdefault((meta["namespace"], name), []).append(piece)
    return found
