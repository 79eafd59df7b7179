"""Pods as tests see them: a part of the bed that lives beside its API server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from e2e.bed import absence, processes, timing
from e2e.pods.images import table
from e2e.pods.network import commands, lock, namespaces

START_SECONDS = lock.DEADLINE + 60
END_SECONDS = 30
COMMAND_SECONDS = 30
FETCH = """
import sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=float(sys.argv[2])) as answer:
    sys.stdout.buffer.write(answer.read())
"""


class Unanswered(Exception):
    """A command in a pod ended badly: what it wrote."""


class Pods:
    """A process that runs the pods of a cluster. `check` and `stop` are those of a bed's part."""

    name = "pods"

    def __init__(self, kubeconfig: Path, *, logs: Path, hosts: Sequence[str] = ()) -> None:
        self._logs = logs
        shutil.rmtree(logs / "pods", ignore_errors=True)  # of an earlier run
        (logs / "pods").mkdir(parents=True)
        self._command = [sys.executable, "-m", "e2e.pods", "--kubeconfig", str(kubeconfig)]
        self._command += ["--folder", str(logs / "pods")]
        self._command += [f"--host-address={host}" for host in hosts]
        self._process: subprocess.Popen[str] | None = None

    @property
    def pid(self) -> int:
        """0 before the start and after the end."""
        return self._process.pid if self._process else 0

    def start(self) -> None:
        """Start, and wait until pods can run. Raises absence.Absent."""
        why = commands.missing()
        if why:
            raise absence.Absent(why, commands.REMEDY)
        with timing.measured("start pods"):
            with (self._logs / "pods" / "kubelet.log").open("a") as log:
                self._process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,  # its end is the end of the pods
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                    cwd=table.ROOT,
                    start_new_session=True,
                )
            self._wait_ready(self._process)

    def _wait_ready(self, process: subprocess.Popen[str]) -> None:
        late = threading.Timer(START_SECONDS, process.kill)
        late.start()
        try:
            assert process.stdout is not None
            said = process.stdout.readline().strip()
        finally:
            late.cancel()
        if said != "ready":
            self.stop()
            raise processes.Ended(f"pods did not start:\n{self.last_words()}")

    def check(self) -> None:
        """Raises processes.Ended if pods run no more."""
        if self._process is not None and self._process.poll() is not None:
            code = self._process.returncode
            raise processes.Ended(f"pods ended with {code}:\n{self.last_words()}")

    def stop(self) -> None:
        """End all pods and take their places away."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS)
        self._end(process)

    def crash(self) -> None:
        """As if the machine had no mercy: pods go on running and nobody looks after them."""
        process, self._process = self._process, None
        if process is not None:
            self._end(process)

    def _end(self, process: subprocess.Popen[str]) -> None:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    def last_words(self) -> str:
        """The end of the log."""
        return (self._logs / "pods" / "kubelet.log").read_text()[-2000:]

    def log(self, namespace: str, pod: str, container: str) -> str:
        """What a container wrote, of all its runs."""
        return (self._logs / "pods" / f"{namespace}-{pod}-{container}.log").read_text()

    def execute(self, namespace: str, pod: str, *argv: str) -> str:
        """The output of a command in the network of a pod. Raises Unanswered."""
        place = asyncio.run(namespaces.of_pod(namespace, pod))
        ended = subprocess.run(
            [commands.found("ip"), "netns", "exec", place, *argv],
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
        if ended.returncode:
            raise Unanswered(ended.stderr.strip()[-500:])
        return ended.stdout

    def fetch(self, namespace: str, pod: str, url: str, *, seconds: float = 10) -> Any:
        """The JSON that a pod gets at a URL."""
        words = (sys.executable, "-I", "-c", FETCH, url, str(seconds))
        return json.loads(self.execute(namespace, pod, *words))


def places() -> list[str]:
    """The network namespaces of pods and nodes, of all runs on this machine."""
    return asyncio.run(namespaces.names())
