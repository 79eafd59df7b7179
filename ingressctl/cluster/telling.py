"""What a controller says of its work: log lines, events and counts, each in one place.

Info for what changed, debug for what did not; an error is told once, where it is handled
(ux.md 6.8).
"""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

from prometheus_client import Counter, Histogram

from ingressctl.api.refs import Raw, Ref
from ingressctl.cluster.metrics import Metrics
from ingressctl.cluster.recorder import Recorder
from ingressctl.cluster.writer import Done
from ingressctl.core import findings
from ingressctl.core.outcome import Event, Finding
from ingressctl.plan.writes import Plan

LOG = logging.getLogger("ingressctl.controller")


class _Series(NamedTuple):
    waited: Histogram
    worked: Histogram
    seconds: Histogram
    adds: Counter


class Telling:
    """For one controller."""

    def __init__(self, recorder: Recorder, metrics: Metrics) -> None:
        self._recorder = recorder
        self._metrics = metrics
        self._told: dict[Ref, frozenset[Finding]] = {}
        self._series: dict[str, _Series] = {}

    def added(self, ref: Ref) -> None:
        """An object was put into the queue."""
        self._counted(ref.kind).adds.inc()

    def retried(self, ref: Ref) -> None:
        """An object comes again after a failure."""
        self._metrics.retries.labels(_controller(ref)).inc()

    def worked(self, ref: Ref, waited: float, took: float) -> None:
        """A worker is done with an object."""
        series = self._counted(ref.kind)
        series.waited.observe(waited)
        series.worked.observe(took)
        series.seconds.observe(took)

    def _counted(self, kind: str) -> _Series:
        """The series of one controller, looked up once: labels cost more than counting."""
        found = self._series.get(kind)
        if found is None:
            name, metrics = kind.lower(), self._metrics
            found = self._series[kind] = _Series(
                metrics.waited.labels(name),
                metrics.worked.labels(name),
                metrics.seconds.labels(name),
                metrics.adds.labels(name),
            )
        return found

    def result(self, ref: Ref, result: str) -> None:
        """How a reconcile ended."""
        self._metrics.reconciles.labels(_controller(ref), result).inc()

    def failed(self, ref: Ref, fault: Exception, delay: float) -> None:
        """The API server did not take what was to be written, for now."""
        self.result(ref, "error")
        self._metrics.errors.labels(_controller(ref)).inc()
        LOG.warning(
            "requests failed, the object comes again",
            extra=_of(ref, error=str(fault), retry_in_seconds=round(delay, 2)),
        )

    def defect(self, ref: Ref, defect: Exception, delay: float) -> None:
        """A reconcile ended by an exception: a mistake of ours."""
        self.result(ref, "error")
        self._metrics.errors.labels(_controller(ref)).inc()
        self._metrics.panics.labels(_controller(ref)).inc()
        text = f"{type(defect).__name__}: {defect}"
        LOG.error(
            "the reconcile of the object is at fault, please report it",
            extra=_of(ref, error=text, retry_in_seconds=round(delay, 2)),
        )
        LOG.debug("where it happened", extra=_of(ref), exc_info=defect)

    def planned(self, ref: Ref, plan: Plan, *, dry_run: bool, leading: bool) -> None:
        """What is going to be written, or would be, if this replica wrote."""
        if plan.quiet:
            LOG.debug("nothing differs", extra=_of(ref))
            return
        level = logging.INFO if leading or dry_run else logging.DEBUG
        if not LOG.isEnabledFor(level):
            return
        LOG.log(
            level,
            "writing" if leading and not dry_run else "would write",
            extra=_of(
                ref,
                apply=[str(apply.ref) for stage in plan.stages for apply in stage],
                delete=[str(delete.ref) for delete in plan.deletes],
                status=plan.status is not None,
                waiting=[str(waits) for waits in plan.waiting],
            ),
        )

    def done(self, ref: Ref, obj: Raw, plan: Plan, done: Done, found: tuple[Finding, ...]) -> None:
        """A reconcile came to its end."""
        self.result(ref, "requeue_after" if plan.again is not None else "success")
        self._metrics.writes.labels(_controller(ref)).inc(done.writes)
        for event in plan.events:
            self._recorder.tell(obj, event)
        before, now = self._told.get(ref, frozenset()), frozenset(found)
        for finding in found:
            if finding not in before:
                self._new(ref, obj, finding)
        if now:
            self._told[ref] = now
        else:
            self._told.pop(ref, None)

    def forget(self, ref: Ref) -> None:
        """The object is gone."""
        self._told.pop(ref, None)

    def _new(self, ref: Ref, obj: Raw, finding: Finding) -> None:
        level, text = findings.level(finding), findings.message(finding)
        LOG.log(
            logging.INFO if level == "info" else logging.WARNING,
            "finding",
            extra=_of(ref, code=finding.code, level=level, text=text),
        )
        if finding.code in EVENTFUL:
            self._recorder.tell(obj, Event("Warning", EVENTFUL[finding.code], text))


EVENTFUL = {
    "IC5101": "ObjectNotOwned",
    "IC7102": "ObjectContested",
    "IC7103": "WriteWithoutEffect",
    "IC7104": "WriteRefused",
}
"""Findings that are told as events too, with the reason."""


def _controller(ref: Ref) -> str:
    return ref.kind.lower()


def _of(ref: Ref, **more: Any) -> dict[str, Any]:
    """The keys that every line about an object has."""
    return {
        "keys": {
            "controller": _controller(ref),
            "kind": ref.kind,
            "namespace": ref.namespace,
            "name": ref.name,
            **more,
        }
    }
