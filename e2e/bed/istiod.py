"""istiod, as the control plane of an Envoy that is not Istio's own build.

Everything is switched off that only Istio's Envoy understands (its metadata filters), or that
only a cluster with nodes needs (injection, certificates, deployments of its own).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from e2e.bed import asking, building, programs
from e2e.bed.processes import Process

NAMESPACE = "istio-system"

MESH = """\
enableAutoMtls: false
enableTracing: false
"""

ENVIRONMENT = {
    "POD_NAMESPACE": NAMESPACE,
    "POD_NAME": "istiod-0",
    "ENABLE_LEADER_ELECTION": "false",
    "ENABLE_DEBUG_ENDPOINT_AUTH": "false",
    "ENABLE_CA_SERVER": "false",
    "INJECTION_WEBHOOK_CONFIG_NAME": "",
    "VALIDATION_WEBHOOK_CONFIG_NAME": "",
    "PILOT_CERT_PROVIDER": "none",
    "PILOT_DISABLE_MX_ALPN": "true",
    "PILOT_ENABLE_ALPN_FILTER": "false",
    "PILOT_ENABLE_GATEWAY_API_DEPLOYMENT_CONTROLLER": "false",
    "PILOT_ENABLE_METADATA_EXCHANGE": "false",
}


@dataclass(frozen=True, slots=True)
class Ports:
    """`xds` is the gateway's, the others answer on this machine only."""

    xds: int
    http: int
    monitoring: int


def start(
    folder: Path,
    *,
    kubeconfig: Path,
    address: str,
    ports: Ports,
    log: Path,
    environment: Mapping[str, str],
) -> Process:
    """Running and ready; `address` is where gateways reach it, with plain gRPC.

    `environment` goes over what is set here.
    """
    folder.mkdir()
    mesh = folder / "mesh.yaml"
    mesh.write_text(MESH)
    process = Process(
        "istiod",
        (
            building.built(programs.ISTIOD),
            "discovery",
            "--registries=Kubernetes",
            f"--kubeconfig={kubeconfig}",
            "--clusterID=Kubernetes",
            f"--meshConfig={mesh}",
            f"--namespace={NAMESPACE}",
            f"--grpcAddr={address}:{ports.xds}",
            "--secureGRPCAddr=",
            "--httpsAddr=",
            f"--httpAddr=127.0.0.1:{ports.http}",
            f"--monitoringAddr=127.0.0.1:{ports.monitoring}",
            "--ctrlz_port=0",
        ),
        log=log,
        environment={**ENVIRONMENT, **environment},
        folder=folder,  # it looks for its certificates relative to where it runs
    )
    process.start(lambda: asking.is_ok(f"http://127.0.0.1:{ports.http}/ready"))
    return process
