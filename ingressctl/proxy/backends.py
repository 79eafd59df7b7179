"""Where targets are served on this machine: told, written in EndpointSlices, or a stub."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ingressctl.core.model import External, Service
from ingressctl.providers.envoy import names
from ingressctl.providers.envoy.facts import Address, WorldFacts
from ingressctl.proxy.routers import Routers
from ingressctl.proxy.stubs import Identity, Stubs

_BACKEND = re.compile(
    r"(?P<name>[a-z0-9][-a-z0-9.]*?)(?:\.(?P<namespace>[a-z0-9][-a-z0-9]*))?"
    r"=(?P<host>\[[0-9a-fA-F:]+\]|[^\s:=]+):(?P<port>\d{1,5})"
)


class BackendFault(ValueError):
    """A ``--backend`` that cannot be. The text says why and how it is written."""


@dataclass(frozen=True, slots=True)
class Backend:
    """``SERVICE[.NAMESPACE]=HOST:PORT``; without namespace the Service of any."""

    name: str
    namespace: str
    addresses: tuple[Address, ...]

    def stands_for(self, service: Service) -> bool:
        """Whether requests for that Service go here."""
        return self.name == service.name and self.namespace in ("", service.namespace)


def parse(text: str) -> Backend:
    """A backend as written on the command line, its host resolved. Raises BackendFault."""
    found = _BACKEND.fullmatch(text.strip())
    if found is None:
        raise BackendFault(f"{text!r} is not SERVICE[.NAMESPACE]=HOST:PORT")
    port = int(found["port"])
    if not 0 < port < 65536:
        raise BackendFault(f"{text!r}: port {port} is not between 1 and 65535")
    host = found["host"].strip("[]")
    try:
        resolved = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        raise BackendFault(
            f"{text!r}: host {host!r} has no address: write an IP address or a name that resolves"
        ) from None
    addresses = dict.fromkeys(Address(str(item[4][0]), port) for item in resolved)
    return Backend(found["name"], found["namespace"] or "", tuple(_one_family(addresses)))


def _one_family(addresses: Iterable[Address]) -> Iterator[Address]:
    """Of a name with both families the IPv4 ones: servers on a laptop often lack the other."""
    everything = tuple(addresses)
    v4 = tuple(address for address in everything if ":" not in address.host)
    yield from v4 or everything


@dataclass(frozen=True, slots=True)
class LocalFacts:
    """Facts of a world with what the command line says laid over them."""

    world: WorldFacts
    backends: tuple[Backend, ...] = ()
    stubs: Stubs | None = None
    routers: Routers | None = None

    def h2(self, service: Service, port: int) -> bool:
        """As the objects say: what is behind a port does not change its protocol."""
        return self.world.h2(service, port)

    def addresses(self, target: Service | External, port: int) -> tuple[Address, ...]:
        """What was told, else the router of a graph, the EndpointSlices, or a stub."""
        if isinstance(target, External):
            return ()
        told = next((item for item in self.backends if item.stands_for(target)), None)
        if told is not None:
            return told.addresses
        router = self.routers.address(target) if self.routers is not None else None
        if router is not None:
            return (router,)
        return self.world.addresses(target, port) or self._stub(target, port)

    def wants_stub(self, service: Service, port: int) -> bool:
        """Whether nothing but a stub would serve it."""
        told = any(item.stands_for(service) for item in self.backends)
        routed = self.routers is not None and self.routers.address(service) is not None
        return not (told or routed or self.world.addresses(service, port))

    def _stub(self, service: Service, port: int) -> tuple[Address, ...]:
        if self.stubs is None:
            return ()
        choices = (Identity(service.name, service.namespace, port, h2) for h2 in (False, True))
        found = (self.stubs.address(identity) for identity in choices)
        return tuple(address for address in found if address)[:1]


def identities(upstreams: Iterable[names.Upstream], facts: LocalFacts) -> Iterator[Identity]:
    """The stubs that upstreams need."""
    for target, port, h2 in upstreams:
        if isinstance(target, Service) and facts.wants_stub(target, port):
            yield Identity(target.name, target.namespace, port, h2)


def idle(upstreams: Iterable[names.Upstream], facts: LocalFacts) -> Iterator[str]:
    """Backends for Services that no route leads to, as ``SERVICE[.NAMESPACE]``."""
    services = [target for target, _, _ in upstreams if isinstance(target, Service)]
    for told in facts.backends:
        if not any(told.stands_for(service) for service in services):
            yield f"{told.name}.{told.namespace}" if told.namespace else told.name


def unserved(upstreams: Iterable[names.Upstream], facts: LocalFacts) -> Iterator[str]:
    """Targets that nothing serves, as ``SERVICE.NAMESPACE:PORT``."""
    for target, port, _ in upstreams:
        if isinstance(target, Service) and not facts.addresses(target, port):
            yield f"{target.name}.{target.namespace}:{port}"
