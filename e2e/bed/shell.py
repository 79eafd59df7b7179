"""``make e2e-shell``: a person in a shell, in front of a running bed, until the shell ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from e2e.bed import building, programs, timing
from e2e.bed.bed import Bed


def run() -> int:
    """The exit code. Raises absence.Absent."""
    for number in (signal.SIGTERM, signal.SIGHUP):  # the end of a terminal is one in order
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    with Bed.start() as bed:
        _be_there(bed)
    return 0


def _be_there(bed: Bed) -> None:
    for span in timing.spans:
        print(timing.line(*span))
    print(f"logs: {bed.logs}")
    print("KUBECONFIG is set, kubectl and helm are on PATH; exit ends the cluster.")
    print(f"GATEWAY={bed.gateway.address} is Envoy, once a Gateway has a listener at port 80.")
    sys.stdout.flush()
    kept = signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is the shell's
    try:
        subprocess.run([os.environ.get("SHELL", "/bin/sh")], env=_environment(bed), check=False)
    finally:
        signal.signal(signal.SIGINT, kept)


def _environment(bed: Bed) -> dict[str, str]:
    folders = [str(building.built(program).parent) for program in (programs.KUBECTL, programs.HELM)]
    path = os.pathsep.join((*folders, os.environ.get("PATH", "")))
    told = {"PATH": path, "KUBECONFIG": str(bed.kubeconfig), "GATEWAY": bed.gateway.address}
    return {**os.environ, **told}
