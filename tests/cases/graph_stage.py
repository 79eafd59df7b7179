"""Stages about InferenceGraphs (suites graph-validation and graph-render)."""

from __future__ import annotations

from ingressctl.api import admission
from ingressctl.api.admission import Operation, schema
from ingressctl.api.models.inferencegraphs import InferenceGraph
from ingressctl.core.world import World
from tests.cases import comparing
from tests.cases.admission_stage import differs_of
from tests.cases.loading import Run
from tests.cases.results import Result

OPERATIONS: dict[str, Operation] = {"CREATE": "create", "UPDATE": "update", "DELETE": "delete"}


def validate(run: Run) -> Result:
    """The webhook alone, or the schema of the CRD alone (graph-validation/README.md)."""
    (graph,) = comparing.documents(run.case["input"])
    if run.case["level"] == "schema":
        refused = schema.parse(InferenceGraph, graph)[1]
        return Result(World.of([]), [refusal.message for refusal in refused])
    differs, operation = differs_of(run), OPERATIONS[run.case["operation"]]
    refused = admission.validate(graph, operation=operation, config={}, differs=differs)
    admitted = admission.admit(graph, operation=operation, config={}, differs=differs)
    warnings = [warning.message for warning in admitted.warnings]
    return Result(World.of([]), [refusal.message for refusal in refused], warnings=warnings)
