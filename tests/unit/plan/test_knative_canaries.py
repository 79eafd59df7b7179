"""A canary over a running service in Knative mode: shares, revisions, and what is told."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from ingressctl.api.refs import Raw, ref_of
from ingressctl.core import findings as table
from ingressctl.core.outcome import Finding
from ingressctl.core.settings import Settings
from ingressctl.core.table import Request
from ingressctl.core.world import World
from ingressctl.plan import cascade, explain, findings
from ingressctl.plan.explanation import leaves
from tests.unit.findings.objects import config, knative, runtime

NOW = datetime(2026, 1, 1, tzinfo=UTC)
READY = Settings(assume="ready")
NAME = "iris-predictor"


def service(uri: str = "gs://m/1", percent: int | None = None, **known: str) -> Raw:
    """The service; `known` are the revisions that its status names."""
    model = {"modelFormat": {"name": "sklearn"}, "storageUri": uri}
    predictor: dict[str, Any] = {"model": model}
    if percent is not None:
        predictor["canaryTrafficPercent"] = percent
    made = knative(predictor=predictor)
    if known:
        made["status"]["components"]["predictor"] |= known
    else:
        del made["status"]
    return made


def after(*objects: Raw, settings: Settings = READY) -> cascade.Cascade:
    world = World.of((config(), runtime(), *objects))
    return cascade.run(world, settings, now=NOW)


def running(latest: str = "00001") -> Raw:
    """The Knative Service of the first model as KServe made it, with a status."""
    made = after(service(), settings=Settings(assume="ready"))
    found = made.world.list(("serving.knative.dev", "Service"))[0]
    name = f"{NAME}-{latest}"
    traffic = [{"latestRevision": True, "percent": 100, "revisionName": name}]
    status = {
        "latestCreatedRevisionName": name,
        "latestReadyRevisionName": name,
        "traffic": traffic,
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    return {**found, "status": status}


def revision(number: int) -> str:
    return f"{NAME}-{number:05d}"


def shares(done: cascade.Cascade) -> dict[str, float]:
    request = Request("POST", "iris.team-a.example.com", "/")
    found = explain.explain(request, done.world, READY)
    return {
        leaf.branch.backend.partition(".")[0] if leaf.branch else "": round(leaf.share, 2)
        for leaf in leaves(found.attempts[0])
    }


FIRST = {"latestRolledoutRevision": revision(1), "latestReadyRevision": revision(1)}


@pytest.mark.parametrize("stored", [(running(),), ()], ids=["Service known", "status alone"])
def test_a_changed_template_gets_the_next_revision(stored: tuple[Raw, ...]) -> None:
    done = after(service("gs://m/2", 10, **FIRST), *stored)
    assert shares(done) == {revision(2): 0.1, revision(1): 0.9}


def test_numbers_go_on_after_the_highest_that_any_status_names() -> None:
    known = {**FIRST, "latestCreatedRevision": revision(7)}
    done = after(service("gs://m/2", 10, **known), running())
    assert shares(done) == {revision(8): 0.1, revision(1): 0.9}


def test_without_a_share_the_next_revision_is_rolled_out() -> None:
    done = after(service("gs://m/2", **FIRST), running())
    assert shares(done) == {revision(2): 1.0}
    status = done.steps[0].outcome.status or {}
    assert status["components"]["predictor"]["latestRolledoutRevision"] == revision(2)


def test_the_same_template_gets_no_revision() -> None:
    assert shares(after(service(**FIRST), running())) == {revision(1): 1.0}


def test_nothing_is_taken_for_granted_where_readiness_is_observed() -> None:
    done = after(service("gs://m/2", 10, **FIRST), running(), settings=Settings())
    assert shares(done) == {revision(1): 1.0}


def test_the_service_of_somebody_else_stays() -> None:
    theirs = running()
    del theirs["metadata"]["ownerReferences"]
    assert shares(after(service("gs://m/2", 10, **FIRST), theirs)) == {revision(1): 1.0}


def told(done: cascade.Cascade, settings: Settings) -> Mapping[str, Finding]:
    found = findings.find(done, base=done.start, settings=settings)
    return {item.code: item for item in found}


def test_a_changed_split_is_told_with_both_shares() -> None:
    done = after(service("gs://m/2", 10, **FIRST), running(), settings=Settings())
    message = table.message(told(done, Settings())["IC3220"])
    assert f"from 100 % latest ({revision(1)}) to 10 % latest, 90 % {revision(1)}" in message


@pytest.mark.parametrize(
    ("written", "settings"),
    [
        (service(**FIRST), Settings()),
        (service("gs://m/2", 10, **FIRST), Settings(write=frozenset({"routes", "workloads"}))),
    ],
    ids=["no split", "the object itself is shown"],
)
def test_a_split_is_not_told_twice_or_in_vain(written: Raw, settings: Settings) -> None:
    done = after(written, running(), settings=settings)
    assert "IC3220" not in told(done, settings)


def test_a_share_before_the_first_rollout_is_told() -> None:
    fresh = service(percent=10)
    settings = Settings(fresh=frozenset({ref_of(fresh)}))
    assert "IC3221" in told(after(fresh, settings=settings), settings)
    assert "IC3221" not in told(after(service("gs://m/2", 10, **FIRST), running()), READY)
