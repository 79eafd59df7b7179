"""The side of the tests: a session with the SDK, which is a process of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("session.py")
END_SECONDS = 10


class Faulty(AssertionError):
    """The SDK raised: what it said."""


class Sdk:
    """One client, run by the interpreter that has kserve. Every call raises Faulty if the SDK does.

    `stop` is that of a bed's part.
    """

    name = "kserve SDK"

    def __init__(self, python: Path, kubeconfig: Path, *, log: Path) -> None:
        self._command = [str(python), str(SCRIPT), str(kubeconfig)]
        self._log = log
        self._process: subprocess.Popen[str] | None = None

    @property
    def pid(self) -> int:
        """0 before the start and after the end."""
        return self._process.pid if self._process else 0

    def start(self) -> None:
        """Start and wait until kserve is imported, which takes seconds."""
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self._told()

    def check(self) -> None:
        """It may end only by `stop`."""
        assert self._process is None or self._process.poll() is None, self._log.read_text()[-2000:]

    def stop(self) -> None:
        """End it."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate(timeout=END_SECONDS)

    def create(self, body: dict[str, Any]) -> int:
        """The generation of a new InferenceService."""
        return int(self._do("create", body=body))

    def patch(self, body: dict[str, Any]) -> int:
        """The generation after a patch."""
        return int(self._do("patch", body=body))

    def delete(self, name: str, namespace: str) -> None:
        """Delete an InferenceService."""
        self._do("delete", name=name, namespace=namespace)

    def wait(self, name: str, namespace: str, *, seconds: float) -> None:
        """`wait_isvc_ready`."""
        self._do("wait", name=name, namespace=namespace, seconds=seconds)

    def predict(
        self, protocol: str, address: str, host: str, values: Sequence[int], *, model: str
    ) -> list[Any]:
        """What a model answers by ``v1``, ``v2`` or ``grpc``."""
        asked = {"address": address, "host": host, "model": model, "values": list(values)}
        return list(self._do("predict", protocol=protocol, **asked))

    def _do(self, what: str, **asked: Any) -> Any:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": what, **asked}) + "\n")
        self._process.stdin.flush()
        return self._told()

    def _told(self) -> Any:
        assert self._process is not None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise Faulty(f"the SDK ended: {self._log.read_text()[-2000:]}")
        answer = json.loads(line)
        if "fault" in answer:
            raise Faulty(answer["fault"])
        return answer["told"]
