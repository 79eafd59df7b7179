"""When a status is not written: it has been, and somebody does not leave it so.

A status that is stored otherwise than it was sent (a CRD may prune fields) is sent once. What
somebody else changes back three times within a minute is left to him for a while, unless
something else is to be told meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import orjson

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core import managed
from ingressctl.core.outcome import Finding
from ingressctl.plan.contests import REST, TIMES, WITHIN

Status = Mapping[str, Any]


@dataclass(slots=True)
class _Told:
    wanted: bytes
    answer: bytes = b""
    rewrites: deque[float] = field(default_factory=lambda: deque(maxlen=TIMES))
    until: float = 0.0
    finding: Finding | None = None


class StatusContests:
    """Memory of what was told last, by owner. Times are monotonic seconds."""

    def __init__(self) -> None:
        self._last: dict[Ref, _Told] = {}

    def may_write(self, obj: Raw, wanted: Status, now: float) -> bool:
        """Whether to write a status that differs from that of the object."""
        ref, digest = ref_of(obj), _digest(wanted)
        last = self._last.get(ref)
        if last is None or last.wanted != digest:
            self._last[ref] = _Told(digest)
            return True
        if now < last.until:
            return False
        last.finding = None
        if last.answer == _digest(obj.get("status") or {}):
            return False
        last.rewrites.append(now)
        if len(last.rewrites) == TIMES and now - last.rewrites[0] <= WITHIN:
            last.rewrites.clear()
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
    others = managed.others(obj, "status")
    fields = sorted(key for key in {*stored, *wanted} if stored.get(key) != wanted.get(key))
    return Finding.of(
        "IC7102",
        ref,
        manager=others[0] if others else "somebody",
        fields=", ".join(fields),
        object=f"the status of {ref}",
        seconds=int(REST),
    )


def _digest(status: Status) -> bytes:
    """Of all but the times of conditions: whoever turns one back and forth changes those."""
    conditions = [
        {key: value for key, value in item.items() if key != "lastTransitionTime"}
        for item in status.get("conditions") or ()
    ]
    text = orjson.dumps({**status, "conditions": conditions}, option=orjson.OPT_SORT_KEYS)
    return blake2b(text, digest_size=16).digest()
