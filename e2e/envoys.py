"""The chart's Envoy beside a bed: its bootstrap, and certificates out of the real Secret."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Mapping
from typing import Any

from e2e import charts
from e2e.bed import asking, ports, waiting
from e2e.bed.bed import Bed
from e2e.bed.processes import Process
from ingressctl.plan import rights
from ingressctl.proxy import envoy

HOST = f"{rights.XDS_SERVICE}.{charts.NAMESPACE}.svc"
KEYS = ("ca.crt", "client.crt", "client.key")
SECONDS = 30


class Envoy:
    """One pod of the gateway as a process. A part of the bed."""

    name = "envoy of the chart"

    def __init__(self, bed: Bed, values: Mapping[str, Any], *, xds: int) -> None:
        self.folder = envoy.make_directory()  # short enough for a socket
        self._bed = bed
        self._xds = xds
        (self.health,) = ports.free(1)
        objects = charts.rendered(values)
        for name, text in charts.one(objects, "ConfigMap", "ingressctl-gateway")["data"].items():
            (self.folder / name).write_text(self._here(text))
        deployment = charts.one(objects, "Deployment", "ingressctl-gateway")
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        command = [envoy.binary(), *(self._here(word) for word in container["args"])]
        command += ["--concurrency", "1", "--log-level", "warning"]
        self._process = Process(self.name, command, log=bed.logs / "envoy.log")

    @property
    def pid(self) -> int:
        """0 before the start and after the end."""
        return self._process.pid

    def start(self) -> None:
        """Mount the Secret, start, and wait until the first configuration has come."""
        data = waiting.until("the Secret", self._secret, seconds=SECONDS)
        for key in KEYS:
            (self.folder / key).write_bytes(base64.b64decode(data[key]))
        self._process.start(self._is_ready, seconds=SECONDS)

    def check(self) -> None:
        """Raises processes.Ended."""
        self._process.check()

    def stop(self) -> None:
        """End it and remove its folder."""
        self._process.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _is_ready(self) -> bool:
        try:
            return asking.at_socket(self.folder / "admin.sock", "/ready")[1].strip() == "LIVE"
        except OSError:
            return False

    def _secret(self) -> dict[str, str] | None:
        words = ("get", "secret", rights.CERTIFICATES, "-n", charts.NAMESPACE, "-o=json")
        text = self._bed.kubectl(*words, "--ignore-not-found")
        return json.loads(text)["data"] if text.strip() else None

    def _here(self, text: str) -> str:
        for old, new in (
            ("/etc/ingressctl/bootstrap", str(self.folder)),
            ("/etc/ingressctl/certificates", str(self.folder)),
            ("/tmp/admin.sock", str(self.folder / "admin.sock")),
            (f"address: {HOST}", "address: 127.0.0.1"),
            ("port_value: 18000", f"port_value: {self._xds}"),
            ("port_value: 8081", f"port_value: {self.health}"),
            ("$(POD_NAMESPACE).$(POD_NAME)", "gateway-0"),
        ):
            text = text.replace(old, new)
        return text
