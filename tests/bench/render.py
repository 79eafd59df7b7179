"""10,000 InferenceServices from JSON bytes to routing objects, in one process.

Each way runs in a process of its own, so that memory is its own. Prints CPU seconds and the
greatest resident memory.
"""

from __future__ import annotations

import gc
import resource
import sys
import time
from datetime import UTC, datetime

import msgspec
import orjson

from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import cascade
from tests.bench import worlds

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def run(mode: str, provider: str, count: int) -> dict[str, float]:
    """CPU seconds from bytes to objects, their number, and peak memory in MB."""
    data = worlds.listed(count)
    size = len(data)
    gc.set_threshold(50_000, 50, 1000)
    start = time.process_time()
    items = orjson.loads(data)["items"]
    base = [worlds.config(mode), worlds.autoscaler(), worlds.runtime()]
    world = World.of([*base, *items])
    settings = Settings(provider=provider, assume="ready")
    steps: dict[object, cascade.Step] = {}
    cascade.one_pass(world, settings, now=NOW, sources=cascade.SOURCES, steps=steps)  # type: ignore[arg-type]
    spent = time.process_time() - start
    objects = sum(len(step.emission.objects) for step in steps.values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cpu": spent, "objects": objects, "mb": peak, "input_mb": size / 1e6}


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(run(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
