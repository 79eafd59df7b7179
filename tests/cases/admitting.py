"""The errors of a field case's input: each object by itself, then what holds for all."""

from __future__ import annotations

from ingressctl.api.refs import Raw, ref_of
from ingressctl.core import findings as table
from ingressctl.plan import admitting, findings
from tests.cases import field_state
from tests.cases.field_state import State


def refusals(obj: Raw, state: State) -> tuple[str, ...]:
    """Why admission refuses the object; empty if it does not."""
    return tuple(
        table.message(finding)
        for finding in admitting.refusals(obj, world=state.before, settings=state.settings)
    )


def errors(state: State) -> dict[str, list[str]]:
    """The texts of every error, by the object that is refused or fails.

    An input without InferenceServices is judged as a whole.
    """
    found = findings.find(state.cascade, base=state.before, settings=state.settings)
    services = [ref_of(obj) for obj in state.before.list(field_state.ISVC)]
    texts: dict[str, list[str]] = {str(ref): [] for ref in services or ["input"]}
    for finding in found:
        if table.level(finding) != "error":
            continue
        about = [ref for ref in finding.refs if ref in services]
        for ref in about or texts:
            texts[str(ref)].append(table.message(finding))
    for step in state.cascade.steps:
        texts[str(step.ref)] += [fault.message for fault in step.faults]
    return texts
