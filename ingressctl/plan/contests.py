"""What to do when an object does not stay as it was written.

The same body is never sent twice to the same version of an object. What is left over of other
managers' fields is taken out once; what the server stores otherwise all the same is told and
let be. What somebody else changes back three times within a minute is left to him for a while.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Literal

import orjson

from ingressctl.api.refs import Raw, Ref
from ingressctl.core import managed
from ingressctl.core.outcome import Finding
from ingressctl.plan.writes import Apply

TIMES, WITHIN, REST = 3, 60.0, 600.0
"""So many rewrites within so many seconds are a fight; so long the object is left alone."""

Step = Literal["apply", "trim", "leave"]
"""Apply it; apply it and take out what is left over; or let it be."""


class Rewrites:
    """How often something has been written again because somebody changed it back."""

    __slots__ = ("_times",)

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=TIMES)

    def are_fight(self, now: float) -> bool:
        """Whether one more is one too many; after that they are counted anew."""
        self._times.append(now)
        if len(self._times) < TIMES or now - self._times[0] > WITHIN:
            return False
        self._times.clear()
        return True


@dataclass(slots=True)
class _Written:
    body: bytes
    version: str = ""
    step: Step = "apply"
    rewrites: Rewrites = field(default_factory=Rewrites)
    told: Finding | None = None


class Contests:
    """Memory of what was written last, by object. Times are monotonic seconds."""

    def __init__(self) -> None:
        self._last: dict[Ref, _Written] = {}
        self._resting: dict[Ref, float] = {}

    def judge(self, apply: Apply, now: float) -> Step:
        """What to do with an object that differs from what is wanted."""
        body, version = digest(apply.body), _version(apply.stored)
        last = self._last.get(apply.ref)
        if last is None or last.body != body:
            self._resting.pop(apply.ref, None)
            self._last[apply.ref] = _Written(body)
            return "apply"
        if self._rests(apply.ref, now):
            return "leave"
        if last.version == version:
            return self._again(last, apply)
        last.step = "apply"
        if last.rewrites.are_fight(now):
            self._resting[apply.ref] = now + REST
            others = managed.others(apply.stored or {})
            last.told = contested(apply.ref, str(apply.ref), others, differing(apply))
            return "leave"
        return "apply"

    def wrote(self, ref: Ref, stored: Raw, step: Step) -> None:
        """What the server answered to a write."""
        last = self._last.get(ref)
        if last is not None:
            last.version, last.step = _version(stored), step

    def forget(self, ref: Ref) -> None:
        """The object is deleted, or its write failed."""
        self._last.pop(ref, None)
        self._resting.pop(ref, None)

    def _rests(self, ref: Ref, now: float) -> bool:
        """Whether the object is left to somebody else: until its time is over, or until
        something else is wanted of it."""
        until = self._resting.get(ref)
        if until is None or until > now:
            return until is not None
        del self._resting[ref]
        return False

    def findings(self, ref: Ref) -> tuple[Finding, ...]:
        """What there is to say about an object that is let be."""
        last = self._last.get(ref)
        return () if last is None or last.told is None else (last.told,)

    def _again(self, last: _Written, apply: Apply) -> Step:
        """Nobody touched the object since, and still it differs."""
        if last.step == "apply":
            return "trim"
        last.told = Finding.of(
            "IC7103", apply.ref, object=str(apply.ref), fields=", ".join(differing(apply))
        )
        return "leave"


def contested(ref: Ref, what: str, managers: Sequence[str], fields: Iterable[str]) -> Finding:
    """The first of these managers has won: `what` of an object is his for a while."""
    return Finding.of(
        "IC7102",
        ref,
        manager=managers[0] if managers else "somebody",
        fields=", ".join(fields),
        object=what,
        seconds=int(REST),
    )


def differing(apply: Apply) -> tuple[str, ...]:
    """The paths, two levels deep, in which the stored object is not as it is wanted."""
    return tuple(_paths(apply.body, apply.stored or {}))


def _paths(wanted: Raw, stored: Raw) -> list[str]:
    found: list[str] = []
    for top in ("metadata", "spec"):
        mine, theirs = wanted.get(top) or {}, stored.get(top) or {}
        fields = managed.MERGED if top == "metadata" else sorted({*mine, *theirs})
        found += [f"{top}.{key}" for key in fields if mine.get(key) != theirs.get(key)]
    return found


def leftover(apply: Apply) -> Mapping[str, Any]:
    """A JSON merge patch that takes out of the stored object what it is not to have.

    Of metadata only labels and annotations; lists are replaced whole.
    """
    wanted, stored = apply.whole or apply.body, apply.stored or {}
    meta = {
        key: extra
        for key in managed.MERGED
        if (extra := merge_patch(_of(wanted, key), _of(stored, key)))
    }
    patch: dict[str, Any] = {"metadata": meta} if meta else {}
    spec = merge_patch(wanted.get("spec") or {}, stored.get("spec") or {})
    return {**patch, "spec": spec} if spec else patch


def _of(obj: Raw, key: str) -> Mapping[str, Any]:
    return (obj.get("metadata") or {}).get(key) or {}


def merge_patch(wanted: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """What turns `stored` into `wanted` by JSON merge patch (RFC 7386)."""
    patch: dict[str, Any] = {key: None for key in stored if key not in wanted}
    for key, value in wanted.items():
        held = stored.get(key)
        if isinstance(value, Mapping) and isinstance(held, Mapping):
            inner = merge_patch(value, held)
            if inner:
                patch[key] = inner
        elif value != held:
            patch[key] = value
    return patch


def digest(value: Mapping[str, Any]) -> bytes:
    """The same for the same value, whatever the order of its keys."""
    return blake2b(orjson.dumps(value, option=orjson.OPT_SORT_KEYS), digest_size=16).digest()


def _version(obj: Raw | None) -> str:
    return str(((obj or {}).get("metadata") or {}).get("resourceVersion") or "")
