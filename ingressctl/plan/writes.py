"""What one reconcile wants written, in which order: Outcome and world in, a plan out.

What traffic will point to comes first and what points to it after; what traffic pointed to
goes last, and only when the gateways have let go of it. The controller carries a plan out and
decides nothing; nothing is in it when nothing differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from ingressctl.api.refs import Kind, Raw, Ref, ref_of, uid_of
from ingressctl.core import conditions
from ingressctl.core.outcome import Event, Finding
from ingressctl.core.settings import Settings
from ingressctl.core.values import Value, replace
from ingressctl.core.world import World
from ingressctl.plan import rolling, settling
from ingressctl.plan.cascade import Step
from ingressctl.plan.leaving import Delete, Leaving, is_paused
from ingressctl.plan.settling import Bearings as Bearings  # noqa: PLC0414 - part of a plan's call

_REASON = re.compile(r"[A-Z][A-Za-z0-9]{0,127}")
"""What the API takes as an event's reason; some that KServe sets are sentences."""

SETTLED = settling.SETTLED


class Apply(Value, frozen=True):
    """An object to apply. `uid` is that of the object it changes, "" for one to create.

    `stored` is what it changes, as far as it is known, and `whole` what that is to become.
    """

    ref: Ref
    body: Raw
    uid: str = ""
    stored: Raw | None = None
    whole: Raw | None = None


class Plan(Value, frozen=True):
    """`stages` one after the other, then `status` (the whole new one), then `deletes`.

    `waiting` are objects that go later; `again` seconds until another look is due.
    `held` tells that the first Ready waits for gateways, `routed` that routes are written,
    `passing` that the status has nothing to tell but the word of gateways about routes.
    `answers_for` is the condition that turns False when a write is refused; `wanted` are all
    objects that are to be there and ours to write.
    """

    stages: tuple[tuple[Apply, ...], ...] = ()
    status: Mapping[str, Any] | None = None
    deletes: tuple[Delete, ...] = ()
    events: tuple[Event, ...] = ()
    findings: tuple[Finding, ...] = ()
    waiting: tuple[Ref, ...] = ()
    again: float | None = None
    answers_for: str = ""
    wanted: frozenset[Ref] = frozenset()
    held: bool = False
    routed: bool = False
    passing: bool = False

    def without_status(self) -> Plan:
        """For whoever looks again soon, when gateways have read the routes."""
        return replace(self, status=None, events=())

    @property
    def quiet(self) -> bool:
        """Whether nothing is written."""
        return not (self.stages or self.status is not None or self.deletes)


def plan(
    obj: Raw,
    step: Step,
    world: World,
    settings: Settings,
    *,
    kinds: tuple[Kind, ...],
    bearings: Bearings,
    now: datetime,
) -> Plan:
    """All that is to be written for one object. `kinds` are those that providers write."""
    if is_paused(obj):
        return Plan(findings=(_paused(step.ref),))
    wanted = dict(_wanted(step, settings))
    paused = tuple(ref for ref in wanted if is_paused(world.get(ref)))
    idle = frozenset(paused)
    later = rolling.postponed(step, world) if settings.compat.differs("F89") else frozenset()
    applies = [
        apply
        for apply in _applies(step, wanted, world)
        if apply.ref not in {*idle, *later} and not _is_blind(apply, bearings)
    ]
    routed = _writes_routes(step, applies)
    leaving = Leaving(obj, step, world, settings, kinds)
    moved = routed or leaving.has_routes
    quiet_in = settling.quiet_in(obj, step, world, bearings, now, routed=moved)
    quiet_in = max(quiet_in, rolling.AGAIN) if later else quiet_in
    deletes, waiting = leaving.sorted(idle, bearings, quiet_in)
    held = settling.waits(obj, step, settings, bearings, quiet_in, routed=routed)
    lags = settling.lags(obj, step, quiet_in)
    moves = settling.moves(obj, step, settings, quiet_in)
    said = _said(obj, step, bearings, held=held, lags=lags, moves=moves)
    goes = bool(deletes) or leaving.is_blind(bearings)
    status = _status(obj, said, waiting, bearings, now, goes=goes)
    return Plan(
        stages=tuple(_stages(step, applies)),
        status=status,
        deletes=deletes,
        events=(*_news(obj, step, status), *_events(obj, step, status)),
        findings=(*step.findings, *(_paused(ref) for ref in paused)),
        waiting=waiting,
        # What a reconcile waits for it has looked up, so that wakes it; only time does not.
        again=quiet_in if quiet_in and (held or lags or moves or waiting) else None,
        answers_for=step.outcome.answers_for,
        wanted=frozenset(wanted),
        held=held,
        routed=routed,
        passing=not (deletes or waiting) and _is_passing(obj, status, step),
    )


def _is_blind(apply: Apply, bearings: Bearings) -> bool:
    """Whether an object would be made where somebody else's may stand unseen."""
    return not apply.uid and apply.ref[:2] in bearings.incomplete


def _paused(ref: Ref) -> Finding:
    return Finding.of("IC7101", ref, object=str(ref))


