"""Cases from files, and the ways each is run (design.md section 5).

An unmarked case runs under `kserve`. A marked one runs under `kserve` plus the ids that it
is about, and under `better`. For `compat: defect` the case's own answers are the
reference's, wrong ones: they are compared under `kserve` only, and our expectation lies in
tests/cases/better/SUITE/NAME.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ingressctl.core import differences

SUITES_FOLDER = Path(__file__).parent / "suites"
BETTER = Path(__file__).parent / "better"
INTERFERING = Path(__file__).parent / "interfering.yaml"
NEEDING = Path(__file__).parent / "needing.yaml"

SUITES = (
    "kserve-ingress",
    "runtime-selection",
    "ksvc-traffic",
    "isvc-status",
    "isvc-validation",
    "graph-validation",
    "graph-render",
    "graph-router",
    "field",
)
"""The suites whose sources exist; others in a folder are listed as not judged."""

STAGED = frozenset({"graph-validation", "graph-render"})
"""Suites that have one stage, called as they are."""

FIELD_NEEDS = frozenset({"envoy", "workloads", "graph"})
CLUSTER_NEEDS = frozenset({"run", "apiserver"})
"""Field cases with one of these are judged in e2e, where the others of its needs are met."""
CLUSTER_MET = CLUSTER_NEEDS | FIELD_NEEDS | {"istiod", "bench"}

KEYS = frozenset(
    (
        "name source shows stage notes input expected status error stored updates assert "
        "operation absent_crds compat better difference shipped created_apart part report "
        "parity needs level accepted event statusAbsent retry cluster router conditions"
    ).split()
)

ANSWERS = (
    "expected",
    "status",
    "error",
    "stored",
    "assert",
    "event",
    "statusAbsent",
    "retry",
)

ON_CLUSTER: set[str] = set()
UNJUDGED: set[str] = set()
NOT_MET: set[str] = set()


@dataclass(frozen=True)
class Run:
    """One case under one `compat`. `expect` holds the answers to compare with; `group` is
    the file inside the suite."""

    suite: str
    group: str
    case: dict[str, Any]
    compat: str
    expect: dict[str, Any]

    @property
    def id(self) -> str:
        name = str(self.case["name"]).replace(" ", "-")
        return f"{self.suite}/{name}[{self.compat}]"


def runs(folder: Path) -> Iterator[Run]:
    """Those of all cases that pure functions and proxies can judge."""
    for suite, group, case in _cases(folder):
        needs = set(case.get("needs") or ())
        if suite in SUITES and _is_long(case):
            ON_CLUSTER.add(f"{suite}/{case['name']}")
        elif suite in SUITES and needs <= FIELD_NEEDS:
            yield from _runs_of(suite, group, case)
        elif suite in SUITES and _is_of_cluster(needs):
            ON_CLUSTER.add(f"{suite}/{case['name']}")
        else:
            NOT_MET.add(f"{suite}/{case['name']}")


def _is_long(case: dict[str, Any]) -> bool:
    """Whether a field case stops a router under load, or lets it rest: those are processes."""
    return re.search(r"^  (stop|rest):", case.get("assert") or "", re.MULTILINE) is not None


def long_runs(folder: Path) -> Iterator[Run]:
    """Field cases that need the router as a process, and time."""
    for suite, group, case in _cases(folder):
        if suite == "field" and _is_long(case):
            yield from _runs_of(suite, group, case)


def cluster_runs(folder: Path) -> Iterator[Run]:
    """Those of the field cases that need the controller on an API server."""
    for suite, group, case in _cases(folder):
        if suite == "field" and _is_of_cluster(set(case.get("needs") or ())):
            yield from _runs_of(suite, group, case)


def _is_of_cluster(needs: set[str]) -> bool:
    return bool(needs & CLUSTER_NEEDS) and needs <= CLUSTER_MET


def _cases(folder: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path in sorted(folder.glob("*/*.yaml")):
        if path.name == "shipped-runtimes.yaml":
            continue
        for case in yaml.load(path.read_text(), yaml.CSafeLoader):
            yield path.parent.name, path.stem, case


def _runs_of(suite: str, group: str, case: dict[str, Any]) -> Iterator[Run]:
    unknown = set(case) - KEYS
    if unknown:
        raise ValueError(f"{suite}/{case['name']}: unknown keys {sorted(unknown)}")
    if suite in STAGED:
        case["stage"] = suite
    answers = {key: case[key] for key in ANSWERS if key in case}
    ids = _ids(suite, case)
    if case.get("compat") == "defect":
        if not _ends_the_router(case):
            yield Run(suite, group, case, "kserve", answers)
        own = _own_expectation(suite, case["name"])
        if own is None:
            UNJUDGED.add(f"{suite}/{case['name']}")
            return
        yield Run(suite, group, case, _plus(ids), own)
        yield from _under_better(suite, group, case, own)
    elif case.get("parity") == "stricter-than-upstream":
        yield Run(suite, group, case, _plus(ids), answers)
        yield from _under_better(suite, group, case, answers)
    else:
        yield Run(suite, group, case, _plus(_needed(suite, case)), answers)


def _ends_the_router(case: dict[str, Any]) -> bool:
    """Where the reference dies of a request we do not, under whatever `compat`."""
    return "exits" in case.get("router", ())


def _under_better(
    suite: str, group: str, case: dict[str, Any], answers: dict[str, Any]
) -> Iterator[Run]:
    interfering = yaml.safe_load(INTERFERING.read_text()) or {}
    if f"{suite}/{case['name']}" not in interfering:
        yield Run(suite, group, case, "better", answers)


def _ids(suite: str, case: dict[str, Any]) -> list[str]:
    named = case.get("difference") or [case.get("report")]
    known = [identity for identity in named if identity and differences.known(identity)]
    wider = _reasons(f"{suite} {case.get('report')}")
    return list(dict.fromkeys((*known, *wider, *_needed(suite, case))))


def _needed(suite: str, case: dict[str, Any]) -> list[str]:
    """Further ids that a case stands on, with their reason in needing.yaml."""
    return [*_reasons(suite), *_reasons(f"{suite}/{case['name']}")]


def _reasons(key: str) -> list[str]:
    needing = yaml.safe_load(NEEDING.read_text())
    return [reason.partition(":")[0] for reason in needing.get(key, ())]


def _plus(ids: list[str]) -> str:
    return ",".join(["kserve", *(f"+{identity}" for identity in ids)])


def _own_expectation(suite: str, name: str) -> dict[str, Any] | None:
    path = BETTER / suite / f"{name}.yaml"
    if not path.exists():
        return None
    own: dict[str, Any] = yaml.safe_load(path.read_text())
    if not own.pop("reason", ""):
        raise ValueError(f"{path}: an expectation needs its reason")
    return own
