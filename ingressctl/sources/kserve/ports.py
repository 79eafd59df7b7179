"""Which port of a component's Service a rule names (spec/kserve-ingress.md 10.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ingressctl.api.refs import Raw, Ref
from ingressctl.core.values import Value
from ingressctl.core.world import Reads

COMMON_PORT = 80


class Ports(Value, frozen=True):
    """The ports of one Service for routing; 0 means there is none of that kind."""

    rest: int = 0
    grpc: int = 0
    first: int = COMMON_PORT

    @property
    def dual(self) -> bool:
        """Whether REST and gRPC need a rule each."""
        return bool(self.rest and self.grpc)

    def single(self, *, existing: bool) -> int:
        """The port of the one rule: always 80, with F25 (`existing`) one that exists."""
        return self.first if existing else COMMON_PORT


def of_service(namespace: str, name: str, reads: Reads) -> Ports:
    """The ports of that Service; none if it does not exist."""
    obj = reads.get(Ref("", "Service", namespace, name))
    return Ports() if obj is None else detect(obj)


def detect(service: Raw) -> Ports:
    """The first REST and the first gRPC port, and the one a single rule should name."""
    ports: Iterable[Mapping[str, Any]] = (service.get("spec") or {}).get("ports") or ()
    numbers = [(int(port.get("port") or 0), is_grpc(port)) for port in ports]
    rest = next((number for number, grpc in numbers if not grpc), 0)
    grpc = next((number for number, grpc in numbers if grpc), 0)
    present = [number for number, _ in numbers]
    first = COMMON_PORT if COMMON_PORT in present or not present else rest or grpc
    return Ports(rest, grpc, first)


def is_grpc(port: Mapping[str, Any]) -> bool:
    """By appProtocol, or by a name that holds grpc or h2c in any case."""
    name = str(port.get("name") or "").lower()
    return port.get("appProtocol") == "kubernetes.io/h2c" or "grpc" in name or "h2c" in name
