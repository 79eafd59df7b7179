"""The ways that requests of a rollout take to the pods: which proxy, and who tells it of routes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from e2e import doors
from e2e.bed import gateways, ports
from e2e.bed.bed import Bed
from e2e.envoys import Envoy

ENTRIES = {"gateway_api": doors.KSERVE_PORT, "istio": gateways.PLAIN}
"""Ports of the bed's gateway, by provider."""


def _nothing() -> None:
    """All of the way is there already."""


@dataclass(frozen=True, slots=True)
class Way:
    """`address` is where requests come in; `begin` is called when a controller runs."""

    provider: str
    address: str
    values: Mapping[str, Any]
    flags: tuple[str, ...] = ()
    begin: Callable[[], None] = _nothing
    drains: bool = False
    """Whether the proxy tells of requests under way, so that what they go to stays so long."""


def over_istiod(bed: Bed, provider: str) -> Way:
    """The gateway of the bed, told by istiod of objects that a provider makes."""
    bed.apply(yaml.safe_dump_all(doors.objects(bed.gateway)))
    address = f"{bed.gateway.reached}:{bed.gateway.ports[ENTRIES[provider]]}"
    return Way(provider, address, _values(provider))


def over_own_envoy(bed: Bed) -> Way:
    """An Envoy of the chart, told by the controller itself; it outlives every controller."""
    entry, xds = ports.free(2)
    values = {
        **_values("envoy"),
        "knative": {"enabled": False},
        "gateway": {"enabled": True, "address": "127.0.0.1"},
    }
    envoy = Envoy(bed, values, xds=xds)

    def begin() -> None:
        if envoy not in bed.processes:
            envoy.start()
            bed.processes.append(envoy)

    flags = (
        "--no-knative",
        f"--xds-port={xds}",
        f"--gateway-port={entry}",
        "--gateway-address=127.0.0.1",
    )
    return Way("envoy", f"127.0.0.1:{entry}", values, flags, begin, drains=True)


def _values(provider: str) -> dict[str, Any]:
    return {
        "providers": [provider],
        "provider": provider,
        "write": ["routes", "workloads"],
        "beside": "",
    }
