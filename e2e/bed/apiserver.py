"""kube-apiserver: RBAC is on, and what asks for nodes or for a cloud is off."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from e2e.bed import asking, building, programs
from e2e.bed.certificates import Keys
from e2e.bed.processes import Process

SERVICES = "10.96.0.0/16"
ADVERTISED = "192.0.2.1"
"""It must be given and may not be loopback; nobody asks for it, since no reconciler writes it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """`priority_and_fairness` makes it queue and refuse requests as a real one under load."""

    address: str = "127.0.0.1"
    priority_and_fairness: bool = False
    extra: tuple[str, ...] = ()


PLAIN = Settings()


def start(
    keys: Keys, *, etcd: str, port: int, log: Path, settings: Settings
) -> tuple[Process, str]:
    """Running and ready, with its URL."""
    url = f"https://{settings.address}:{port}"
    program = building.built(programs.APISERVER)
    process = Process(
        "kube-apiserver", (program, *_flags(keys, etcd, port, log, settings)), log=log
    )
    context = asking.trusting(keys)
    process.start(lambda: asking.is_ok(f"{url}/readyz", context), seconds=120)
    return process, url


def _flags(keys: Keys, etcd: str, port: int, log: Path, settings: Settings) -> list[str]:
    fairness = str(settings.priority_and_fairness).lower()
    return [
        f"--etcd-servers={etcd}",
        f"--advertise-address={ADVERTISED}",
        f"--bind-address={settings.address}",
        f"--secure-port={port}",
        f"--tls-cert-file={keys.server.certificate}",
        f"--tls-private-key-file={keys.server.key}",
        f"--client-ca-file={keys.ca}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={keys.accounts_public}",
        f"--service-account-signing-key-file={keys.accounts_private}",
        f"--service-cluster-ip-range={SERVICES}",
        "--allow-privileged=true",
        "--authorization-mode=RBAC",
        "--disable-admission-plugins=ServiceAccount",  # it would want every pod's token mounted
        "--enable-aggregator-routing=true",
        "--endpoint-reconciler-type=none",
        f"--enable-priority-and-fairness={fairness}",
        "--profiling=false",
        f"--cert-dir={log.parent}",
        *settings.extra,
    ]
