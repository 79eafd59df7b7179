"""kube-controller-manager: those controllers that make something of Deployments and Services."""

from __future__ import annotations

from pathlib import Path

from e2e.bed import asking, building, programs
from e2e.bed.certificates import Keys
from e2e.bed.processes import Process

CONTROLLERS = (
    "deployment-controller",
    "replicaset-controller",
    "endpointslice-controller",
    "endpoints-controller",
    "garbage-collector-controller",
    "namespace-controller",
    "serviceaccount-controller",
    "root-ca-certificate-publisher-controller",
    "horizontal-pod-autoscaler-controller",
    "clusterrole-aggregation-controller",  # without it the roles view, edit and admin are empty
)


def start(keys: Keys, *, kubeconfig: Path, port: int, log: Path) -> Process:
    """Running; `port` serves its health."""
    process = Process(
        "kube-controller-manager",
        (
            building.built(programs.CONTROLLER_MANAGER),
            f"--kubeconfig={kubeconfig}",
            "--use-service-account-credentials=false",
            "--leader-elect=false",
            f"--service-account-private-key-file={keys.accounts_private}",
            f"--root-ca-file={keys.ca}",
            "--allocate-node-cidrs=false",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            f"--tls-cert-file={keys.server.certificate}",
            f"--tls-private-key-file={keys.server.key}",
            f"--controllers={','.join(CONTROLLERS)}",
        ),
        log=log,
    )
    url = f"https://127.0.0.1:{port}/healthz"
    process.start(lambda: asking.is_ok(url, asking.trusting(keys)))
    return process
