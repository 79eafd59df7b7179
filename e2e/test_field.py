"""Field cases that need the controller over time, on a real API server: writes, verbs, events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


FAILING = {
    (
        "F30",
        "better",
    ): "an InferenceService turns unready and ready again while the gateway follows its "
    "routes, so its status is written three times, not once",
}
"""Reports and `compat` of the cases that do not hold yet, with the reason."""


def params() -> list[Any]:
    """The runs; one that does not hold yet has to fail."""
    return [
        pytest.param(
            run,
            id=run.id,
            marks=[pytest.mark.xfail(strict=True, reason=reason)]
            if (reason := FAILING.get((run.case["report"], run.compat)))
            else [],
        )
        for run in RUNS
    ]


def test_there_are_such_cases() -> None:
    assert {run.case["report"] for run in RUNS} == {"F30", "F31", "F32", "F60", "F104"}


@pytest.mark.parametrize("case", params())
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
