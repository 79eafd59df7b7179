"""When a status is not written: it has been, and somebody does not leave it so.

A status that is stored otherwise than it was sent (a CRD may prune fields) is sent once. What
somebody else changes back three times within a minute is left to him for a while, unless
something else is to be told meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core import managed
from ingressctl.core.outcome import Finding
from ingressctl.plan.contests import REST, Rewrites, contested, digest

Status = Mapping[str, Any]


@dataclass(slots=True)
class _Told:
    wanted: bytes
    answer: bytes = b""
    rewrites: Rewrites = field(default_factory=Rewrites)
    until: float = 0.0
    finding: Finding | None = None


class StatusContests:
    """Memory of what was told last, by owner. Times are monotonic seconds."""

    def __init__(self) -> None:
        self._last: dict[Ref, _Told] = {}

    def may_write(self, obj: Raw, wanted: Status, now: float) -> bool:
        """Whether to write a status that differs from that of the object."""
        ref, told = ref_of(obj), _digest(wanted)
        last = self._last.get(ref)
        if last is None or last.wanted != told:
            self._last[ref] = _Told(told)
            return True
        if now < last.until:
            return False
        last.finding = None
        if last.answer == _digest(obj.get("status") or {}):
            return False
        if last.rewrites.are_fight(now):
            last.until = now + REST
            last.finding = _contested(obj, wanted)
            return False
        return True

    def wrote(self, stored: Raw) -> None:
        """What the server made of a status that was written."""
        last = self._last.get(ref_of(stored))
        if last is not None:
            last.answer = _digest(stored.get("status") or {})

    def findings(self, ref: Ref) -> tuple[Finding, ...]:
        """What there is to say about a status that is let be."""
        last = self._last.get(ref)
        return () if last is None or last.finding is None else (last.finding,)

    def forget(self, ref: Ref) -> None:
        """The write failed, or the owner is gone."""
        self._last.pop(ref, None)


def _contested(obj: Raw, wanted: Status) -> Finding:
    ref, stored = ref_of(obj), obj.get("status") or {}
    fields = sorted(key for key in {*stored, *wanted} if stored.get(key) != wanted.get(key))
    return contested(ref, f"the status of {ref}", managed.others(obj, "status"), fields)


def _digest(status: Status) -> bytes:
    """Of all but the times of conditions: whoever turns one back and forth changes those."""
    conditions = [
        {key: value for key, value in item.items() if key != "lastTransitionTime"}
        for item in status.get("conditions") or ()
    ]
    return digest({**status, "conditions": conditions})
