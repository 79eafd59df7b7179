"""The least that a start, or all routes made anew, may cost: the same requests and nothing else.

``python -m e2e.bench.floor KUBECONFIG`` lists what the controller lists and keeps nothing;
with ``FILE``, JSON lines of objects, it applies them as fast as the API server takes them.
Prints the CPU seconds of the process, imports and connection included, and the seconds that
the requests took.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from pathlib import Path

import orjson
import uvloop

from e2e.bench import cluster
from ingressctl.cluster.running import THRESHOLDS
from ingressctl.plan.kinds import BY_IDENTITY

KINDS = (
    cluster.INFERENCE_SERVICE,
    cluster.DEPLOYMENT,
    cluster.HTTP_ROUTE,
    ("", "Service"),
    ("autoscaling", "HorizontalPodAutoscaler"),
)


async def read(kubeconfig: Path) -> float:
    """Seconds to list all objects of the kinds."""
    async with cluster.connected(kubeconfig) as client:
        began = time.monotonic()
        for kind in KINDS:
            async for _items, _ in client.pages(cluster.root(BY_IDENTITY[kind])):
                pass
        return time.monotonic() - began


async def write(kubeconfig: Path, file: Path) -> float:
    """Seconds to apply all objects of a file."""
    bodies = [orjson.loads(line) for line in file.read_bytes().splitlines()]
    async with cluster.connected(kubeconfig) as client:
        began = time.monotonic()
        await cluster.all_at_once(cluster.apply(client, body) for body in bodies)
        return time.monotonic() - began


async def requests(kubeconfig: Path, files: list[Path]) -> float:
    """As asked for on the command line."""
    return await (write(kubeconfig, files[0]) if files else read(kubeconfig))


def main() -> None:
    """Ask, and print what it cost."""
    gc.set_threshold(*THRESHOLDS)
    kubeconfig, *files = map(Path, sys.argv[1:])
    took = uvloop.run(requests(kubeconfig, files))
    print(json.dumps({"cpu": time.process_time(), "seconds": took}))


if __name__ == "__main__":
    main()
