"""A client of the router that finds the hosts of a field case on this machine."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping

from ingressctl.dataplane.router.pool import Pool
from ingressctl.dataplane.router.ports import Target
from ingressctl.dataplane.router.resolving import Resolver
from ingressctl.dataplane.router.upstream import Client
from tests.cases.router.field_stubs import Origin


class Known(Resolver):
    """Resolves the hosts that have stubs, and no other."""

    def __init__(self, hosts: frozenset[str]) -> None:
        super().__init__()
        self._hosts = hosts

    async def addresses(self, host: str) -> list[str]:
        """Loopback, for a host with a stub."""
        if host not in self._hosts:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return ["127.0.0.1"]


class Directed(Client):
    """The client, with the ports of the stubs in place of 80 and 443."""

    def __init__(
        self, ports: Mapping[Origin, int], *, mesh_port: int, context: ssl.SSLContext | None
    ) -> None:
        super().__init__(mesh_port=mesh_port)
        self._ports = ports
        self._resolver = Known(frozenset(host for host, _ in ports))
        self._context = context

    def _pool(self, target: Target) -> Pool:
        port = self._ports.get((target.host, target.tls), target.port)
        moved = Target(
            host=target.host,
            port=port,
            path=target.path,
            authority=target.authority,
            tls=target.tls,
            h2c=target.h2c,
        )
        pool = self._pools[target.host, target.port, target.tls] = super()._pool(moved)
        return pool
