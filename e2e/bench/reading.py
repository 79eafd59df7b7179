"""``python -m e2e.bench.reading KUBECONFIG``: the least that a start may cost.

Lists the kinds that InferenceServices and their children are of by the controller's client, and
keeps nothing. Prints the CPU seconds of the process, imports and connection included.
"""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path

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


async def read(kubeconfig: Path) -> int:
    """How many objects there are."""
    number = 0
    async with cluster.connected(kubeconfig) as client:
        for kind in KINDS:
            async for items, _ in client.pages(cluster.root(BY_IDENTITY[kind])):
                number += len(items)
    return number


def main() -> None:
    """Read, and print what it cost."""
    gc.set_threshold(*THRESHOLDS)
    uvloop.run(read(Path(sys.argv[1])))
    print(time.process_time())


if __name__ == "__main__":
    main()
