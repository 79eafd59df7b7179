"""What applying files would change, arranged by cause.

A section is an object that a person wrote; below it stands what it makes. Owners that nobody
wrote but that read a written object (a ConfigMap) stand below that one. Only what is ours to
write is shown (`Settings.write`), and a change that a deliberate difference causes carries
its id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from ingressctl.api.refs import Raw, Ref, owner_of, ref_of
from ingressctl.core.differences import Compat
from ingressctl.core.outcome import Fault, Finding, Origin
from ingressctl.core.ports import Provider
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import (
    admitting,
    applying,
    attribution,
    cascade,
    diff,
    findings,
    overlay,
    registry,
    requests,
)
from ingressctl.plan.attribution import Ids
from ingressctl.plan.cascade import Cascade
from ingressctl.plan.diff import Action, Change
from ingressctl.plan.overlay import Laid, Written
from ingressctl.plan.settle import is_routing

MOST_USAGES = 20
"""Written objects beyond which nobody reads a request for each."""


@dataclass(frozen=True, slots=True)
class Section:
    """A cause: its own change if it is written, what it makes, and owners that it moves."""

    ref: Ref
    origin: Origin | None
    own: Change | None
    made: tuple[Change, ...] = ()
    moved: tuple[Section, ...] = ()

    def changes(self) -> Iterator[Change]:
        """Every change of the section."""
        if self.own:
            yield self.own
        yield from self.made
        for section in self.moved:
            yield from section.changes()


@dataclass(frozen=True, slots=True)
class Preview:
    """Sections in order, what the cascade said, and the world after it."""

    sections: tuple[Section, ...]
    refused: tuple[Finding, ...]
    findings: tuple[Finding, ...]
    faults: tuple[tuple[Ref, Fault], ...]
    gather: Callable[[], tuple[Raw, ...]]
    """Makes `wanted`, which few forms of output ask for."""
    cascade: Cascade
    laid: Laid
    usage: tuple[str, ...]
    """A request that works for each written service, as lines."""

    @property
    def wanted(self) -> tuple[Raw, ...]:
        """Written objects as they would be stored, and what of theirs is ours to write."""
        return self.gather()

    def changes(self) -> Iterator[Change]:
        """Every change, in order."""
        for section in self.sections:
            yield from section.changes()

    def count(self, action: Action) -> int:
        """How many objects are created, changed or removed."""
        return sum(change.action == action for change in self.changes())

    def by_difference(self) -> Mapping[str, int]:
        """How many changes carry each id, by the order of ids met."""
        counts: dict[str, int] = {}
        for change in self.changes():
            for identity in change.differences:
                counts[identity] = counts.get(identity, 0) + 1
        return dict(sorted(counts.items()))


def preview(
    laid: Laid,
    settings: Settings,
    *,
    now: datetime,
    providers: Mapping[str, Provider],
    everything: bool = False,
) -> Preview:
    """What applying the written objects would change. `everything` shows noise as well."""
    run = _Run(laid, settings, now, providers, everything)
    owners = run.owners()
    made = {owner: run.made_by(owner) for owner in owners}
    ids = _attribution(made, run)
    sections = tuple(_sections(owners, made, ids, run))
    return Preview(
        sections,
        run.refused,
        run.findings(owners),
        run.faults(owners),
        partial(run.wanted, owners),
        run.after,
        run.laid,
        run.usage(),
    )


class _Run:
    """One cascade over the written objects, and questions about what it did."""

    def __init__(
        self,
        laid: Laid,
        settings: Settings,
        now: datetime,
        providers: Mapping[str, Provider],
        everything: bool,
    ) -> None:
        self.raw = {item.ref: item for item in laid.written}
        self.as_written = laid.world
        self.laid, self.refused = applying.apply(laid, settings)
        self.settings = settings
        self.now = now
        self.providers = providers
        self.everything = everything
        self.kinds = registry.routing_kinds(providers)
        self.own = {item.ref: self._own_change(item) for item in self.laid.written}
        self.touched = cascade.Touched(ref for ref, change in self.own.items() if change)
        self.after = self._cascade(self.laid.world, settings, self._reach())
        self.steps = {step.ref: step for step in self.after.steps}

    def _own_change(self, item: Written) -> Change | None:
        """What happens to a written object; one of a folder was not admitted before."""
        before = item.before
        if before is not None and not overlay.is_held(before):
            before = admitting.judge(
                before, old=None, world=self.laid.base, settings=self.settings
            ).stored
        return diff.change(item.ref, before, item.obj, everything=self.everything)

    def _reach(self) -> frozenset[Ref] | None:
        """Written sources alone, unless something was written that others read."""
        if all((ref.group, ref.kind) in cascade.SOURCES for ref in self.touched.refs):
            return frozenset(item.ref for item in self.laid.written)
        return None

    def _cascade(
        self, world: World, settings: Settings, only: frozenset[Ref] | None
    ) -> cascade.Cascade:
        return cascade.run(world, settings, now=self.now, providers=self.providers, only=only)

    def under(self, compat: Compat, only: frozenset[Ref]) -> World:
        """The world after admission and cascade of some objects under another compat."""
        settings = replace(self.settings, compat=compat)
        items = [self.raw[ref] for ref in only if ref in self.raw]
        world = applying.again(items, self.laid.world, settings)
        return self._cascade(world, settings, only).world

    def owners(self) -> tuple[Ref, ...]:
        """The reconciled objects that are written, or read something written."""
        written = {item.ref for item in self.laid.written}
        return tuple(
            step.ref
            for step in self.after.steps
            if step.ref in written or step.read_any(self.touched)
        )

    def causes(self, owner: Ref) -> tuple[Ref, ...]:
        """The changed written objects that an owner read."""
        step = self.steps[owner]
        return tuple(ref for ref in sorted(self.touched.refs) if _read(step, ref))

    def made_by(self, owner: Ref) -> tuple[Change, ...]:
        """What happens to the owner's objects that are ours to write."""
        obj = self.after.world.get(owner)
        if obj is None:
            return ()
        who = owner_of(obj)
        stored = {ref_of(item): item for item in self.laid.base.owned(who)}
        wanted = {ref_of(item): item for item in self.after.world.owned(who)}
        found = (
            diff.change(ref, stored.get(ref), wanted.get(ref), everything=self.everything)
            for ref in sorted({*stored, *wanted}, key=_order)
            if self._is_ours(wanted.get(ref) or stored.get(ref) or {})
        )
        return tuple(change for change in found if change)

    def wanted(self, owners: Iterable[Ref]) -> tuple[Raw, ...]:
        """Written objects, and all that owners make that is ours, by kind and name."""
        found = {item.ref: item.obj for item in self.laid.written}
        for owner in owners:
            obj = self.after.world.get(owner)
            made = self.after.world.owned(owner_of(obj)) if obj else ()
            found.update((ref_of(item), item) for item in made if self._is_ours(item))
        return tuple(found[ref] for ref in sorted(found, key=_order))

    def _is_ours(self, obj: Raw) -> bool:
        part = "routes" if is_routing(obj, self.kinds) else "workloads"
        return part in self.settings.write

    def findings(self, owners: Iterable[Ref]) -> tuple[Finding, ...]:
        """What the last steps of these owners said and the checks find about them, each once."""
        owners = tuple(owners)
        said = (item for owner in owners for item in self.steps[owner].findings)
        concerned = frozenset((*owners, *(item.ref for item in self.laid.written)))
        checked = findings.about(
            concerned, self.after, base=self.as_written, settings=self.settings
        )
        return tuple(dict.fromkeys((*said, *checked)))

    def usage(self) -> tuple[str, ...]:
        """A request that works for each written service, where they are few enough to read."""
        written = frozenset(item.ref for item in self.laid.written)
        if len(written) > MOST_USAGES:
            return ()
        return requests.usage(
            self.after, settings=self.settings, providers=self.providers, only=written
        )

    def faults(self, owners: Iterable[Ref]) -> tuple[tuple[Ref, Fault], ...]:
        """Why some reconciles did not come to their end."""
        return tuple((owner, fault) for owner in owners for fault in self.steps[owner].faults)


