"""What is counted while a controller runs, by the names that dashboards know (ux.md 6.3, 8.6)."""

from __future__ import annotations

from collections import Counter as TallyCounter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from ingressctl.api.refs import Ref
from ingressctl.cluster.queue import Queue
from ingressctl.core import findings
from ingressctl.core.model import Route, Service
from ingressctl.core.outcome import Finding

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """One registry; `text` is what a scrape gets."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        name = ("controller",)
        self.reconciles = self._counter(
            "controller_runtime_reconcile", "Reconciles by result.", (*name, "result")
        )
        self.errors = self._counter(
            "controller_runtime_reconcile_errors", "Reconciles that failed.", name
        )
        self.panics = self._counter(
            "controller_runtime_reconcile_panics", "Reconciles that ended by a defect.", name
        )
        self.seconds = self._histogram(
            "controller_runtime_reconcile_time_seconds",
            "Time of a reconcile, writes included.",
            name,
        )
        self.workers = self._gauge("controller_runtime_max_concurrent_reconciles", "Workers.", name)
        self.terminal = self._counter(
            "controller_runtime_terminal_reconcile_errors",
            "Reconciles that failed and do not come again.",
            name,
        )
        self.timeouts = self._counter(
            "controller_runtime_reconcile_timeouts", "Reconciles that took too long.", name
        )
        self.slow = self._counter(
            "leader_election_slowpath", "Elections that had to look twice.", ("name",)
        )
        self.adds = self._counter("workqueue_adds", "Objects that were put in.", ("name",))
        self.retries = self._counter("workqueue_retries", "Objects that came again.", ("name",))
        self.waited = self._histogram(
            "workqueue_queue_duration_seconds", "Time in the queue.", ("name",)
        )
        self.worked = self._histogram(
            "workqueue_work_duration_seconds", "Time of work on one object.", ("name",)
        )
        self.requests = self._counter(
            "rest_client_requests", "Requests to the API server.", ("code", "method", "host")
        )
        self.leading = self._gauge(
            "leader_election_master_status", "1 while this replica leads.", ("name",)
        )
        self.emit = self._histogram(
            "ingressctl_provider_emit_seconds", "Time of one emission.", ("provider",)
        )
        self.writes = self._counter("ingressctl_writes", "Objects and statuses written.", name)
        self.lists = self._gauge(
            "ingressctl_list_complete", "1 while the list of a kind is whole.", ("group", "kind")
        )
        self.routes = _Routes()
        self.registry.register(self.routes)

    def begin(self, controller: str, workers: int) -> None:
        """A controller works from now on: what it has not met yet is told as 0."""
        self.workers.labels(controller).set(workers)
        counted = (self.errors, self.panics, self.terminal, self.timeouts)
        for family in (*counted, self.retries, self.adds, self.writes):
            family.labels(controller)

    def watch(self, queue: Queue, controllers: tuple[str, ...]) -> None:
        """The queue is looked at whenever somebody scrapes."""
        self.registry.register(_Work(queue, controllers))

    def text(self) -> bytes:
        """All of it in the text format of Prometheus."""
        return generate_latest(self.registry)

    def _counter(self, name: str, text: str, labels: Iterable[str]) -> Counter:
        return Counter(name, text, tuple(labels), registry=self.registry)

    def _gauge(self, name: str, text: str, labels: Iterable[str]) -> Gauge:
        return Gauge(name, text, tuple(labels), registry=self.registry)

    def _histogram(self, name: str, text: str, labels: Iterable[str]) -> Histogram:
        return Histogram(name, text, tuple(labels), registry=self.registry, buckets=_SECONDS)


class _Work(Collector):
    """What waits in a queue and what is worked on, by controller."""

    def __init__(self, queue: Queue, controllers: tuple[str, ...]) -> None:
        self._queue = queue
        self._controllers = controllers

    def collect(self) -> Iterable[Metric]:
        """The families, in the order of their names."""
        waiting = TallyCounter(ref.kind.lower() for ref in self._queue.waiting)
        ages: dict[str, list[float]] = {name: [] for name in self._controllers}
        for ref, seconds in self._queue.ages():
            ages.setdefault(ref.kind.lower(), []).append(seconds)
        busy = {name: float(len(found)) for name, found in ages.items()}
        total = {name: sum(found) for name, found in ages.items()}
        longest = {name: max(found, default=0.0) for name, found in ages.items()}
        depth = {name: float(waiting[name]) for name in ages}
        yield _family("controller_runtime_active_workers", "Busy workers.", "controller", busy)
        yield _family("workqueue_depth", "Objects that wait.", "name", depth)
        yield _family(
            "workqueue_unfinished_work_seconds", "Time of work under way, summed.", "name", total
        )
        yield _family(
            "workqueue_longest_running_processor_seconds",
            "Time of the longest work under way.",
            "name",
            longest,
        )


def _family(name: str, text: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, text, labels=(label,))
    for key, value in values.items():
        family.add_metric((key,), value)
    return family


class _Noted(NamedTuple):
    """What is shown of one object; weights are (route, target, percent)."""

    weights: tuple[tuple[str, str, int], ...]
    ready: bool
    findings: tuple[Finding, ...]


class _Routes(Collector):
    """Weights, readiness and findings of every object, put together when somebody scrapes."""

    def __init__(self) -> None:
        self._noted: dict[Ref, _Noted] = {}

    def note(
        self, ref: Ref, routes: Iterable[Route], ready: bool, found: tuple[Finding, ...]
    ) -> None:
        """What now stands for an object."""
        weights = tuple(
            (route.ref.name, target, weight)
            for route in routes
            for target, weight in _targets(route).items()
        )
        self._noted[ref] = _Noted(weights, ready, found)

    def findings_of(self, ref: Ref) -> tuple[Finding, ...]:
        """The last findings of an object."""
        noted = self._noted.get(ref)
        return noted.findings if noted else ()

    def forget(self, ref: Ref) -> None:
        """The object is gone."""
        self._noted.pop(ref, None)

    def collect(self) -> Iterable[Metric]:
        """The families, in the order of their names."""
        yield self._findings()
        yield self._ready()
        yield self._weights()

    def _findings(self) -> Metric:
        family = GaugeMetricFamily(
            "ingressctl_findings", "Findings by code.", labels=("code", "level")
        )
        counts = TallyCounter(
            (finding.code, findings.level(finding))
            for noted in tuple(self._noted.values())
            for finding in noted.findings
        )
        for labels, number in sorted(counts.items()):
            family.add_metric(labels, number)
        return family

    def _ready(self) -> Metric:
        family = GaugeMetricFamily(
            "ingressctl_route_ready", "1 while the routes serve.", labels=("namespace", "route")
        )
        for ref, noted in tuple(self._noted.items()):
            if ref.kind != "ConfigMap":  # it has findings, and routes nothing
                family.add_metric((ref.namespace, ref.name), float(noted.ready))
        return family

    def _weights(self) -> Metric:
        family = GaugeMetricFamily(
            "ingressctl_route_weight",
            "Percent of the requests of a route that a target is to get.",
            labels=("namespace", "route", "target"),
        )
        for ref, noted in tuple(self._noted.items()):
            for route, target, weight in noted.weights:
                family.add_metric((ref.namespace, route, target), weight)
        return family


def _targets(route: Route) -> Mapping[str, int]:
    """The greatest weight of each target over the rules of a route."""
    found: dict[str, int] = {}
    for group in route.groups:
        for rule in group.rules:
            for split in rule.splits:
                target = split.target
                name = target.name if isinstance(target, Service) else target.host
                weight = 100 if split.weight is None else split.weight
                found[name] = max(found.get(name, 0), weight)
    return found
