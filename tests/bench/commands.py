"""Commands as a person runs them: whole processes over 1,000 InferenceServices of 1 KB."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from tests.bench import worlds

COUNT = 1_000
HOST = "model-00007-team-07.example.com"


def write_inputs(folder: Path) -> None:
    """The services as YAML and as JSON, and the base they are compared with."""
    services = [small(number) for number in range(COUNT)]
    base = [worlds.config("Standard"), worlds.runtime()]
    (folder / "base").mkdir()
    (folder / "base" / "base.yaml").write_text(yaml.dump_all(base, Dumper=yaml.CSafeDumper))
    (folder / "services.yaml").write_text(yaml.dump_all(services, Dumper=yaml.CSafeDumper))
    listed = {"apiVersion": "v1", "kind": "List", "items": services}
    (folder / "services.json").write_text(json.dumps(listed))


def small(number: int) -> dict[str, object]:
    """A service as people write it, about 1 KB of YAML."""
    made = worlds.service(number)
    meta = {key: made["metadata"][key] for key in ("name", "namespace", "labels")}
    meta["annotations"] = {**made["metadata"]["annotations"], "about": "x" * 500}
    return {**{key: made[key] for key in ("apiVersion", "kind", "spec")}, "metadata": meta}


def seconds(*arguments: str) -> float:
    """Wall time of one command; its output is thrown away, a fault is not."""
    start = time.monotonic()
    ran = subprocess.run(
        [sys.executable, "-m", "ingressctl", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "KUBECONFIG": "/nonexistent"},
        check=False,
    )
    if ran.returncode not in (0, 1):
        raise SystemExit(ran.stderr.decode())
    return time.monotonic() - start


def main() -> None:
    """Print one JSON mapping."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder)
        base = str(folder / "base")
        yaml_file, json_file = str(folder / "services.yaml"), str(folder / "services.json")
        figures = {
            "help": seconds("--help"),
            "preview_yaml": seconds("preview", "-f", yaml_file, "--against", base),
            "preview_json": seconds("preview", "-f", json_file, "--against", base),
            "explain": seconds(
                "explain", f"http://{HOST}/v1/models/m:predict", "-f", json_file, "-f", base
            ),
        }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
