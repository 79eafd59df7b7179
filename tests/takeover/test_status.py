"""The status that KServe wrote is the status that follows from the same workloads."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ingressctl.api.inferenceservices import KIND
from ingressctl.api.refs import ref_of
from ingressctl.core.differences import KSERVE
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import cascade
from ingressctl.sources.kserve import reconcile as kserve
from tests.cases import comparing
from tests.takeover.test_takeover import FOLDERS, documents

NOW = datetime(2026, 12, 1, tzinfo=UTC)
SETTINGS = Settings(compat=KSERVE, write=frozenset({"routes", "workloads"}))


def plain(status: Mapping[str, Any]) -> dict[str, Any]:
    """Without times and without modelStatus, which needs the pods."""
    conditions = {
        item["type"]: {key: text for key, text in item.items() if key != "lastTransitionTime"}
        for item in status["conditions"]
    }
    kept = {key: value for key, value in status.items() if key != "modelStatus"}
    return {**kept, "conditions": conditions}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_status_is_what_kserve_wrote(folder: Path) -> None:
    world = World.of(item.obj for path in folder.glob("*.yaml") for item in documents(path))
    faults: list[str] = []
    judged = 0
    for obj in world.list(KIND):
        step = cascade.reconcile_one(obj, kserve.reconcile, world, SETTINGS, now=NOW)
        assert not step.outcome.faults
        if step.outcome.status is None:
            continue  # it asked not to be updated
        judged += 1
        found = comparing.differences(plain(step.outcome.status), plain(obj["status"]), "status")
        faults += [f"{ref_of(obj)}: {fault}" for fault in found]
    assert judged > 30
    assert not faults, "\n".join(faults)
