"""``make demo``: an InferenceService with canaries, served on this machine.

Calls the commands as a person would, on the manifests beside this file: `up` in the
background, a thousand requests through its Envoy, the split that was wanted beside the one
that was served, one `explain`, and one `preview` of raising a canary. Ends with 0 if every
share is within five standard deviations.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import math
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FILES = HERE.relative_to(ROOT)
PROGRAM = [sys.executable, "-m", "ingressctl"]
REQUESTS = 1000
START_SECONDS = 30


def shown(*words: str) -> list[str]:
    """Print a command as a person types it; the words that run it."""
    print(f"\n$ ingressctl {shlex.join(words)}", flush=True)
    return [*PROGRAM, *words]


def run(*words: str, expect: int) -> str:
    """Run a command to its end and print what it prints; its standard output."""
    ended = subprocess.run(shown(*words), cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode != expect:
        sys.exit(f"demo: that ended with {ended.returncode}, not {expect}\n{ended.stdout}")
    return ended.stdout


@contextlib.contextmanager
def serving(port: int) -> Iterator[None]:
    """`ingressctl up` in the background, ended as by Ctrl-C."""
    words = shown("up", "-f", str(FILES), "--assume", "ready", "--stub", "--port", str(port))
    process = subprocess.Popen(words, cwd=ROOT)
    try:
        wait_for(port, process)
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=START_SECONDS)


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Until something listens there."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    sys.exit("demo: nothing is served")


def free_port() -> int:
    """8080 if nobody listens there, else any."""
    for port in (8080, 0):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)) as probe:
            return int(probe.getsockname()[1])
    raise AssertionError("no free port")


def served(port: int, host: str, path: str, count: int) -> Counter[str]:
    """Which Service answered so many requests."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    answers: Counter[str] = Counter()
    for _ in range(count):
        client.request("POST", path, b'{"instances": []}', {"Host": host})
        answer = client.getresponse()
        body = answer.read()
        answers[json.loads(body)["service"] if answer.status == 200 else str(answer.status)] += 1
    client.close()
    return answers


def wanted(service: Mapping[str, Any]) -> dict[str, int]:
    """Percent by Service or revision, as the manifest says."""
    name, spec = service["metadata"]["name"], service["spec"]
    percent = spec["predictor"].get("canaryTrafficPercent")
    if percent is None:
        shares = {
            f"{name}-{canary['predictor']['name']}-predictor": int(canary["trafficPercent"])
            for canary in spec.get("canary", ())
        }
        return {f"{name}-predictor": 100 - sum(shares.values()), **shares}
    revisions = service["status"]["components"]["predictor"]
    return {
        revisions["latestRolledoutRevision"]: 100 - percent,
        revisions["latestReadyRevision"]: percent,
    }


def compare(port: int) -> bool:
    """The table of wanted and served splits; whether all shares are as wanted."""
    table = Table("host", "backend", "wanted", "served", box=None, pad_edge=False)
    right = True
    for file, host in (
        ("standard.yaml", "iris-demo.example.com"),
        ("knative.yaml", "Income.Demo.example.com:80"),
    ):
        service = yaml.safe_load((HERE / file).read_text())
        count = REQUESTS // 2
        path = f"/v1/models/{service['metadata']['name']}:predict"
        answers = served(port, host, path, count)
        shares = wanted(service)
        for name in dict.fromkeys((*shares, *answers)):
            share, seen = shares.get(name, 0) / 100, answers[name] / count
            right = right and abs(seen - share) <= 5 * math.sqrt(share * (1 - share) / count)
            table.add_row(host, name, f"{share:.0%}", f"{seen:.1%}")
    print(f"\n{REQUESTS} requests through Envoy:\n", flush=True)
    Console(width=100).print(table)
    return right


def preview_of_raising_a_canary() -> None:
    """What changes in the cluster when the first canary goes from its share to half."""
    with tempfile.TemporaryDirectory(prefix="ingressctl-demo-") as folder:
        cluster = Path(folder, "cluster")
        cluster.mkdir()
        print("\nThe cluster, as it is after applying these files (into a folder):", flush=True)
        made = preview(str(FILES), "none", "--show-all", "-o", "yaml")
        Path(cluster, "made.yaml").write_text(made)
        service = yaml.safe_load((HERE / "standard.yaml").read_text())
        service["spec"]["canary"][0]["trafficPercent"] = 50
        raised = Path(folder, "raised.yaml")
        raised.write_text(yaml.safe_dump(service, sort_keys=False))
        print("\nRaise the first canary to 50 % and preview it:", flush=True)
        print(preview(str(raised), str(cluster)))


def preview(files: str, against: str, *more: str) -> str:
    """What `preview` prints; it ends with 1, for there are changes."""
    words = ("preview", "-f", files, "--against", against, "--assume", "ready", "-q", *more)
    return run(*words, expect=1)


def main() -> None:
    """The whole demo."""
    port = free_port()
    with serving(port):
        right = compare(port)
        url = "http://iris-demo.example.com/v1/models/iris:predict"
        words = ("explain", url, "-X", "POST", "-f", str(FILES), "--assume", "ready", "-q")
        print(run(*words, expect=0))
        preview_of_raising_a_canary()
    if not right:
        sys.exit("demo: a share is not as wanted")
    print("Edit the files in tests/demo and run it again, or keep `up` running while you do.")


if __name__ == "__main__":
    main()
