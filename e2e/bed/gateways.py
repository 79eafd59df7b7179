"""Envoy as Istio's gateway: it takes its configuration from istiod, as istio-proxy would.

istiod makes listeners for a proxy by what it knows of the pod the proxy says to be. So there is
a Pod object with the proxy's name and address, bound to a Node object and patched Ready, and a
Service that selects it: its targetPorts are the ports Envoy listens on. Nothing runs in that
pod; Envoy is a process here, or where `prefix` puts it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from e2e.bed import asking, istiod
from e2e.bed.absence import Absent
from e2e.bed.kubectl import Kubectl
from e2e.bed.processes import Process
from ingressctl.proxy import envoy

NAME, NODE, SERVICE = "gw-0", "gateway", "gw"
LABELS = {"istio": "ingressgateway"}
PLAIN, LOCAL, SECURE = 80, 8081, 443
"""Ports that Gateways name: public, Knative's local one, and TLS."""

_HTTP_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"


@dataclass(frozen=True, slots=True)
class Settings:
    """Where Envoy runs: by default beside the tests, on free ports.

    `prefix` goes before its command (ip netns exec NAME); `pod` is its address there, which may
    not be loopback, or istiod makes no listener; `reached` is its address for the tests; `ports`
    are those it listens on, by the ports that Gateways name; `xds` is the address at which istiod
    listens for it. A Gateway of the Gateway API is served if it is in the proxy's `namespace`; one
    of Istio's may be anywhere.
    """

    prefix: tuple[str, ...] = ()
    pod: str = "10.244.0.10"
    reached: str = "127.0.0.1"
    ports: Mapping[int, int] | None = None
    xds: str = "127.0.0.1"
    namespace: str = istiod.NAMESPACE

    @property
    def hostname(self) -> str:
        """What a Gateway of the Gateway API names in `addresses` to be served by this Envoy."""
        return f"{SERVICE}.{self.namespace}.svc.cluster.local"


HERE = Settings()


@dataclass(frozen=True, slots=True)
class Gateway:
    """A running one. `ports`: where it listens, by the ports that Gateways name."""

    process: Process
    reached: str
    ports: Mapping[int, int]
    socket: Path

    @property
    def address(self) -> str:
        """HOST:PORT of plain HTTP. It answers once a Gateway object has a listener there."""
        return f"{self.reached}:{self.ports[PLAIN]}"

    def admin(self, path: str) -> str:
        """What Envoy tells of itself: /config_dump, /clusters, /stats."""
        return asking.at_socket(self.socket, path)[1]


def start(
    folder: Path,
    *,
    kubectl: Kubectl,
    xds: tuple[str, int],
    ports: Mapping[int, int],
    log: Path,
    settings: Settings,
) -> Gateway:
    """Running and connected to istiod at `xds`, with its Pod and Service in the cluster."""
    folder.mkdir()
    _register(kubectl, settings, ports)
    socket = folder / "admin.sock"
    config = folder / "bootstrap.json"
    config.write_text(json.dumps(_bootstrap(socket, xds, settings), indent=1))
    process = Process(
        "gateway",
        (_program(), "--config-path", config, "--disable-hot-restart", "--concurrency", "2"),
        log=log,
        prefix=settings.prefix,
    )
    process.start(_is_live(socket))
    return Gateway(process, settings.reached, ports, socket)


def _program() -> str:
    try:
        return envoy.binary()
    except envoy.EnvoyFault as fault:
        raise Absent(fault.text, fault.remedy) from None


def _is_live(socket: Path) -> Callable[[], bool]:
    """Live once it has heard istiod's first answer."""
    return lambda: socket.exists() and asking.at_socket(socket, "/ready")[0] == 200


def _register(kubectl: Kubectl, settings: Settings, ports: Mapping[int, int]) -> None:
    text = yaml.safe_dump_all(_objects(settings.namespace, ports))
    kubectl("apply", "--server-side", "-f", "-", stdin=text)
    status = {
        "phase": "Running",
        "podIP": settings.pod,
        "podIPs": [{"ip": settings.pod}],
        "conditions": [{"type": kind, "status": "True"} for kind in ("Ready", "ContainersReady")],
    }
    patch = json.dumps({"status": status})
    words = ("patch", "pod", NAME, "-n", settings.namespace, "--subresource=status")
    kubectl(*words, "--type=merge", "-p", patch)


def _objects(namespace: str, ports: Mapping[int, int]) -> list[dict[str, Any]]:
    place = {"namespace": namespace}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}},
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": NAME, "labels": LABELS, **place},
            "spec": {"nodeName": NODE, "containers": [{"name": "envoy", "image": "envoy"}]},
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": SERVICE, **place},
            "spec": {
                "selector": LABELS,
                "ports": [
                    {"name": f"http-{port}", "port": port, "targetPort": target}
                    for port, target in ports.items()
                ],
            },
        },
    ]


def _bootstrap(socket: Path, xds: tuple[str, int], settings: Settings) -> dict[str, Any]:
    source = {"resource_api_version": "V3", "ads": {}}
    ads = {
        "api_type": "GRPC",
        "transport_api_version": "V3",
        "set_node_on_first_message_only": True,
        "grpc_services": [{"envoy_grpc": {"cluster_name": "xds-grpc"}}],
    }
    return {
        "node": _node(settings),
        "admin": {"address": {"pipe": {"path": str(socket)}}},
        "dynamic_resources": {"ads_config": ads, "cds_config": source, "lds_config": source},
        "static_resources": {"clusters": [_xds(*xds)]},
    }


def _node(settings: Settings) -> dict[str, Any]:
    place = settings.namespace
    return {
        "id": f"router~{settings.pod}~{NAME}.{place}~{place}.svc.cluster.local",
        "cluster": f"{SERVICE}.{place}",
        "metadata": {
            "NAME": NAME,
            "NAMESPACE": place,
            "LABELS": LABELS,
            "ISTIO_VERSION": "1.32.0",
            "CLUSTER_ID": "Kubernetes",
            "INSTANCE_IPS": settings.pod,
        },
    }


def _xds(host: str, port: int) -> dict[str, Any]:
    address = {"socket_address": {"address": host, "port_value": port}}
    options = {
        "@type": f"type.googleapis.com/{_HTTP_OPTIONS}",
        "explicit_http_config": {"http2_protocol_options": {}},
    }
    return {
        "name": "xds-grpc",
        "type": "STATIC",
        "typed_extension_protocol_options": {_HTTP_OPTIONS: options},
        "load_assignment": {
            "cluster_name": "xds-grpc",
            "endpoints": [{"lb_endpoints": [{"endpoint": {"address": address}}]}],
        },
    }