def _wanted(step: Step, settings: Settings) -> Iterator[tuple[Ref, Raw]]:
    """The wanted objects that are ours to write: children in their order, then routes."""
    for child in step.outcome.children:
        if child.part in settings.write:
            yield child.ref, child.body
    if "routes" in settings.write:
        yield from ((ref_of(obj), obj) for obj in step.emission.objects)


def _applies(step: Step, wanted: Mapping[Ref, Raw], world: World) -> Iterator[Apply]:
    """The wanted objects that are not there yet, or differ."""
    for obj in step.settlement.created:
        ref = ref_of(obj)
        if ref in wanted:
            yield Apply(ref, wanted[ref])
    for obj in step.settlement.changed:
        ref = ref_of(obj)
        if ref in wanted:
            yield Apply(ref, wanted[ref], uid_of(obj), world.get(ref), obj)


def _stages(step: Step, applies: Iterable[Apply]) -> Iterator[tuple[Apply, ...]]:
    """Groups to write one after the other: an object behind what it waits for, routes behind
    all children. What exists already is waited for by nobody: an edit is one group, in which
    routes are sent first, for they are what somebody looks at."""
    after = {child.ref: child.after for child in step.outcome.children}
    left = {apply.ref: apply for apply in applies}
    while left:
        new = {ref for ref, apply in left.items() if ref in after and not apply.uid}
        ready = [ref for ref in left if not new.intersection(after.get(ref, new))]
        group = sorted(ready or left, key=after.__contains__)
        yield tuple(left.pop(ref) for ref in group)


def _writes_routes(step: Step, applies: Iterable[Apply]) -> bool:
    routes = {ref_of(obj) for obj in step.emission.objects}
    return any(apply.ref in routes for apply in applies)


def _said(
    obj: Raw, step: Step, bearings: Bearings, *, held: bool, lags: bool, moves: bool
) -> Mapping[str, Any] | None:
    """The status as gateways follow: what is not true of them yet is not told yet."""
    status = step.status
    if status is None:
        return None
    if held:
        status = settling.held_back(status, step, bearings)
    elif lags:
        status = settling.still_ready(status, step)
    return settling.old_urls(status, obj, step) if moves else status


def _status(
    obj: Raw,
    status: Mapping[str, Any] | None,
    waiting: tuple[Ref, ...],
    bearings: Bearings,
    now: datetime,
    *,
    goes: bool,
) -> Mapping[str, Any] | None:
    """The new status, or None when the stored one says the same."""
    if status is None:
        return None
    stored = obj.get("status") or {}
    status = _told(status, stored, waiting, bearings, goes=goes)
    status = conditions.with_times(status, stored)
    if status == stored:
        return None
    return conditions.stamped(status, stored, _rfc3339(now))


def _is_passing(obj: Raw, status: Mapping[str, Any] | None, step: Step) -> bool:
    """Whether a new status differs in nothing but the word of gateways, and Ready with it."""
    if status is None or not step.outcome.answers_for:
        return False
    stored = obj.get("status") or {}
    words = (step.outcome.answers_for, "Ready")
    return conditions.apart_from(status, words) == conditions.apart_from(stored, words)


def _told(
    status: Mapping[str, Any],
    stored: Mapping[str, Any],
    waiting: tuple[Ref, ...],
    bearings: Bearings,
    *,
    goes: bool,
) -> Mapping[str, Any]:
    """The condition about what waits; only where something waits or has waited.

    While something still `goes`, what waited is told of: a controller that ends between the
    word that nothing waits and the delete would leave the next one to wait all over again.
    """
    if waiting:
        names = ", ".join(map(str, waiting))
        text = f"{names} goes when what takes its place serves (settle time {bearings.settle:g} s)"
        return conditions.noted(status, SETTLED, "False", reason="WaitingForGateway", message=text)
    if goes or conditions.stored_status(stored, SETTLED) != "False":
        return status
    return conditions.noted(status, SETTLED, "True", reason="Settled")


def _news(obj: Raw, step: Step, status: Mapping[str, Any] | None) -> tuple[Event, ...]:
    """What the source has to tell; good news only together with the status it belongs to."""
    meant = conditions.stored_status(step.outcome.status or {}, "Ready")
    said = obj.get("status") or {} if status is None else status
    if step.outcome.status is None or conditions.stored_status(said, "Ready") == meant:
        return step.outcome.events
    return tuple(event for event in step.outcome.events if event.type == "Warning")


def _events(obj: Raw, step: Step, status: Mapping[str, Any] | None) -> Iterator[Event]:
    """A warning for each condition that turned False with a reason, and for each fault."""
    for fault in step.faults:
        yield Event("Warning", "ReconcileFailed", str(fault.message))
    if status is None:
        return
    stored = {item.get("type"): item for item in (obj.get("status") or {}).get("conditions") or ()}
    for item in status.get("conditions") or ():
        old = stored.get(item.get("type")) or {}
        same = all(old.get(key) == item.get(key) for key in ("status", "reason"))
        if item.get("type") == "Ready" or item.get("status") != "False" or same:
            continue
        if _REASON.fullmatch(str(item.get("reason") or "")) and not item.get("severity"):
            yield Event("Warning", str(item["reason"]), str(item.get("message") or ""))


def _rfc3339(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")
