"""Field cases about the router of a graph as a process: under load, at rest, at its end."""

from __future__ import annotations

import pytest

from tests.cases import loading
from tests.cases.loading import Run
from tests.cases.router import lasting

RUNS = [*loading.long_runs(loading.SUITES_FOLDER)]


def test_there_are_such_cases() -> None:
    assert {run.case["report"] for run in RUNS} == {"F71", "F93"}


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.id)
def test_a_router_lasts(run: Run) -> None:
    assert not lasting.judge(run)
