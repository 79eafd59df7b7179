"""The picture of a cluster, kept up by informers, and who is to be woken by what they tell.

Also what may not be believed: kinds whose list is not whole, objects that rules cannot read,
a configuration that cannot be used. All of it is told to `Heard`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Protocol

from ingressctl.api.refs import Kind, Raw, Ref, annotations_of, labels_of, ref_of
from ingressctl.cluster.informers import Informer, State
from ingressctl.cluster.queue import Urgency
from ingressctl.core.outcome import Finding
from ingressctl.core.picture import Picture
from ingressctl.core.settings import Settings
from ingressctl.core.world import Claimant
from ingressctl.plan import intake
from ingressctl.plan.kinds import Resource

_WAITED = ("starting", "failing")

MANY = 100
"""A change that wakes more objects than this is bulk work: edits by people go first."""

Wake = Callable[[Ref, Urgency], None]


class Heard(Protocol):
    """What else there is to tell."""

    def kind(self, resource: Resource, namespace: str, state: State, message: str) -> None:
        """A kind can be read from now on, or cannot."""
        ...

    def unreadable(self, ref: Ref, text: str) -> None:
        """An object is left out; "" when it is read again."""
        ...

    def configuration(self, obj: Raw | None, refused: tuple[Finding, ...], *, kept: bool) -> None:
        """A configuration cannot be used (none: was deleted), or can be again: () then.
        `kept`: the last good one stays in force."""
        ...

    def moved(self, ref: Ref) -> None:
        """A Service, or what stands behind it, changed."""
        ...


class Mirror:
    """The listener of all informers."""

    def __init__(
        self,
        settings: Settings,
        *,
        claimants: tuple[Claimant, ...],
        sources: Iterable[Kind],
        wake: Wake,
        heard: Heard,
    ) -> None:
        self.settings = settings
        self.picture = Picture(settings, claimants)
        self._sources = frozenset(sources)
        self._wake = wake
        self._heard = heard
        self._states: dict[tuple[Kind, str], State] = {}
        self._served: set[Kind] = set()
        self._followed: dict[tuple[Kind, str], Informer] = {}
        self._offered: dict[Kind, frozenset[str]] = {}
        self._unreadable: set[Ref] = set()
        self._config = intake.config_map(settings)
        self._refused = False
        self.misconfigured = False
        """Whether what is in force cannot be used, for nothing else has been seen."""
        self._renewing: asyncio.Task[None] | None = None
        self._deferred: set[Ref] = set()
        self._deleted = False
        self.running = False

    @property
    def complete(self) -> bool:
        """Whether every kind has been listed, or is known to be absent or forbidden."""
        return all(state in ("live", "absent", "forbidden") for state in self._states.values())

    @property
    def unlisted(self) -> tuple[str, ...]:
        """The kinds that are waited for, as people name them."""
        waited = (kind for (kind, _), state in self._states.items() if state in _WAITED)
        return tuple(sorted({f"{name}.{group}" if group else name for group, name in waited}))

    @property
    def incomplete(self) -> frozenset[Kind]:
        """Kinds of which there may be more, or fewer, than the picture shows."""
        return frozenset(
            kind
            for (kind, _), state in self._states.items()
            if state in ("forbidden", "failing", "starting")
            or (state == "absent" and kind in self._served)
        )

    @property
    def states(self) -> Mapping[tuple[Kind, str], State]:
        """By kind and namespace."""
        return self._states

    def expect(self, informer: Informer) -> None:
        """An informer that will tell."""
        place = (informer.resource.identity, informer.namespace)
        self._states[place], self._followed[place] = informer.now, informer

    async def begin(self) -> None:
        """From now on changes wake objects: the first picture is complete."""
        self._reconfigure()
        self.picture.claim_later()
        await self._renew()
        self.running = True
        self.wake_all()

    def wake_all(self) -> None:
        """Every object of a source is looked at again."""
        for kind in self._sources:
            for ref in self.picture.index.refs(kind, None):
                self._wake(ref, Urgency.BULK)

    def version(self, kind: Kind, rendered: str) -> str:
        """The version to write a kind in: the rendered one where it is served."""
        offered = self._offered.get(kind)
        if not offered or rendered in offered:
            return rendered or "v1"
        known = intake.versions(kind)
        return next((version for version in known if version in offered), rendered)

    def put(self, obj: Raw, *, whatever_was: bool = False) -> None:
        """As informers.Listener. An object that nothing can be made of harms no other."""
        ref = ref_of(obj)
        stored = self.picture.get(ref)
        if stored is not None and not (whatever_was or _newer(obj, stored)):
            return
        try:
            self._take(ref, obj, stored)
        except Exception as fault:
            self._unreadable.add(ref)
            self._heard.unreadable(ref, f"{type(fault).__name__}: {fault}")
            self._change(ref, stored, None)

    def _take(self, ref: Ref, obj: Raw, stored: Raw | None) -> None:
        good = None if self.misconfigured else stored
        taken = intake.take(obj, good, self.settings)
        self._tell(ref, obj, taken, good)
        if taken.obj is stored and stored is not None:
            return
        self._change(ref, stored, taken.obj)

    def remove(self, ref: Ref, version: str) -> None:
        """As informers.Listener. The last good configuration stays in force.

        What was learned of an object after that version still holds: it is there again.
        """
        stored = self.picture.get(ref)
        if stored is not None and _is_after(stored, version):
            return
        if ref in self._unreadable:
            self._unreadable.discard(ref)
            self._heard.unreadable(ref, "")
        if ref == self._config and self.running:
            if not self._deleted:
                self._refused = self._deleted = True
                self._heard.configuration(None, (), kept=True)
            return
        self._change(ref, stored, None)

    def learn(self, ref: Ref, obj: Raw | None) -> None:
        """What the API server answered about one object, before a watch tells it.

        An answer may be later than the watch: an object that is not there any more as of a
        later version has been deleted since, and nobody would tell its end a second time.
        """
        stored, reached = self.picture.get(ref), self._reached(ref)
        if obj is None:
            self._change(ref, stored, None)
        elif stored is not None or not reached or _is_after(obj, str(reached)):
            self.put(obj)

    def _reached(self, ref: Ref) -> int:
        """The version up to which its kind was told there; 0 where none is known."""
        kind = (ref.group, ref.kind)
        places = (self._followed.get((kind, place)) for place in (ref.namespace, ""))
        return max((informer.reached for informer in places if informer), default=0)

    def known(self, resource: Resource, namespace: str) -> tuple[Ref, ...]:
        """As informers.Listener."""
        return tuple(self.picture.index.refs(resource.identity, namespace or None))

    def state(self, informer: Informer, state: State, message: str) -> None:
        """As informers.Listener."""
        kind = informer.resource.identity
        before = self._states.get((kind, informer.namespace))
        self._states[kind, informer.namespace] = state
        self._offered[kind] = informer.offered
        if state == "live":
            self._served.add(kind)
        self._heard.kind(informer.resource, informer.namespace, state, message)
        if self.running and before not in (None, "starting") and "live" in (state, before):
            self._reconfigure()
            self.wake_all()

    def _reconfigure(self) -> None:
        absent = frozenset(
            kind
            for (kind, _), state in self._states.items()
            if state == "absent" and kind not in self._served
        )
        if absent != self.settings.absent:
            self.settings = replace(self.settings, absent=absent)
            self.picture.reconfigure(self.settings)

    def _tell(self, ref: Ref, obj: Raw, taken: intake.Taken, good: Raw | None) -> None:
        if taken.unreadable or ref in self._unreadable:
            self._heard.unreadable(ref, taken.unreadable)
            (self._unreadable.add if taken.unreadable else self._unreadable.discard)(ref)
        if ref == self._config and (taken.refused or self._refused):
            self._deleted = False
            self._refused = bool(taken.refused)
            self.misconfigured = self._refused and (good is None)
            self._heard.configuration(obj, taken.refused, kept=not self.misconfigured)

    def _change(self, ref: Ref, before: Raw | None, after: Raw | None) -> None:
        """Into the picture with it; who looked is woken."""
        if not self.running and after is not None:
            self.picture.fill(ref, after)
            return
        touched = self.picture.change([(ref, after)])
        if not self.running:
            return
        if (ref.group, ref.kind) in self._sources:
            self._wake(ref, _urgency(before, after))
        self._heard.moved(ref)
        others = {asker for asker in touched if isinstance(asker, Ref) and asker != ref}
        if self.picture.pending:
            self._deferred |= others
            if self._renewing is None:
                self._renewing = asyncio.create_task(self._renew())
        else:
            urgency = Urgency.CHANGE if len(others) <= MANY else Urgency.BULK
            for asker in others:
                self._wake(asker, urgency)

    async def _renew(self) -> None:
        """Renew claims a few at a time: a change of domains must not stop the world. Who was
        touched is woken when all are as they should be, so that each looks once."""
        while self.picture.pending:
            woken = self.picture.renew()
            self._deferred |= {asker for asker in woken if isinstance(asker, Ref)}
            await asyncio.sleep(0)
        self._renewing = None
        deferred, self._deferred = self._deferred, set()
        for asker in deferred if self.running else ():
            self._wake(asker, Urgency.BULK)


def _newer(obj: Raw, stored: Raw) -> bool:
    """Whether an object is a later state than the stored one, or of another making."""
    mine, theirs = obj.get("metadata") or {}, stored.get("metadata") or {}
    one, other = mine.get("resourceVersion"), theirs.get("resourceVersion")
    if one == other:
        return bool(mine.get("uid") != theirs.get("uid"))
    try:
        return int(one or 0) > int(other or 0)
    except ValueError:  # versions are opaque in principle: then any other one counts
        return True


def _is_after(stored: Raw, version: str) -> bool:
    """Whether an object's version is later than that; opaque ones are never."""
    try:
        return int((stored.get("metadata") or {}).get("resourceVersion") or 0) > int(version)
    except ValueError:
        return False


def _urgency(before: Raw | None, after: Raw | None) -> Urgency:
    """An edit by a person, or only a status."""
    if before is None or after is None:
        return Urgency.EDIT
    same = (
        before.get("spec") == after.get("spec")
        and labels_of(before) == labels_of(after)
        and annotations_of(before) == annotations_of(after)
    )
    return Urgency.CHANGE if same else Urgency.EDIT
