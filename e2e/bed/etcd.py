"""etcd: where the API server keeps what it is told. Its folder is thrown away with the bed."""

from __future__ import annotations

from pathlib import Path

from e2e.bed import asking, building, programs
from e2e.bed.processes import Process


def start(folder: Path, *, log: Path, ports: tuple[int, int]) -> tuple[Process, str]:
    """Running, with its URL. `ports` are those of clients and of peers, of which it has none."""
    clients, peers = (f"http://127.0.0.1:{port}" for port in ports)
    process = Process(
        "etcd",
        (
            building.built(programs.ETCD),
            "--unsafe-no-fsync",  # nothing has to outlive a power cut
            f"--data-dir={folder}",
            f"--listen-client-urls={clients}",
            f"--advertise-client-urls={clients}",
            f"--listen-peer-urls={peers}",
            "--log-level=warn",
        ),
        log=log,
    )
    process.start(lambda: asking.is_ok(f"{clients}/health"))
    return process, clients
