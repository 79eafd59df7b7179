"""Revision tracking, step by step as spec/kserve-ingress.md 13 walks through it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingressctl.sources.kserve.components import revisions, traffic

URL = "http://iris-predictor.team-a.example.com"


class Knative:
    """The parts of Knative that the walk needs: it serves what the table asks for."""

    def __init__(self) -> None:
        self.latest = ""
        self.component: dict[str, Any] = {}

    def make(self, revision: str) -> None:
        """A new model: its revision is ready at once."""
        self.latest = revision

    def serve(self, percent: int | None) -> tuple[str, str]:
        """One pass: the table for `percent`, served, then seen by KServe: (L, P)."""
        rolled_out = self.component.get("latestRolledoutRevision") or ""
        table = traffic.targets(percent, rolled_out, {})
        served = [
            {**target, "revisionName": target.get("revisionName") or self.latest}
            for target in table
        ]
        self.component = revisions.track(self.component, self._status(served))
        return self.rolled_out

    def _status(self, served: list[dict[str, Any]]) -> Mapping[str, Any]:
        return {
            "conditions": [{"type": "Ready", "status": "True"}],
            "latestCreatedRevisionName": self.latest,
            "latestReadyRevisionName": self.latest,
            "url": URL,
            "traffic": served,
        }

    @property
    def rolled_out(self) -> tuple[str, str]:
        component = self.component
        return (
            component.get("latestRolledoutRevision") or "",
            component.get("previousRolledoutRevision") or "",
        )


def test_the_walk_through() -> None:
    knative = Knative()
    knative.make("r1")
    assert knative.serve(None) == ("r1", "")
    knative.make("r2")
    assert knative.serve(20) == ("r1", ""), "a split moves nothing"
    assert [target["percent"] for target in knative.component["traffic"]] == [20, 80]
    assert knative.serve(None) == ("r2", "r1"), "all traffic: promoted"
    assert knative.serve(0) == ("r1", "r1"), "lowered after promotion: rolled back"
    assert knative.serve(0) == ("r1", "r1")
    assert knative.component["traffic"][1]["revisionName"] == "r1", "prev names the older one"
    assert knative.serve(None) == ("r2", "r1"), "forward again"


def test_percent_on_the_very_first_rollout_has_no_effect() -> None:
    knative = Knative()
    knative.make("r1")
    assert knative.serve(20) == ("r1", "")
    assert knative.component["traffic"][0]["percent"] == 100


def test_no_rollback_while_a_newer_revision_is_made() -> None:
    stored = {"latestRolledoutRevision": "r2", "previousRolledoutRevision": "r1"}
    status = {
        "latestCreatedRevisionName": "r3",
        "latestReadyRevisionName": "r2",
        "traffic": [
            {"latestRevision": True, "revisionName": "r2", "percent": 10},
            {"revisionName": "r2", "percent": 90, "tag": "prev"},
        ],
    }
    assert revisions.track(stored, status)["latestRolledoutRevision"] == "r2"


def test_url_and_address_stay_while_the_service_is_not_ready() -> None:
    stored = {"url": "http://old", "address": {"url": "http://old.svc"}}
    status = {"url": URL, "conditions": [{"type": "Ready", "status": "False"}]}
    assert revisions.track(stored, status) == stored


def newest_named(created: str, ready: str, rolled_out: str) -> str:
    """Which revision a second canary names, by what the component's status holds."""
    return traffic.unready_newest(
        {
            "latestCreatedRevision": created,
            "latestReadyRevision": ready,
            "latestRolledoutRevision": rolled_out,
        }
    )


def test_a_rejected_revision_gets_no_share_while_the_next_one_is_not_ready() -> None:
    newest = newest_named("r3", "r2", "r1")
    canary, stable = traffic.targets(20, "r1", {}, newest=newest)
    assert canary == {"latestRevision": False, "percent": 20, "revisionName": "r3"}
    assert (stable["revisionName"], stable["percent"]) == ("r1", 80)


def test_no_revision_is_named_where_none_was_rejected() -> None:
    assert newest_named("r3", "r3", "r1") == "", "the newest is ready"
    assert newest_named("r2", "r1", "r1") == "", "the newest ready one is rolled out"
    assert newest_named("", "", "") == "", "nothing is known yet"
    (canary, _) = traffic.targets(0, "r1", {}, newest="r3")
    assert canary["latestRevision"], "a share of 0 reaches nobody"
