"""Readiness of a component from its Deployments (spec/kserve-ingress.md 15.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ingressctl.api.refs import Raw
from ingressctl.core.conditions import Status

PREFIXES = ("predictor-container", "worker-container")


class Readiness(NamedTuple):
    """The component's own condition."""

    status: Status
    reason: str = ""
    message: str = ""


def readiness(deployments: Sequence[Raw]) -> Readiness:
    """From the head alone, or from head and worker together; later rules win."""
    available = _condition(deployments, "Available")
    progressing = _condition(deployments, "Progressing")
    failure = _condition(deployments, "ReplicaFailure")
    ready = Readiness("False")
    if available is not None and available.status == "True":
        ready = available
    if progressing is not None:
        ready = _progress(progressing, ready)
    if available is not None and available.status == "False":
        ready = available
    if failure is not None and failure.status == "True":
        ready = failure._replace(status="False")
    return ready


def _progress(progressing: Readiness, ready: Readiness) -> Readiness:
    if progressing.status == "False":
        return progressing if progressing.message else ready
    if progressing.status == "True" and progressing.reason == "NewReplicaSetAvailable":
        return progressing
    if progressing.status == "True" and ready.status != "True":
        return progressing._replace(status="Unknown")
    return ready


def _condition(deployments: Sequence[Raw], kind: str) -> Readiness | None:
    """A condition that every Deployment has, with all of them joined."""
    found = [_of(deployment, kind) for deployment in deployments]
    present = [condition for condition in found if condition is not None]
    if not present or len(present) < len(found):
        return None
    if len(present) == 1:
        return present[0]
    status: Status = "True" if all(item.status == "True" for item in present) else "False"
    reasons = {item.reason for item in present}
    reason = reasons.pop() if len(reasons) == 1 else _joined([item.reason for item in present])
    return Readiness(status, reason, _joined([item.message for item in present]))


def _joined(texts: Sequence[str]) -> str:
    return ", ".join(f"{prefix}: {text}" for prefix, text in zip(PREFIXES, texts, strict=False))


def _of(deployment: Raw, kind: str) -> Readiness | None:
    conditions: Sequence[Mapping[str, str]] = (deployment.get("status") or {}).get(
        "conditions"
    ) or ()
    found = next((item for item in conditions if item.get("type") == kind), None)
    if found is None:
        return None
    status: Status = _STATUS.get(str(found.get("status")), "Unknown")
    return Readiness(status, str(found.get("reason") or ""), str(found.get("message") or ""))


_STATUS: Mapping[str, Status] = {"True": "True", "False": "False"}
