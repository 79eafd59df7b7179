"""``ingressctl up`` as a person calls it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.envoy.test_up import PATIENCE, manifest

PROGRAM = [sys.executable, "-m", "ingressctl", "up"]
ENVIRONMENT = {**os.environ, "NO_COLOR": "1", "COLUMNS": "80"}


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "model.yaml"
    path.write_text(manifest())
    return str(path)


def call(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=ENVIRONMENT,
    )


def test_the_dump_is_json_on_stdout(file: str) -> None:
    """Every kind of resource is there, in the order in which they are sent."""
    ended = call("-f", file, "--dump")
    assert ended.returncode == 0, ended.stderr
    kinds = [item["@type"].rpartition(".")[2] for item in json.loads(ended.stdout)]
    assert list(dict.fromkeys(kinds)) == [
        "Cluster",
        "ClusterLoadAssignment",
        "Listener",
        "ScopedRouteConfiguration",
        "RouteConfiguration",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--backend", "m"], r"--backend 'm' is not SERVICE\[.NAMESPACE\]=HOST:PORT"),
        (["--address", "here"], "--address cannot be 'here'"),
        (["--compat", "x"], "compat must start with"),
    ],
)
def test_what_cannot_be_is_said_with_a_remedy(file: str, words: list[str], said: str) -> None:
    ended = call("-f", file, *words)
    assert ended.returncode == 2
    assert re.search(f"error: .*{said}.*\n  help: ", ended.stderr), ended.stderr
    assert "Traceback" not in ended.stderr


def test_missing_and_broken_files_are_said(tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("a: [")
    ended = call("-f", str(tmp_path / "absent.yaml"), "-f", str(broken))
    assert ended.returncode == 2
    assert "absent.yaml: does not exist" in ended.stderr
    assert re.search(r"broken.yaml:\d+: is not valid YAML", ended.stderr)


def test_a_taken_port_ends_with_2(file: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = call("-f", file, "--port", str(taken.getsockname()[1]))
    assert ended.returncode == 2
    assert re.search(r"error: port \d+ of 127.0.0.1 is taken\n  help: .*--port", ended.stderr)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_everything(file: str, number: signal.Signals) -> None:
    """Ctrl-C is no failure, and the port is free again."""
    process = subprocess.Popen(
        [*PROGRAM, "-f", file, "--stub", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    with process:
        assert process.stderr is not None
        port = 0
        for line in process.stderr:
            found = re.search(r"serving .* at http://127.0.0.1:(\d+)", line)
            if found:
                port = int(found[1])
                break
        with socket.create_connection(("127.0.0.1", port)):
            process.send_signal(number)
            assert process.wait(timeout=PATIENCE) == 0
        process.stderr.read()
    with socket.create_server(("127.0.0.1", port)):
        pass
