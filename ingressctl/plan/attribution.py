"""Which deliberate difference causes a change.

A change is caused by a difference if, without it, an object would not come or go, or one of
its changed fields would not become what it becomes. The cascade is run again for the owners of
changed objects only: with every difference off, and with sets of them, until for each change
the smallest set is known that makes it happen. One change is searched by halves (QuickXplain,
Junker 2004); the set it ends in is then tried on all others at once, so that a thousand
changes of one cause cost two runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ingressctl.api.refs import Ref
from ingressctl.core.differences import TABLE, Compat
from ingressctl.core.world import World
from ingressctl.plan import diff
from ingressctl.plan.diff import Change

Ids = tuple[str, ...]
Run = Callable[[Compat, frozenset[Ref]], World]
"""The world after the cascade of some owners under another compat."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A change, and the object whose reconcile makes it."""

    change: Change
    owner: Ref

    @property
    def ref(self) -> Ref:
        """The changed object."""
        return self.change.ref

    def happens_in(self, world: World) -> bool:
        """Whether the object comes, goes, or has its changed fields in that world too."""
        obj = world.get(self.ref)
        if self.change.action != "changed":
            return (obj is None) == (self.change.action == "removed")
        if obj is None:
            return False
        there = _fields(self.change.before, replace(self.change, new=obj).after)
        wanted = _fields(self.change.before, self.change.after)
        return all(path in there and there[path] == value for path, value in wanted.items())


def _fields(before: Any, after: Any) -> Mapping[str, Any]:
    return {field.path: field.new for field in diff.fields(before, after)}


def attribute(changed: tuple[Changed, ...], compat: Compat, run: Run) -> Mapping[Ref, Ids]:
    """The ids that cause each change; objects that no difference touches are left out."""
    ids = tuple(row.id for row in TABLE if row.id in compat.on)
    if not changed or not ids:
        return {}
    search = _Search(run)
    open_ones = search.failing((), changed)
    found: dict[Ref, Ids] = {}
    while open_ones:
        sample = open_ones[0]
        causes = search.smallest((), ids, sample, known_to_fail=True)
        rest = search.failing(causes, open_ones)
        solved = [item for item in open_ones if item not in rest] or [sample]
        found.update(search.needed(causes, tuple(solved)))
        open_ones = tuple(item for item in open_ones if item.ref not in found)
    return found


class _Search:
    """Runs, and what they tell about objects."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def failing(self, ids: Ids, items: tuple[Changed, ...]) -> tuple[Changed, ...]:
        """Those that do not happen when only `ids` are on."""
        compat = Compat(frozenset(ids), ",".join(("kserve", *(f"+{name}" for name in ids))))
        world = self._run(compat, frozenset(item.owner for item in items))
        return tuple(item for item in items if not item.happens_in(world))

    def smallest(self, base: Ids, ids: Ids, item: Changed, *, known_to_fail: bool) -> Ids:
        """A smallest part of `ids` that, beside `base`, makes the change happen."""
        if not known_to_fail and not self.failing(base, (item,)):
            return ()
        if len(ids) == 1:
            return ids
        middle = len(ids) // 2
        left, right = ids[:middle], ids[middle:]
        of_right = self.smallest((*base, *left), right, item, known_to_fail=False)
        of_left = self.smallest((*base, *of_right), left, item, known_to_fail=not of_right)
        return (*of_left, *of_right)

    def needed(self, causes: Ids, items: tuple[Changed, ...]) -> Mapping[Ref, Ids]:
        """For each change the causes without any of which it does not happen."""
        if len(causes) == 1:
            return {item.ref: causes for item in items}
        found: dict[Ref, Ids] = {item.ref: () for item in items}
        for cause in causes:
            others = tuple(other for other in causes if other != cause)
            for item in self.failing(others, items):
                found[item.ref] = (*found[item.ref], cause)
        return {ref: ids or causes for ref, ids in found.items()}
