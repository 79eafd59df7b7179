"""`up` over a file: how long from writing it until a request is answered by it. Prints JSON."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.envoy.test_up import manifest, running

CHANGES = 30


async def measure(folder: Path) -> dict[str, float]:
    path, times = folder / "world.yaml", []
    path.write_text(manifest())
    async with running(path) as run:
        for number in range(CHANGES):
            domain = f"d{number}.example.com"
            written = manifest(domain=domain)
            start = time.perf_counter()
            path.write_text(written)
            while (await run.get(f"m-ns.{domain}"))[0] != 200:
                await asyncio.sleep(0.002)
            times.append(time.perf_counter() - start)
            await asyncio.sleep(0.05)
    return {"p50": statistics.median(times) * 1e3, "max": max(times) * 1e3}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        json.dump(asyncio.run(measure(Path(folder))), sys.stdout)


if __name__ == "__main__":
    main()
