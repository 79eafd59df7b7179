"""The cluster's DNS: what a name below cluster.local stands for, and a server that tells it.

A Service has its ClusterIP; without one it has the addresses of its ready pods, each also by
its own hostname; an ExternalName is an alias. Other names do not exist: pods see no network.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import dnslib

from e2e.pods.network import addresses, services

ZONE = ("svc", "cluster", "local")
TTL = 1


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of a name."""

    addresses: tuple[str, ...] = ()
    alias: str = ""


def lookup(
    name: str, *, known: Sequence[Mapping[str, Any]], slices: Sequence[Mapping[str, Any]]
) -> Found | None:
    """What a name stands for, None if it does not exist."""
    labels = tuple(name.rstrip(".").lower().split("."))
    if labels[-3:] != ZONE or len(labels) not in {5, 6}:
        return None
    *pod, service, namespace = labels[:-3]
    for one in known:
        meta = one["metadata"]
        if (meta["name"], meta["namespace"]) == (service, namespace):
            own = services.of_service(slices, namespace, service)
            return _of_pod(pod[0], own) if pod else _of_service(one["spec"], own)
    return None


def _of_service(spec: Mapping[str, Any], slices: list[Mapping[str, Any]]) -> Found:
    if spec.get("type") == "ExternalName":
        return Found(alias=spec["externalName"])
    if spec.get("clusterIP", "None") != "None":
        return Found((spec["clusterIP"],))
    return Found(_all(services.endpoints(slices)))


def _of_pod(hostname: str, slices: list[Mapping[str, Any]]) -> Found | None:
    own = [one for one in services.endpoints(slices) if one.get("hostname") == hostname]
    return Found(_all(own)) if own else None


def _all(endpoints: list[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(sorted(address for one in endpoints for address in one["addresses"]))


def answer(query: bytes, find: Callable[[str], Found | None]) -> bytes:
    """The answer to a query, as it goes over the wire."""
    asked = dnslib.DNSRecord.parse(query)
    reply = asked.reply()
    reply.header.aa = 1
    name = str(asked.q.qname)
    found = find(name)
    if found is None:
        reply.header.rcode = dnslib.RCODE.NXDOMAIN
        return bytes(reply.pack())
    owner = name
    if found.alias:
        _add(reply, owner, dnslib.QTYPE.CNAME, dnslib.CNAME(found.alias))
        owner = found.alias
        found = find(owner) or Found()
    if asked.q.qtype == dnslib.QTYPE.A:
        for address in found.addresses:
            _add(reply, owner, dnslib.QTYPE.A, dnslib.A(address))
    return bytes(reply.pack())


def _add(reply: dnslib.DNSRecord, name: str, kind: int, data: Any) -> None:
    reply.add_answer(dnslib.RR(name, kind, rdata=data, ttl=TTL))


class _Server(asyncio.DatagramProtocol):
    def __init__(self, find: Callable[[str], Found | None]) -> None:
        self._find = find
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: Any) -> None:
        assert self._transport is not None
        try:
            self._transport.sendto(answer(data, self._find), addr)
        except dnslib.DNSError:
            return  # what is no query gets no answer


async def serve(find: Callable[[str], Found | None]) -> asyncio.DatagramTransport:
    """Answer on the host's address on the bridge."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(
        lambda: _Server(find), local_addr=(addresses.HOST, 53)
    )
    return transport