def _read(step: cascade.Step, ref: Ref) -> bool:
    return step.read_any(cascade.Touched((ref,)))


def _attribution(made: Mapping[Ref, tuple[Change, ...]], run: _Run) -> Mapping[Ref, Ids]:
    """The ids that cause changes of what the base holds; new owners follow no reference."""
    changes = [
        *((ref, change) for ref, change in run.own.items() if change),
        *((owner, change) for owner, changes in made.items() for change in changes),
    ]
    wanted = tuple(
        attribution.Changed(_plain(change, run), owner)
        for owner, change in changes
        if run.laid.base.get(owner)
    )
    return attribution.attribute(wanted, run.settings.compat, run.under)


def _plain(change: Change, run: _Run) -> Change:
    """The change without noise, which no difference causes."""
    return replace(change, everything=False)


def _sections(
    owners: tuple[Ref, ...],
    made: Mapping[Ref, tuple[Change, ...]],
    ids: Mapping[Ref, Ids],
    run: _Run,
) -> Iterator[Section]:
    """A section a written object that changes something, owners it moves below it."""
    moved: dict[Ref, list[Section]] = {}
    for owner in sorted(owners, key=_order):
        if owner not in run.raw and made[owner]:
            cause = run.causes(owner)[0]
            section = Section(owner, None, None, _with_ids(made[owner], ids))
            moved.setdefault(cause, []).append(section)
    for item in sorted(run.laid.written, key=lambda item: _order(item.ref)):
        own = run.own[item.ref]
        section = Section(
            item.ref,
            item.origin,
            own and own.caused_by(ids.get(own.ref, ())),
            _with_ids(made.get(item.ref, ()), ids),
            tuple(moved.get(item.ref, ())),
        )
        if any(True for _ in section.changes()):
            yield section


def _with_ids(changes: tuple[Change, ...], ids: Mapping[Ref, Ids]) -> tuple[Change, ...]:
    return tuple(change.caused_by(ids.get(change.ref, ())) for change in changes)


def _order(ref: Ref) -> tuple[str, str, str, str]:
    return (ref.kind, ref.namespace, ref.name, ref.group)
