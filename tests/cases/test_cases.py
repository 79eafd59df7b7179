"""Every case of every suite, under the differences that it is about."""

from __future__ import annotations

from tests.cases import field_stage, judging, stages
from tests.cases.loading import Run
from tests.cases.router import stage as router_stage


def test_case(run: Run) -> None:
    """The outcome of the case is what it expects."""
    if run.suite == "field":
        faults = field_stage.judge(run)
    elif run.suite == "graph-router":
        faults = router_stage.judge(run)
    else:
        faults = judging.judge(run, stages.run_case(run))
    assert not faults, "\n".join(faults)
