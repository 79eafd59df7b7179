"""What a mirror hears beside objects, told in log lines, metrics and events, each once."""

from __future__ import annotations

import logging

from ingressctl.api.refs import Raw, Ref
from ingressctl.cluster.informers import State
from ingressctl.cluster.installation import Follower
from ingressctl.cluster.metrics import Metrics
from ingressctl.cluster.recorder import Recorder
from ingressctl.core import findings
from ingressctl.core.outcome import Event, Finding
from ingressctl.core.settings import Settings
from ingressctl.plan import intake
from ingressctl.plan.kinds import Resource

LOG = logging.getLogger("ingressctl.run")


class Hearing:
    """As mirror.Heard."""

    def __init__(
        self, settings: Settings, metrics: Metrics, recorder: Recorder, carrier: Follower | None
    ) -> None:
        self._config = intake.config_map(settings)
        self._metrics = metrics
        self._recorder = recorder
        self._carrier = carrier

    def kind(self, resource: Resource, namespace: str, state: State, message: str) -> None:
        """As mirror.Heard: said once for each change."""
        self._metrics.lists.labels(resource.group, resource.kind).set(float(state == "live"))
        keys = {"group": resource.group, "resource": resource.plural, "namespace": namespace}
        if state == "forbidden":
            LOG.error(
                "may not be listed: grant get, list and watch",
                extra={"keys": {**keys, "error": message}},
            )
        elif state == "failing":
            LOG.warning("cannot be listed for now", extra={"keys": {**keys, "error": message}})
        else:
            LOG.info("listed" if state == "live" else "not served", extra={"keys": keys})

    def unreadable(self, ref: Ref, text: str) -> None:
        """As mirror.Heard."""
        keys = {"kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
        if text:
            LOG.warning("object left out", extra={"keys": {**keys, "error": text}})
        else:
            LOG.info("object read again", extra={"keys": keys})

    def configuration(self, obj: Raw | None, refused: tuple[Finding, ...], *, kept: bool) -> None:
        """As mirror.Heard: what stays in force, and people are told."""
        ref = self._config
        self._metrics.routes.note(ref, (), not refused, refused)
        if obj is None:
            LOG.error(
                "configuration deleted, the last one stays in force",
                extra={"keys": {"object": str(ref)}},
            )
            return
        if not refused:
            LOG.info("configuration in force", extra={"keys": {"object": str(ref)}})
        means = "the last good one stays in force" if kept else "and none before it is known"
        for finding in refused:
            text = findings.message(finding)
            LOG.error(
                f"configuration refused, {means}",
                extra={"keys": {"object": str(ref), "path": finding.path, "error": text}},
            )
            note = f"{finding.path}: {text}; {means}"
            self._recorder.tell(obj, Event("Warning", "ConfigurationRefused", note))

    def moved(self, ref: Ref) -> None:
        """As mirror.Heard."""
        if self._carrier is not None and ref.kind in ("Service", "EndpointSlice"):
            self._carrier.moved(ref)
