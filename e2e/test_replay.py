"""Cases of kserve-ingress and isvc-status on a real API server: they end as in their files.

In CI a fixed third of them is played, else all. replay/left_out.yaml names those that cannot
be, with the reason.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from e2e import charts, controllers
from e2e.bed import bed as beds
from e2e.bed.bed import Bed
from e2e.replay import playing
from e2e.replay.controller import PROVIDERS
from e2e.replay.playing import Place
from tests.cases import loading
from tests.cases.loading import Run

PARTS = (beds.CRDS,)
"""Nobody else writes: statuses stay as the cases have them."""

SUITES = ("kserve-ingress", "isvc-status")
PARTS_IN_CI = 3
LEFT_OUT: Mapping[str, str] = yaml.safe_load(
    (Path(__file__).parent / "replay" / "left_out.yaml").read_text()
)
RUNS = [run for run in loading.runs(loading.SUITES_FOLDER) if run.suite in SUITES]


def name(run: Run) -> str:
    return f"{run.suite}/{run.case['name']}"


def title(run: Run) -> str:
    """Names are unique in a file only."""
    return f"{run.group}/{run.id}"


def is_due(run: Run) -> bool:
    """In CI a third, always the same one: by the checksum of the title."""
    return os.environ.get("CI") != "true" or zlib.crc32(title(run).encode()) % PARTS_IN_CI == 0


@pytest.fixture(scope="module")
def place(bed: Bed) -> Place:
    """The controller has the rights of the chart and no others."""
    charts.need_helm()
    charts.make_namespaces(bed)
    values = {"providers": list(PROVIDERS), "write": ["routes", "workloads"], "beside": ""}
    return Place(bed.kubeconfig, controllers.account(bed, values))


@pytest.mark.parametrize(
    "case", [run for run in RUNS if is_due(run) and name(run) not in LEFT_OUT], ids=title
)
def test_a_case_ends_as_in_its_file(case: Run, place: Place) -> None:
    """And then a second look writes nothing."""
    faults = playing.play(case, place)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("left_out", LEFT_OUT)
def test_what_is_left_out_cannot_be_played(left_out: str, place: Place) -> None:
    """Because of its stage, or because the API server refuses an object of it."""
    assert LEFT_OUT[left_out]
    runs = [run for run in RUNS if name(run) == left_out]
    assert runs, "there is no such case"
    for run in runs:
        if run.case["stage"] in playing.SOURCES:
            with pytest.raises(playing.NotHeld):
                playing.play(run, place)
