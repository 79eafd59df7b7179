"""The graph router under load, beside a plain aiohttp one: ``python -m tests.bench.router SHAPE``.

Stub, router and load are a process each. CPU is that of the router's process for a request,
which other work on the machine changes least. Prints JSON.
"""

from __future__ import annotations

import itertools
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SHAPES = ("sequence", "ensemble", "splitter", "switch")
SIZES, CONNECTIONS, DELAYS = (1_000, 100_000), (1, 16, 64, 256), (0, 10)
ROUTERS = ("ours", "ours with 2 workers", "plain")
SECONDS = 1.5


def graph(shape: str, stub: int) -> str:
    """A graph of three steps that is asked in that way; all steps are one stub."""
    step: dict[str, Any] = {"serviceUrl": f"http://127.0.0.1:{stub}/v1/models/m:predict"}
    steps = [{**step, "name": f"s{number}"} for number in range(3)]
    if shape == "sequence":
        for later in steps[1:]:
            later["data"] = "$response"
    elif shape == "splitter":
        for weight, one in zip((50, 30, 20), steps, strict=True):
            one["weight"] = weight
    elif shape == "switch":
        for key, one in zip(("nothing", "instances.99999", "instances.0"), steps, strict=True):
            one["condition"] = key
    return json.dumps({"nodes": {"root": {"routerType": shape.title(), "steps": steps}}})


@contextmanager
def process(*words: str, **more: Any) -> Iterator[subprocess.Popen[bytes]]:
    ran = subprocess.Popen([sys.executable, "-m", *words], **more)
    try:
        yield ran
    finally:
        ran.kill()
        ran.wait()


@contextmanager
def router(kind: str, shape: str, stub: int) -> Iterator[tuple[int, int]]:
    """Process id and port, when it serves."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    if kind == "plain":
        words = ["tests.bench.router.plain", shape, str(port), str(stub)]
    else:
        words = ["ingressctl", "router", "--metrics-port", "0", "--port", str(port)]
        words += ["--log-level", "error", "--graph-json", graph(shape, stub)]
        words += ["--workers", "2"] if kind != ROUTERS[0] else []
    with process(*words) as ran:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        yield ran.pid, port


def family(pid: int) -> list[int]:
    """A process and those that it has made."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [pid, *map(int, file.read().split())]


def cpu(pid: int) -> float:
    """Seconds of CPU a process and its children have used."""
    return sum(map(_ticks, family(pid))) / os.sysconf("SC_CLK_TCK")


def _ticks(pid: int) -> int:
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def memory(pid: int) -> float:
    """In MB: the most that a process has had; of several, their shares of what they have."""
    pids = family(pid)
    if len(pids) == 1:
        return _kilobytes(f"/proc/{pid}/status", "VmHWM") / 1000
    return sum(_kilobytes(f"/proc/{one}/smaps_rollup", "Pss:") for one in pids) / 1000


def _kilobytes(path: str, name: str) -> int:
    with open(path) as file:
        (line,) = (line for line in file if line.startswith(name))
    return int(line.split()[1])


def loaded(pid: int, port: int, connections: int, size: int) -> dict[str, float]:
    """What the load saw and what it cost."""
    words = ("tests.bench.router.load", str(port), str(connections), str(SECONDS), str(size))
    before = cpu(pid)
    ran = subprocess.run([sys.executable, "-m", *words], stdout=subprocess.PIPE, check=True)
    seen: dict[str, float] = json.loads(ran.stdout)
    if seen["errors"]:
        raise SystemExit(f"{seen['errors']} requests failed")
    seen["cpu_us"] = (cpu(pid) - before) / seen["requests"] * 1e6
    return seen


def key(kind: str, size: int, delay: int, connections: int, what: str) -> str:
    return f"{kind}-{size}-{delay}-{connections}-{what}"


def measure(shape: str) -> dict[str, float]:
    """Every size, delay and number of connections, each router fresh for each size and delay."""
    found: dict[str, float] = {}
    for size, delay in itertools.product(SIZES, DELAYS):
        words = ("tests.bench.router.stub", str(size), str(delay))
        with process(*words, stdout=subprocess.PIPE) as stub:
            assert stub.stdout is not None
            port = int(stub.stdout.readline())
            for kind in ROUTERS:
                with router(kind, shape, port) as (pid, at):
                    for connections in CONNECTIONS:
                        seen = loaded(pid, at, connections, size)
                        for what in ("rps", "p50_ms", "p99_ms", "cpu_us"):
                            found[key(kind, size, delay, connections, what)] = seen[what]
                    found[key(kind, size, delay, CONNECTIONS[-1], "mb")] = memory(pid)
    return found


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
