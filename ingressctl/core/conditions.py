"""Status conditions with Knative's rules of severity and summary.

spec/knative-routing.md 0.2, as KServe uses them: PredictorReady and IngressReady have
error severity, all others are Info unless a difference says otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["True", "False", "Unknown"]


@dataclass(slots=True)
class Conditions:
    """A set by type. The one mutable value of the core: a draft inside one reconcile.

    The summary is made when somebody looks at it, not at every change on the way.
    """

    dependents: tuple[str, ...]
    by_type: dict[str, dict[str, Any]] = field(default_factory=dict)
    _changed: bool = False

    @classmethod
    def load(cls, dependents: tuple[str, ...], stored: Iterable[Mapping[str, Any]]) -> Conditions:
        """The stored conditions as a draft."""
        return cls(dependents, {item["type"]: dict(item) for item in stored if "type" in item})

    def initialise(self) -> None:
        """Ready and the dependents exist, Unknown when they were missing."""
        for kind in ("Ready", *self.dependents):
            self.by_type.setdefault(kind, {"type": kind, "status": "Unknown"})

    def status(self, kind: str) -> str:
        """True, False or Unknown; Unknown when absent."""
        return str(self.get(kind).get("status") or "Unknown")

    def is_true(self, kind: str) -> bool:
        """Whether the condition is True."""
        return self.status(kind) == "True"

    def has(self, kind: str) -> bool:
        """Whether the condition exists."""
        return kind in self.by_type

    def get(self, kind: str) -> Mapping[str, Any]:
        """The condition, empty when absent."""
        if kind == "Ready":
            self.summarise()
        return self.by_type.get(kind) or {}

    def set(self, kind: str, status: Status, reason: str = "", message: str = "") -> None:
        """Set one condition; the summary follows from it."""
        new: dict[str, Any] = {"type": kind, "status": status}
        if reason:
            new["reason"] = reason
        if message:
            new["message"] = message
        if kind not in self.dependents:
            new["severity"] = "Info"
        old = self.by_type.get(kind)
        if old is not None and {**old, "lastTransitionTime": None} == {
            **new,
            "lastTransitionTime": None,
        }:
            return
        if old is not None and "lastTransitionTime" in old and old.get("status") == status:
            new["lastTransitionTime"] = old["lastTransitionTime"]
        self.by_type[kind] = new
        self._changed = True

    def drop(self, kind: str) -> None:
        """Remove a condition; the summary follows."""
        if self.by_type.pop(kind, None) is not None:
            self._changed = True

    def summarise(self) -> None:
        """Ready from the dependents: False beats Unknown beats True."""
        if not self._changed:
            return
        self._changed = False
        present = [
            condition
            for kind, condition in self.by_type.items()
            if kind != "Ready" and not condition.get("severity")
        ]
        missing = [kind for kind in self.dependents if kind not in self.by_type]
        bad = _first(present, "False") or _first(present, "Unknown")
        if bad is None and missing:
            bad = {"status": "Unknown"}
        ready: dict[str, Any] = {"type": "Ready", "status": "True"}
        if bad is not None:
            ready["status"] = bad["status"]
            ready.update({key: bad[key] for key in ("reason", "message") if bad.get(key)})
        old = self.by_type.get("Ready")
        if old and old.get("status") == ready["status"] and "lastTransitionTime" in old:
            ready["lastTransitionTime"] = old["lastTransitionTime"]
        self.by_type["Ready"] = ready

    def dump(self) -> list[dict[str, Any]]:
        """Sorted by type, as Knative stores them."""
        self.summarise()
        return [self.by_type[kind] for kind in sorted(self.by_type)]


def denied(status: Mapping[str, Any], kind: str, *, reason: str, message: str) -> dict[str, Any]:
    """A status in which one condition, and with it the summary, is False."""
    return changed(status, kind, "False", reason=reason, message=message)


def changed(
    status: Mapping[str, Any], kind: str, value: Status, *, reason: str = "", message: str = ""
) -> dict[str, Any]:
    """A status in which the summary depends on one condition that is set anew."""
    conditions = Conditions.load((kind,), status.get("conditions") or ())
    conditions.set(kind, value, reason, message)
    return {**status, "conditions": conditions.dump()}


def noted(
    status: Mapping[str, Any], kind: str, value: Status, *, reason: str = "", message: str = ""
) -> dict[str, Any]:
    """A status with one condition set anew that informs only: the summary does not follow."""
    conditions = Conditions.load((), status.get("conditions") or ())
    conditions.set(kind, value, reason, message)
    return {**status, "conditions": conditions.dump()}


def stored_status(stored: Mapping[str, Any], kind: str) -> str:
    """True, False or Unknown as a stored status has it; "" where the condition is absent."""
    found = (item for item in stored.get("conditions") or () if item.get("type") == kind)
    return next((str(item.get("status") or "Unknown") for item in found), "")


def stored_reason(stored: Mapping[str, Any], kind: str) -> str:
    """The reason of a condition in a stored status, or ""."""
    found = (item for item in stored.get("conditions") or () if item.get("type") == kind)
    return next((str(item.get("reason") or "") for item in found), "")


def apart_from(status: Mapping[str, Any], kinds: Collection[str]) -> Mapping[str, Any]:
    """A status without the conditions of some types."""
    rest = [item for item in status.get("conditions") or () if item.get("type") not in kinds]
    return {**status, "conditions": rest}


def stamped(status: Mapping[str, Any], stored: Mapping[str, Any], now: str) -> Mapping[str, Any]:
    """A status to store: each condition has the time of its last transition.

    Times of the same status are kept; `now` is RFC 3339 and stands where status changed.
    """
    if "conditions" not in status:
        return status
    known = {item.get("type"): item for item in stored.get("conditions") or ()}
    return {
        **status,
        "conditions": [
            _stamped(item, known.get(item.get("type")), now) for item in status["conditions"]
        ],
    }


def _stamped(
    condition: Mapping[str, Any], old: Mapping[str, Any] | None, now: str
) -> Mapping[str, Any]:
    if old is not None and old.get("status") == condition.get("status"):
        return {**condition, "lastTransitionTime": old.get("lastTransitionTime") or now}
    return {**condition, "lastTransitionTime": now}


def with_times(status: Mapping[str, Any], stored: Mapping[str, Any]) -> Mapping[str, Any]:
    """A status whose conditions keep the stored time of their last transition.

    A condition that was set to and fro within one reconcile did not change.
    """
    known = {
        item.get("type"): item
        for item in stored.get("conditions") or ()
        if "lastTransitionTime" in item
    }
    if not known or "conditions" not in status:
        return status
    return {**status, "conditions": [_timed(item, known) for item in status["conditions"]]}


def _timed(condition: Mapping[str, Any], known: Mapping[Any, Mapping[str, Any]]) -> dict[str, Any]:
    old = known.get(condition.get("type"))
    if old is None or old.get("status") != condition.get("status"):
        return dict(condition)
    return {**condition, "lastTransitionTime": old["lastTransitionTime"]}


def _first(conditions: Iterable[dict[str, Any]], status: str) -> dict[str, Any] | None:
    found = [item for item in conditions if item.get("status") == status]
    return max(found, key=lambda item: str(item.get("lastTransitionTime") or ""), default=None)
