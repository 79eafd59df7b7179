"""Field cases that need the controller over time, on a real API server: writes, verbs, events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e import charts
from e2e.audit import Audit
from e2e.bed import bed as beds
from e2e.bed.bed import Bed
from e2e.replay import field, previewing
from ingressctl.cluster.client import Client
from ingressctl.cluster.connection import Choice
from tests.cases import loading
from tests.cases.loading import Run

RUNS = [*loading.cluster_runs(loading.SUITES_FOLDER)]


def test_there_are_such_cases() -> None:
    assert {run.case["report"] for run in RUNS} == {"F30", "F31", "F32", "F60", "F104"}


@pytest.mark.parametrize("case", RUNS, ids=lambda run: run.id)
def test_a_field_case_holds(case: Run, make_bed: Callable[..., Bed], tmp_path: Path) -> None:
    """Each on a cluster of its own: what is counted is what this case leads to."""
    charts.need_helm()
    users = (field.CONTROLLER, previewing.READER)
    noted = Audit(tmp_path, users)
    bed = make_bed((beds.CRDS,), api=noted.settings)
    try:
        charts.make_namespaces(bed)
        faults = asyncio.run(play(case, bed, noted, tmp_path))
    finally:
        bed.stop()
    assert not faults, "\n".join(faults)


async def play(case: Run, bed: Bed, noted: Audit, place: Path) -> list[str]:
    async with Client(Choice(kubeconfig=str(bed.kubeconfig))) as client:
        return await field.Player(case, bed, noted, client, place).play()
