"""What KServe made of graphs is what we want under `kserve`: nothing is written again.

The objects are those that its own controller rendered in the recorded cases.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ingressctl.api import inferencegraphs
from ingressctl.api.refs import owner_of, ref_of
from ingressctl.core.differences import KSERVE
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import cascade
from ingressctl.sources.graph import reconcile as graph
from tests.cases import comparing, graph_stage, loading

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RUNS = [
    run
    for run in loading.runs(loading.SUITES_FOLDER)
    if run.suite == "graph-render" and run.compat == "kserve" and run.expect.get("expected")
]


@pytest.mark.parametrize("run", RUNS, ids=[run.case["name"] for run in RUNS])
def test_what_kserve_made_stays_as_it_is(run: loading.Run) -> None:
    given = comparing.documents(run.case["input"])
    objects = [obj for obj in given if ref_of(obj)[:2] not in graph_stage.KINDS]
    owner = owner_of(objects[-1]).reference()
    made = comparing.documents(run.expect["expected"])
    for obj in made:
        obj["metadata"]["ownerReferences"] = [owner]
    settings = Settings(compat=KSERVE, write=frozenset({"routes", "workloads"}))
    steps: dict[object, cascade.Step] = {}
    cascade.one_pass(
        World.of([*objects, *made]),
        settings,
        now=NOW,
        sources={inferencegraphs.KIND: graph.reconcile},
        steps=steps,  # type: ignore[arg-type]
    )
    (step,) = steps.values()
    assert step.settlement.quiet, step.settlement
