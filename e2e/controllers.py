"""`ingressctl run` beside a bed, with the rights of the chart and no others."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from e2e import charts
from e2e.bed import ports
from e2e.bed.bed import Bed
from e2e.bed.processes import Process

ROLES = ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "ServiceAccount")
READY_SECONDS = 60
REFUSED = re.compile(r'rest_client_requests_total\{code="(401|403)"[^}]*\} ([1-9]\S*)')


class Refused(AssertionError):
    """The API server refused a request of the controller: a right is missing in the chart."""


class Controller:
    """One replica as a part of a bed. `check` fails when it ended or was refused anything."""

    name = "ingressctl run"

    def __init__(
        self,
        bed: Bed,
        arguments: Sequence[str],
        *,
        kubeconfig: Path,
        log: Path,
        environment: Mapping[str, str],
    ) -> None:
        self.health, self.metrics_port = ports.free(2)
        command = [
            sys.executable,
            "-m",
            "ingressctl",
            "run",
            f"--kubeconfig={kubeconfig}",
            f"--health-port={self.health}",
            f"--metrics-port={self.metrics_port}",
            *arguments,
        ]
        self.log = log
        self._process = Process(self.name, command, log=log, environment=environment)

    @property
    def pid(self) -> int:
        """0 before the start and after the end."""
        return self._process.pid

    def start(self) -> None:
        """Start, and wait until it is ready."""
        self._process.start(
            lambda: _asked(self.health, "/readyz") is not None, seconds=READY_SECONDS
        )

    def check(self) -> None:
        """Raises processes.Ended, Refused."""
        self._process.check()
        if self.pid:
            found = REFUSED.search(self.metrics())
            if found:
                raise Refused(f"{found[0]}\n{self._process.last_words(40)}")

    def stop(self) -> None:
        """A clean end."""
        self._process.stop()

    def kill(self) -> None:
        """As a machine that lost its power."""
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        self._process.stop()

    def metrics(self) -> str:
        """What a scrape gets."""
        return _asked(self.metrics_port, "/metrics") or ""

    def value(self, name: str) -> float:
        """The sum of a metric over all its labels."""
        lines = (line for line in self.metrics().splitlines() if not line.startswith("#"))
        pairs = (line.rpartition(" ") for line in lines)
        return sum(float(value) for key, _, value in pairs if key.partition("{")[0] == name)


def started(
    bed: Bed,
    *arguments: str,
    values: Mapping[str, Any] | None = None,
    pod: str = "controller-0",
    through: Callable[[Path], Path] | None = None,
) -> Controller:
    """A replica of a release with these values of the chart, ready; the bed ends it.

    `through` makes another kubeconfig of its own, which leads by way of something else.
    The namespaces of charts.make_namespaces must exist.
    """
    own = account(bed, values or {})
    controller = Controller(
        bed,
        arguments,
        kubeconfig=through(own) if through else own,
        log=bed.logs / f"{pod}.log",
        environment={"POD_NAMESPACE": charts.NAMESPACE, "POD_NAME": pod},
    )
    controller.start()
    bed.processes.append(controller)
    return controller


def account(bed: Bed, values: Mapping[str, Any]) -> Path:
    """A kubeconfig of the ServiceAccount of a release with these values of the chart."""
    objects = charts.rendered(values)
    bed.apply(yaml.safe_dump_all(obj for obj in objects if obj["kind"] in ROLES))
    return bed.account(charts.NAMESPACE, "ingressctl")


def _asked(port: int, path: str) -> str | None:
    """The body of a 200; None for any other answer."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return str(answer.read().decode())
    except (urllib.error.URLError, OSError):
        return None
