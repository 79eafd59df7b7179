"""The `preview` map of a field case: findings, what is printed, exit status, time.

Findings come from the functions that `check`, `preview` and `explain` call.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from ingressctl.core import findings as table
from ingressctl.core.outcome import Finding
from ingressctl.core.table import Request
from ingressctl.plan import admitting as admission
from ingressctl.plan import explain, findings, requests
from tests.cases import xds
from tests.cases.field_state import State

FIELDS = frozenset("findings noFindings prints explain exit maxSeconds sameAsApplied".split())
FINDING = frozenset("kind object objects severity mentions".split())


def judge(preview: Mapping[str, Any], state: State) -> list[str]:
    """Why the preview is not as wanted."""
    unknown = set(preview) - FIELDS
    if unknown:
        return [f"preview has no field {sorted(unknown)}"]
    start = time.perf_counter()
    found = _found(preview, state)
    printed = "\n".join(requests.usage(state.cascade, settings=state.settings))
    took = time.perf_counter() - start + state.seconds
    faults: list[str] = []
    for wanted in preview.get("findings") or ():
        faults += _wanted(wanted, found)
    for unwanted in preview.get("noFindings") or ():
        faults += _unwanted(unwanted, found)
    faults += [
        f"preview does not print {text!r}; it prints {printed!r}"
        for text in preview.get("prints") or ()
        if text not in printed
    ]
    if took > float(preview.get("maxSeconds", took)):
        faults.append(f"preview takes {took:.1f} s")
    if preview.get("exit", _exit(found, state)) != _exit(found, state):
        faults.append(f"preview exits with {_exit(found, state)}")
    if preview.get("sameAsApplied"):
        faults.append("sameAsApplied is not judged yet")
    return faults


def _found(preview: Mapping[str, Any], state: State) -> tuple[Finding, ...]:
    if "explain" in preview:
        return _explained(preview["explain"], state)
    return findings.find(state.cascade, base=state.before, settings=state.settings)


def _explained(asked: Mapping[str, Any], state: State) -> tuple[Finding, ...]:
    unknown = set(asked) - {"method", "host", "path"}
    if unknown:
        raise ValueError(f"explain has no field {sorted(unknown)}")
    request = Request(asked.get("method") or "GET", asked["host"], asked.get("path") or "/")
    return explain.explain(request, state.after, state.settings).findings


def _exit(found: Iterable[Finding], state: State) -> int:
    """Exit status of ux.md 8.3: 2 for an input that cannot be, 1 for a difference or error."""
    if state.faults or any(finding.code in admission.REFUSALS for finding in found):
        return 2
    failing = any(table.level(finding) == "error" for finding in found)
    return 1 if failing or state.writes else 0


def _wanted(wanted: Mapping[str, Any], found: Iterable[Finding]) -> list[str]:
    faults = _malformed(wanted)
    if faults or any(_matches(wanted, finding) for finding in found):
        return faults
    shown = "\n  ".join(sorted(_shown(finding) for finding in found))
    return [f"no finding {dict(wanted)}; there are:\n  {shown}"]


def _unwanted(unwanted: Mapping[str, Any], found: Iterable[Finding]) -> list[str]:
    faults = _malformed(unwanted)
    return faults + [
        f"unwanted finding {_shown(finding)}" for finding in found if _matches(unwanted, finding)
    ]


def _malformed(wanted: Mapping[str, Any]) -> list[str]:
    if set(wanted) - FINDING or ("object" in wanted) == ("objects" in wanted):
        return [f"no such finding can be asked for: {dict(wanted)}"]
    return []


def _matches(wanted: Mapping[str, Any], finding: Finding) -> bool:
    names = {str(ref) for ref in finding.refs}
    text = f"{table.message(finding)} {' '.join(sorted(names))}".lower()
    objects = wanted.get("objects") or [wanted["object"]]
    return (
        names.issuperset(objects)
        and wanted.get("severity") in (None, table.level(finding))
        and all(str(mention).lower() in text for mention in wanted.get("mentions") or ())
    )


def _shown(finding: Finding) -> str:
    refs = ", ".join(str(ref) for ref in finding.refs)
    return f"{table.level(finding)} {finding.code} ({refs}) {table.message(finding)}"


def resources(state: State, version: str) -> Iterable[tuple[str, tuple[str, ...], Any]]:
    """The xDS resources of a state; the first after a start are those of its quiet world.

    Raises LookupError for a version that the cases do not have.
    """
    if version not in ("first", "last"):
        raise LookupError(f"version {version!r} is neither first nor last")
    routes = (route for step in state.cascade.steps for route in step.emission.routes)
    return xds.resources(routes, state.after)
