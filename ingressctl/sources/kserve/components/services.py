"""The component Service of Standard mode (spec/kserve-ingress.md 11, kserve-runtimes.md 8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ingressctl.api.refs import Raw
from ingressctl.core.world import Reads
from ingressctl.sources.kserve import ports
from ingressctl.sources.kserve.components import pods
from ingressctl.sources.kserve.components.workload import Workload

CONTAINER_PORT = 8080
AGENT_PORT = 9081
H2C = "kubernetes.io/h2c"


def make(workload: Workload, *, headless: bool, reads: Reads) -> Raw:
    """The Service in front of the component's pods."""
    app = f"isvc.{workload.name}"
    labels = {**workload.labels, "app": app}
    spec: dict[str, Any] = {"ports": _ports(workload, reads), "selector": {"app": app}}
    if headless:
        spec["clusterIP"] = "None"
    return {**workload.frame("v1", "Service", labels, workload.annotations), "spec": spec}


def _ports(workload: Workload, reads: Reads) -> list[dict[str, Any]]:
    given = pods.published(workload.pod.containers).get("ports") or ()
    if not given:
        given = [{"name": workload.name, "containerPort": CONTAINER_PORT}]
    elif len(given) > 1 and reads.differs("R7"):
        given = _named(given)
    shown = [_port(entry, int(entry["containerPort"])) for entry in given]
    first = shown[_first(given, reads)]
    first["port"] = ports.COMMON_PORT
    if workload.has_agent:
        first["targetPort"] = AGENT_PORT
    return shown


def _first(given: Sequence[Raw], reads: Reads) -> int:
    """Which one callers find on port 80: one that speaks HTTP, if there is any (F25)."""
    if not reads.differs("F25"):
        return 0
    plain = (place for place, entry in enumerate(given) if not ports.is_grpc(entry))
    return next(plain, 0)


def _named(given: Sequence[Raw]) -> list[Raw]:
    return [
        entry if entry.get("name") else {**entry, "name": f"port-{entry['containerPort']}"}
        for entry in given
    ]


def _port(entry: Raw, number: int) -> dict[str, Any]:
    shown: dict[str, Any] = {"port": number, "protocol": entry.get("protocol") or "TCP"}
    name = entry.get("name")
    if name:
        shown = {"name": name, **shown}
        if ports.is_grpc(entry):
            shown["appProtocol"] = H2C
    return {**shown, "targetPort": number}
