"""What routes do not say but a proxy must know: protocols and addresses behind a target.

The provider is pure, so both come from outside: from the objects of a world, or from what
`up` was told on its command line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from ingressctl.api.refs import Raw, Ref, labels_of, ref_of
from ingressctl.core.model import External, Service
from ingressctl.core.world import World

SERVICE_NAME = "kubernetes.io/service-name"
KNATIVE_H2C_PORT = 81
ENDPOINT_SLICE = ("discovery.k8s.io", "EndpointSlice")


class Address(NamedTuple):
    """An IP address and port that answers."""

    host: str
    port: int


class Facts(Protocol):
    """Answers about Services."""

    def h2(self, service: Service, port: int) -> bool:
        """Whether the port speaks HTTP/2 in clear text (gRPC, h2c)."""
        ...

    def addresses(self, target: Service | External, port: int) -> tuple[Address, ...]:
        """Where the target is served; empty when nowhere."""
        ...


class Unknown:
    """Facts of nothing: enough to decide where a request goes, not to carry it."""

    def h2(self, service: Service, port: int) -> bool:
        """HTTP/1.1 unless a rule says otherwise."""
        return False

    def addresses(self, target: Service | External, port: int) -> tuple[Address, ...]:
        """Nowhere."""
        return ()


@dataclass(frozen=True, slots=True)
class WorldFacts:
    """Facts from Services and EndpointSlices. It indexes the slices once, and again one by one
    where a world follows a cluster (`moved`)."""

    world: World
    _slices: dict[Service, dict[Ref, None]] = field(default_factory=dict)
    _services: dict[Ref, Service] = field(default_factory=dict)

    @classmethod
    def of(cls, world: World) -> WorldFacts:
        """The facts of a world."""
        facts = cls(world)
        for obj in world.list(ENDPOINT_SLICE):
            facts._put(ref_of(obj), obj)
        return facts

    def moved(self, ref: Ref) -> tuple[Service, ...]:
        """A Service or an EndpointSlice is another one now; the Services whose facts change."""
        if ref.kind == "Service":
            return (Service(ref.namespace, ref.name),)
        before = self._services.get(ref)
        after = self._put(ref, self.world.get(ref))
        return tuple(dict.fromkeys(one for one in (before, after) if one is not None))

    def _put(self, ref: Ref, obj: Raw | None) -> Service | None:
        """File a slice under its Service; None takes it out."""
        before = self._services.pop(ref, None)
        if before is not None:
            self._slices[before].pop(ref, None)
        if obj is None:
            return None
        service = Service(ref.namespace, labels_of(obj).get(SERVICE_NAME, ""))
        self._services[ref] = service
        self._slices.setdefault(service, {})[ref] = None
        return service

    def h2(self, service: Service, port: int) -> bool:
        """By appProtocol and port name, as KServe and Istio read them.

        Services of revisions are Knative's and often not there: its port for h2c tells.
        """
        if self.world.get(_ref(service)) is None:
            return port == KNATIVE_H2C_PORT
        return any(is_h2(item) for item in self._ports(service) if item.get("port") == port)

    def addresses(self, target: Service | External, port: int) -> tuple[Address, ...]:
        """Endpoints of the Service's slices, by port name or number: those that are ready,
        and where there is none those that end but still serve (Kubernetes' rule)."""
        if isinstance(target, External):
            return ()
        wanted = next((item for item in self._ports(target) if item.get("port") == port), None)
        refs = sorted(self._slices.get(target, ()))
        slices = [obj for ref in refs if (obj := self.world.get(ref)) is not None]
        for counts in (_is_ready, _still_serves):
            found = (
                address
                for obj in slices
                for address in _slice_addresses(obj, wanted, counts, port=port)
            )
            if addresses := tuple(dict.fromkeys(found)):
                return addresses
        return ()

    def _ports(self, service: Service) -> Iterable[Mapping[str, Any]]:
        obj = self.world.get(_ref(service))
        return ((obj or {}).get("spec") or {}).get("ports") or ()


def _ref(service: Service) -> Ref:
    return Ref("", "Service", service.namespace, service.name)


def is_h2(port: Mapping[str, Any]) -> bool:
    """Whether a Service port is declared to speak HTTP/2 in clear text."""
    protocol = str(port.get("appProtocol") or "").lower()
    name = str(port.get("name") or "").lower()
    if protocol:
        return protocol in ("kubernetes.io/h2c", "grpc", "h2c", "http2")
    return "grpc" in name or "h2c" in name or name.partition("-")[0] == "http2"


def _is_ready(conditions: Mapping[str, Any]) -> bool:
    """Unknown counts as ready."""
    return conditions.get("ready") is not False


def _still_serves(conditions: Mapping[str, Any]) -> bool:
    return bool(conditions.get("terminating") and conditions.get("serving"))


def _slice_addresses(
    obj: Raw,
    wanted: Mapping[str, Any] | None,
    counts: Callable[[Mapping[str, Any]], bool],
    *,
    port: int,
) -> Iterator[Address]:
    number = _slice_port(obj, wanted, port)
    if not number:
        return
    for endpoint in obj.get("endpoints") or ():
        if not counts(endpoint.get("conditions") or {}):
            continue
        for address in endpoint.get("addresses") or ():
            yield Address(str(address), number)


def _slice_port(obj: Raw, wanted: Mapping[str, Any] | None, port: int) -> int:
    """The number of the slice's port: by the Service port's name, else by number, else alone."""
    ports = tuple(obj.get("ports") or ())
    name = str((wanted or {}).get("name") or "")
    target = (wanted or {}).get("targetPort") or port
    for item in ports:
        if str(item.get("name") or "") == name and (name or wanted is not None):
            return int(item.get("port") or 0)
    for item in ports:
        if item.get("port") == target:
            return int(target)
    return int(ports[0].get("port") or 0) if len(ports) == 1 else 0
