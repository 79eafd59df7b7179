"""What a case ended in, held to its answers. A case on a real API server is judged by it too."""

from __future__ import annotations

from typing import Any

import yaml

from ingressctl.api.refs import Raw, ref_of
from tests.cases import admission_stage, comparing, counting, graph_stage, stages
from tests.cases.loading import Run


def judge(run: Run, result: stages.Result) -> list[str]:
    """Every reason why the case does not hold."""
    faults = _errors(run, result)
    if run.case["stage"] == "graph-render":
        return [*faults, *graph_stage.judge(run, result)]
    if "expected" in run.expect:
        expected = comparing.documents(run.expect["expected"])
        faults += comparing.compare_objects(_relevant(run, result, expected), expected)
    if "status" in run.expect and not _refused_at_admission(run):
        faults += _status(run.expect["status"], result)
    if "stored" in run.expect and not _refused_at_admission(run):
        faults += admission_stage.compare_stored(result.stored, run.expect["stored"])
    if "warning" in run.expect:
        faults += _matches(run.expect["warning"]["match"], result.warnings, "warning")
    return faults


def _errors(run: Run, result: stages.Result) -> list[str]:
    error = run.expect.get("error")
    if error is None:
        return [f"unexpected error: {fault}" for fault in result.faults]
    wanted = (error if isinstance(error, dict) else yaml.safe_load(error))["match"]
    return _matches(wanted, result.faults, "error")


def _matches(wanted: str, texts: list[str], what: str) -> list[str]:
    if any(wanted in text for text in texts):
        return []
    return [f"no {what} contains {wanted!r}; there are {texts}"]


def _refused_at_admission(run: Run) -> bool:
    """Then nothing else is asserted (runtime-selection/README.md)."""
    error = run.expect.get("error")
    error = error if isinstance(error, dict) else yaml.safe_load(error or "{}")
    return bool(error.get("where") == "admission")


def _relevant(run: Run, result: stages.Result, expected: list[dict[str, Any]]) -> list[Raw]:
    """What the folder lets count (INDEX.md, Comparing)."""
    if result.objects is not None:
        return result.objects
    if run.case["stage"] == "reconcile":
        return counting.of_reconcile(run, result.world, expected)
    if run.case["stage"] == "select":
        return counting.of_select(result.world)
    objects = stages.routing_objects(result.world)
    notes = run.case.get("notes") or ""
    suite_file = {ref_of(obj)[:2] for obj in expected}
    only_virtual_services = "Hosts after the first two" in notes
    only_services = suite_file == {("", "Service")} and "VirtualService" not in str(expected)
    if only_virtual_services:
        return [obj for obj in objects if obj["kind"] == "VirtualService"]
    if run.case.get("absent_crds"):
        return [obj for obj in objects if obj["kind"] == "VirtualService"]
    if only_services and "external" in run.case["source"].lower() + run.case["shows"].lower():
        return [obj for obj in objects if obj["kind"] == "Service"]
    return objects


def _status(expected: str, result: stages.Result) -> list[str]:
    wanted = yaml.load(expected, yaml.CSafeLoader)
    services = stages.services(result.world)
    assert services, "a status is expected and no InferenceService exists"
    return comparing.subset(services[0].get("status") or {}, wanted, "status")
