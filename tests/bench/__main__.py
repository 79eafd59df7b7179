"""``make bench``: every figure of the README in one run, medians of a few runs each.

Absolute times depend on the machine; compare figures of one run only. Each measure runs in
a process of its own and prints JSON. ``python -m tests.bench NAME...`` runs some of them.
"""

from __future__ import annotations

import itertools
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.bench.router import __main__ as graphs

ROOT = Path(__file__).resolve().parents[2]
RUNS = 3


@dataclass(frozen=True)
class Figure:
    """One row of the table. `wanted` is the promise of the README, "" if there is none."""

    what: str
    median: float
    spread: str
    unit: str
    wanted: str = ""


@dataclass(frozen=True)
class Measure:
    """A module with arguments that prints a JSON mapping, and which keys become rows."""

    name: str
    arguments: tuple[str, ...]
    rows: tuple[tuple[str, str, str, str], ...]
    runs: int = RUNS
    seconds: int = 600


def render(mode: str, provider: str) -> Measure:
    what = f"10,000 InferenceServices, bytes to {provider}"
    return Measure(
        f"render-{provider}",
        ("-m", "tests.bench.render", mode, provider, "10000"),
        (("cpu", f"{what}: CPU", "s", "< 3"), ("mb", f"{what}: memory", "MB", "< 300")),
    )


def controller(services: int) -> Measure:
    """`run` before a real API server, whose programs are built with Go if need be."""
    what, big = f"run, {services:,} services", services == 10_000
    return Measure(
        f"controller-{services}",
        ("-m", "e2e.bench", str(services)),
        (
            ("start_cpu", f"{what} in place: start and first pass, CPU", "s", "< 5" if big else ""),
            ("read_cpu", f"{what} in place: reading them alone, CPU", "s", ""),
            ("start_mb", f"{what} in place: greatest memory", "MiB", "< 400" if big else ""),
            ("start_writes", f"{what} in place: writes", "", "0"),
            ("resync_requests_beyond_leases", f"{what}: requests of a resync", "", "0"),
            ("cold_cpu", f"{what}: all routes made anew, CPU", "s", "< 15" if big else ""),
            ("loop_cpu", f"{what}: writing the same routes alone, CPU", "s", ""),
            ("cold_to_loop", f"{what}: the same, wall time to a plain loop's", "", "<= 1.3"),
            ("edit_p50_ms", f"{what}: edit to route, p50", "ms", "<= 15"),
            ("edit_to_plain", f"{what}: the same, to one plain write", "", ""),
            ("edit_p99_ms", f"{what}: edit to route, p99", "ms", "<= 50"),
            ("domain_wall", f"{what}: another domain reaches all routes", "s", ""),
            ("edit_during_domain_p50_ms", f"{what}: an edit meanwhile, p50", "ms", ""),
        ),
        runs=1,
        seconds=3600,
    )


def router(shape: str) -> Measure:
    """The graph router, and a plain aiohttp one as the yardstick of the machine."""
    rows = []
    for size, delay in itertools.product(graphs.SIZES, graphs.DELAYS):
        place = f"{shape}, {size // 1000} KB, {delay} ms"
        for connections, kind in itertools.product(graphs.CONNECTIONS, graphs.ROUTERS):
            what = f"{place}, {connections} connections, {kind}"
            for key, name, unit in ROUTER_FIGURES:
                found = graphs.key(kind, size, delay, connections, key)
                rows.append((found, f"{what}: {name}", unit, ""))
        for kind in graphs.ROUTERS:
            key = graphs.key(kind, size, delay, graphs.CONNECTIONS[-1], "mb")
            wanted = "" if kind == graphs.ROUTERS[-1] else "< 80"
            rows.append((key, f"{place}, {kind}: memory", "MB", wanted))
    return Measure(f"router-{shape}", ("-m", "tests.bench.router", shape), tuple(rows), runs=1)


ROUTER_FIGURES = (
    ("rps", "requests a second", ""),
    ("p50_ms", "p50", "ms"),
    ("p99_ms", "p99", "ms"),
    ("cpu_us", "CPU a request", "us"),
)

MEASURES = (
    render("Knative", "istio"),
    render("Standard", "gateway_api"),
    Measure(
        "commands",
        ("-m", "tests.bench.commands"),
        (
            ("help", "ingressctl --help", "s", "< 0.25"),
            ("preview_yaml", "preview of 1,000 services (YAML) against a folder", "s", "< 2"),
            ("preview_json", "preview of 1,000 services (JSON) against a folder", "s", "< 1"),
            ("explain", "explain over 1,000 services", "s", "< 0.5"),
        ),
    ),
    Measure(
        "envoy",
        ("-m", "tests.bench.envoy_change"),
        (
            ("p50", "one of 10,000 hosts, changed weight served: p50", "ms", "<= 5"),
            ("p99", "one of 10,000 hosts, changed weight served: p99", "ms", "<= 20"),
            ("request_us", "a request by a Host in lower case", "us", ""),
            ("capitals_us", "a request by a Host with capitals", "us", ""),
        ),
        runs=1,
    ),
    Measure(
        "first-pass",
        ("-m", "tests.bench.first_pass", "10000"),
        (
            ("cpu", "10,000 services at rest, bytes to a whole first pass: CPU", "s", ""),
            ("mb", "the same: memory, with the bytes", "MB", ""),
        ),
        runs=1,
    ),
    controller(2000),
    controller(10_000),
    Measure(
        "file",
        ("-m", "tests.bench.file_change"),
        (("p50", "up: a written file is served: p50", "ms", "< 100"),),
        runs=1,
    ),
    *(router(shape) for shape in graphs.SHAPES),
)


def outcome(measure: Measure) -> dict[str, float]:
    """One run in a process of its own."""
    ran = subprocess.run(
        [sys.executable, *measure.arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        timeout=measure.seconds,
        check=True,
    )
    values: dict[str, float] = json.loads(ran.stdout)
    return values


def figures(measure: Measure, run: Callable[[Measure], dict[str, float]]) -> Iterator[Figure]:
    """The rows of one measure from its runs; none if it cannot be had, which it has said."""
    found = [run(measure) for _ in range(measure.runs)]
    for key, what, unit, wanted in measure.rows if all(found) else ():
        values = sorted(values[key] for values in found)
        spread = f"{values[0]:.3g} - {values[-1]:.3g}" if len(values) > 1 else ""
        yield Figure(what, statistics.median(values), spread, unit, wanted)


def main(names: list[str]) -> None:
    """Run the measures and print the table; progress goes to stderr."""
    table = Table("figure", "median", "min - max", "unit", "wanted", box=None, pad_edge=False)
    chosen = [measure for measure in MEASURES if not names or measure.name in names]
    for measure in chosen:
        start = time.monotonic()
        for row in figures(measure, outcome):
            table.add_row(row.what, f"{row.median:.3g}", row.spread, row.unit, row.wanted)
        print(f"{measure.name}: {time.monotonic() - start:.0f} s", file=sys.stderr)
    Console(width=110).print(table)


if __name__ == "__main__":
    main(sys.argv[1:])
