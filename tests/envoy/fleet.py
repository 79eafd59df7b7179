"""Replicas that serve Envoys over mutual TLS, a picture that changes, and an Envoy of theirs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.cluster import authority
from ingressctl.core.model import Route
from ingressctl.core.outcome import Keep
from ingressctl.core.picture import Picture
from ingressctl.core.settings import Settings
from ingressctl.providers.envoy.facts import Address
from ingressctl.proxy import bootstrap, envoy
from ingressctl.proxy.cluster import Listening, Proxies

HOST = "ingressctl-xds.ns.svc"
SECONDS = 20
_TLS = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3."


def certificates(
    now: datetime | None = None, old: dict[str, bytes] | None = None
) -> dict[str, bytes]:
    """What the leader would write."""
    made = authority.renewed(old or {}, (HOST,), now or datetime.now(UTC))
    assert made is not None
    return made


class Replica:
    """One controller's part that Envoys see."""

    def __init__(self, port: int, gateway_port: int, **more: Any) -> None:
        self.picture = Picture(Settings())
        self.woken: list[Ref] = []
        more = {"settle": 0.0, "away": 0.0, **more}
        self.proxies = Proxies(Listening(f"[::]:{port}", gateway_port, "::", **more))
        self.proxies.start(self.picture, self.woken.append)
        self._task: asyncio.Task[None] | None = None

    def trust(self, data: dict[str, bytes]) -> None:
        self.proxies.trust(data["ca.crt"], data["server.crt"], data["server.key"])

    def put(self, *objects: Raw) -> None:
        for obj in objects:
            self.picture.change([(ref_of(obj), obj)])
            self.proxies.moved(ref_of(obj))

    def carry(self, *routes: Route) -> None:
        for route in routes:
            self.proxies.carry(route.owner.ref, (route,), Keep(), hosts=())

    async def serve(self) -> None:
        """Begin, and return when it answers."""
        self._task = asyncio.create_task(self.proxies.serve())
        await until(lambda: not self.proxies.unready)

    def begin(self) -> None:
        self._task = asyncio.create_task(self.proxies.serve())

    async def end(self) -> None:
        await self.proxies.stop()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task


async def until(what: Callable[[], Any]) -> None:
    async with asyncio.timeout(SECONDS):
        while not what():
            await asyncio.sleep(0.02)


def service(name: str, address: Address) -> tuple[Raw, Raw]:
    """A Service and its one endpoint."""
    meta = {"name": name, "namespace": "ns"}
    labels = {"kubernetes.io/service-name": name}
    return (
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": meta,
            "spec": {"ports": [{"port": 80, "targetPort": address.port}]},
        },
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {**meta, "labels": labels},
            "ports": [{"name": "", "port": address.port}],
            "endpoints": [{"addresses": [address.host], "conditions": {"ready": True}}],
        },
    )


@contextlib.asynccontextmanager
async def running(ports: list[int], data: dict[str, bytes] | None) -> AsyncIterator[Path]:
    """An Envoy that connects to one of these ports, with a client certificate or without; the
    folder of its certificates."""
    folder = envoy.make_directory()
    try:
        write(folder, data or {})
        (folder / "bootstrap.json").write_text(json.dumps(_bootstrap(folder, ports, data)))
        process = await asyncio.create_subprocess_exec(
            *(envoy.binary(), "--config-path", str(folder / "bootstrap.json")),
            *("--disable-hot-restart", "--concurrency", "1", "--log-level", "error"),
        )
        try:
            yield folder
        finally:
            process.kill()
            await process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write(folder: Path, data: dict[str, bytes]) -> None:
    """As the kubelet does it: each file is another one at once."""
    for name, content in data.items():
        fresh = folder / f"{name}.fresh"
        fresh.write_bytes(content)
        fresh.rename(folder / name)


def _bootstrap(folder: Path, ports: list[int], data: dict[str, bytes] | None) -> dict[str, Any]:
    config = bootstrap.bootstrap(folder)
    config["node"]["id"] = "gateway-0"
    service = {"envoy_grpc": {"cluster_name": "xds"}}
    retry = {"retry_back_off": {"base_interval": "0.1s", "max_interval": "0.5s"}}
    ads = config["dynamic_resources"]["ads_config"]
    ads["grpc_services"] = [{"envoy_grpc": {"cluster_name": "xds", "retry_policy": retry}}]
    config["cluster_manager"]["load_stats_config"] = {
        "api_type": "GRPC",
        "transport_api_version": "V3",
        "grpc_services": [service],
    }
    (xds,) = config["static_resources"]["clusters"]
    xds["connect_timeout"] = "1s"
    xds["load_assignment"]["endpoints"] = [
        {
            "lb_endpoints": [
                {
                    "endpoint": {
                        "address": {"socket_address": {"address": "127.0.0.1", "port_value": port}}
                    }
                }
                for port in ports
            ]
        }
    ]
    xds["transport_socket"] = _transport(folder, data)
    return config


def _transport(folder: Path, data: dict[str, bytes] | None) -> dict[str, Any]:
    watched = {"path": str(folder)}
    authority_secret = {
        "@type": f"{_TLS}Secret",
        "name": "authority",
        "validation_context": {
            "trusted_ca": {"filename": str(folder / "ca.crt")},
            "watched_directory": watched,
            "match_typed_subject_alt_names": [{"san_type": "DNS", "matcher": {"exact": HOST}}],
        },
    }
    client_secret = {
        "@type": f"{_TLS}Secret",
        "name": "client",
        "tls_certificate": {
            "certificate_chain": {"filename": str(folder / "client.crt")},
            "private_key": {"filename": str(folder / "client.key")},
            "watched_directory": watched,
        },
    }
    tls: dict[str, Any] = {"alpn_protocols": ["h2"]}
    if data is not None:
        for name, secret in (("authority", authority_secret), ("client", client_secret)):
            (folder / f"{name}.yaml").write_text(json.dumps({"resources": [secret]}))
        tls["validation_context_sds_secret_config"] = _sds(folder, "authority")
        tls["tls_certificate_sds_secret_configs"] = [_sds(folder, "client")]
    return {
        "name": "envoy.transport_sockets.tls",
        "typed_config": {
            "@type": f"{_TLS}UpstreamTlsContext",
            "sni": HOST,
            "common_tls_context": tls,
        },
    }


def _sds(folder: Path, name: str) -> dict[str, Any]:
    source = {"path_config_source": {"path": str(folder / f"{name}.yaml")}}
    return {"name": name, "sds_config": {"resource_api_version": "V3", **source}}
