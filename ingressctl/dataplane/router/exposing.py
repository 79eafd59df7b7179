"""Numbers as Prometheus reads them, and the port where it does.

prometheus-client is imported at the first scrape: whoever does not scrape saves its memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

from ingressctl.dataplane.router.counting import SECONDS, Row, Snapshot
from ingressctl.dataplane.router.intake import Limits
from ingressctl.dataplane.router.ports import Answer, Request
from ingressctl.dataplane.router.settings import Manner, Settings, Times

if TYPE_CHECKING:
    from prometheus_client.core import Metric

TYPE = (b"content-type", b"text/plain; version=0.0.4; charset=utf-8")


class Exposition:
    """An engine whose only answer is the numbers."""

    def __init__(self, numbers: Callable[[], Snapshot]) -> None:
        self._numbers = numbers

    async def run(self, request: Request) -> Answer:
        """The text for /metrics, 404 for anything else."""
        if request.target.partition(b"?")[0] != b"/metrics":
            return Answer(404, (), b"")
        return Answer(200, (TYPE,), text(self._numbers()))


SETTINGS = Settings(Limits(body_bytes=0), Times(read=10, idle=300), Manner(only_post=False))
"""For the server of that engine."""


def text(numbers: Snapshot) -> bytes:
    """All families in the text format."""
    from prometheus_client import CollectorRegistry, generate_latest  # noqa: PLC0415
    from prometheus_client.process_collector import ProcessCollector  # noqa: PLC0415
    from prometheus_client.registry import Collector  # noqa: PLC0415

    class Families(Collector):
        def collect(self) -> Iterable[Metric]:
            return families(numbers)

    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(Families())
    return generate_latest(registry)


def families(numbers: Snapshot) -> Iterator[Metric]:
    """The graph's families, then the steps'."""
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily  # noqa: PLC0415

    graph = [row for row in numbers.rows if not row.node]
    steps = [row for row in numbers.rows if row.node]
    yield from _of_rows("ingressctl_router", "Requests of the graph", graph, ())
    waiting = GaugeMetricFamily("ingressctl_router_waiting", "Requests that wait for their turn.")
    waiting.add_metric((), numbers.waiting)
    yield waiting
    reloads = CounterMetricFamily(
        "ingressctl_router_reloads", "Times that the graph was read anew.", labels=("result",)
    )
    for result, number in numbers.reloads.items():
        reloads.add_metric((result,), number)
    yield reloads
    yield from _of_rows("ingressctl_router_step", "Calls of a step", steps, ("node", "step"))
    for name, words, key in (
        ("retries", "Calls that were sent again.", "retries"),
        ("fallbacks", "Times that a fallback was asked.", "fallbacks"),
    ):
        family = CounterMetricFamily(
            f"ingressctl_router_step_{name}", words, labels=("node", "step")
        )
        for row in steps:
            family.add_metric((row.node, row.step), getattr(row, key))
        yield family


def _of_rows(name: str, what: str, rows: list[Row], labels: tuple[str, ...]) -> Iterator[Metric]:
    """In flight, by code, and how long."""
    from prometheus_client.core import (  # noqa: PLC0415
        CounterMetricFamily,
        GaugeMetricFamily,
        HistogramMetricFamily,
    )

    flying = GaugeMetricFamily(f"{name}_in_flight", f"{what} under way.", labels=labels)
    codes = CounterMetricFamily(
        f"{name}_requests", f"{what} by status or failure.", labels=(*labels, "code")
    )
    times = HistogramMetricFamily(f"{name}_seconds", f"{what}: their time.", labels=labels)
    bounds = [*(str(bound) for bound in SECONDS), "+Inf"]
    for row in rows:
        values = (row.node, row.step) if labels else ()
        flying.add_metric(values, row.in_flight)
        for code, number in sorted(row.codes.items()):
            codes.add_metric((*values, code), number)
        counts = list(zip(bounds, map(float, accumulate(row.buckets)), strict=True))
        times.add_metric(values, counts, row.total)
    yield from (flying, codes, times)
