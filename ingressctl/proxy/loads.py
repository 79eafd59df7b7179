"""When requests to a cluster that nothing leads to any longer have ended.

Envoy tells how many are under way when it is asked (its Load Reporting Service, over the
connection that it has anyway), and it is asked only while something drains. Of an Envoy that
does not report, requests count as ended after `settle` seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterable, Mapping

import grpc
from envoy.service.load_stats.v3 import lrs_pb2

from ingressctl.proxy.xds import Server

SERVICE = "envoy.service.load_stats.v3.LoadReportingService"
METHOD = "StreamLoadStats"
INTERVAL = 1.0
NEVER = 3600
ENOUGH = 2
"""Reports without a request in a row: the first may have begun before the last route went."""

MOST_SECONDS = 900.0
"""Requests that take longer do not keep what serves them."""


class Reporter:
    """One Envoy's stream of reports."""

    def __init__(self) -> None:
        self.node = ""
        self.wake = asyncio.Event()
        self._quiet: dict[str, int] = {}

    @property
    def watched(self) -> tuple[str, ...]:
        """The clusters that are asked for."""
        return tuple(sorted(self._quiet))

    def watch(self, clusters: Iterable[str]) -> None:
        """Ask for these clusters and no others."""
        wanted = {name: self._quiet.get(name, 0) for name in clusters}
        if wanted.keys() != self._quiet.keys():
            self.wake.set()
        self._quiet = wanted

    def heard(self, under_way: Mapping[str, int]) -> None:
        """One report: requests by cluster; one that is not named has none."""
        for name, times in self._quiet.items():
            self._quiet[name] = 0 if under_way.get(name) else times + 1

    def ended(self) -> tuple[str, ...]:
        """The clusters whose requests have ended."""
        return tuple(name for name, times in self._quiet.items() if times >= ENOUGH)


class Drains:
    """Lets clusters of a server go when their requests have ended."""

    def __init__(self, settle: float) -> None:
        self._settle = settle
        self._reporters: dict[Reporter, None] = {}
        self._since: dict[tuple[str, str], float] = {}
        handler = grpc.stream_stream_rpc_method_handler(self._stream)
        self.handler = grpc.method_handlers_generic_handler(SERVICE, {METHOD: handler})

    async def run(self, server: Server) -> None:
        """Look after the server until cancelled."""
        while True:
            await asyncio.sleep(INTERVAL / 4)
            self.look(server)

    def look(self, server: Server) -> None:
        """Once: what drains, what is to be asked, what may go."""
        now = time.monotonic()
        draining = dict(server.draining())
        present = {(node, name) for node, clusters in draining.items() for name in clusters}
        self._since = {key: self._since.get(key, now) for key in present}
        for reporter in self._reporters:
            reporter.watch(draining.get(reporter.node, ()))
        for node, clusters in draining.items():
            gone = self._ended(node, clusters, now)
            if gone:
                server.let_go(node, gone)

    def _ended(self, node: str, clusters: Iterable[str], now: float) -> set[str]:
        reporters = [one for one in self._reporters if one.node == node]
        limit = MOST_SECONDS if reporters else self._settle
        late = {name for name in clusters if now - self._since[node, name] >= limit}
        return late.union(*(one.ended() for one in reporters))

    async def _stream(
        self, requests: AsyncIterator[bytes], context: grpc.aio.ServicerContext
    ) -> None:
        reporter = Reporter()
        self._reporters[reporter] = None
        reader = asyncio.create_task(self._read(reporter, requests))
        try:
            while not reader.done():
                await reporter.wake.wait()
                reporter.wake.clear()
                await context.write(_question(reporter.watched).SerializeToString())
        finally:
            del self._reporters[reporter]
            reader.cancel()
            with contextlib.suppress(asyncio.CancelledError, grpc.RpcError):
                await reader

    async def _read(self, reporter: Reporter, requests: AsyncIterator[bytes]) -> None:
        try:
            async for raw in requests:
                report = lrs_pb2.LoadStatsRequest.FromString(raw)
                reporter.node = report.node.id or reporter.node
                reporter.heard(_under_way(report))
        finally:
            reporter.wake.set()


def _question(clusters: tuple[str, ...]) -> lrs_pb2.LoadStatsResponse:
    """Without clusters Envoy is to be silent."""
    question = lrs_pb2.LoadStatsResponse(clusters=clusters)
    question.load_reporting_interval.FromMilliseconds(
        round(1000 * (INTERVAL if clusters else NEVER))
    )
    return question


def _under_way(report: lrs_pb2.LoadStatsRequest) -> dict[str, int]:
    return {
        stats.cluster_name: sum(
            place.total_requests_in_progress for place in stats.upstream_locality_stats
        )
        for stats in report.cluster_stats
    }
