"""10,000 InferenceServices from JSON bytes to the JSON bytes of their routing objects.

As a controller does it: lists come in pages, `managedFields` are dropped as they come, and
each service is reconciled, emitted and settled by itself. Each way runs in a process of its
own, so that memory is its own. Prints CPU seconds and the greatest resident memory.
"""

from __future__ import annotations

import gc
import resource
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec
import orjson

from ingressctl.api.refs import Raw
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import cascade
from tests.bench import worlds

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KIND = ("serving.kserve.io", "InferenceService")
PAGE = 500


def decoded(pages: list[bytes]) -> Iterator[Raw]:
    """The objects of a list, page by page."""
    while pages:
        for item in orjson.loads(pages.pop(0))["items"]:
            item["metadata"].pop("managedFields", None)
            yield item


def run(mode: str, provider: str, count: int) -> dict[str, float]:
    """CPU seconds from bytes to bytes, the number of objects, and peak memory in MB."""
    pages = [worlds.listed(start, min(PAGE, count - start)) for start in range(0, count, PAGE)]
    size = sum(map(len, pages))
    gc.set_threshold(50_000, 50, 1000)
    start = time.process_time()
    base = [worlds.config(mode), worlds.autoscaler(), worlds.runtime()]
    world = World.of([*base, *decoded(pages)])
    settings = Settings(provider=provider, assume="ready")
    out: list[bytes] = []
    reconcile: Any = cascade.SOURCES[KIND]
    for obj in world.list(KIND):
        step = cascade.reconcile_one(obj, reconcile, world, settings, now=NOW)
        out += map(orjson.dumps, step.emission.objects)
    spent = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cpu": spent, "objects": len(out), "mb": peak, "input_mb": size / 1e6}


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(run(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
