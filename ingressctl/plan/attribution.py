"""Which deliberate difference causes a change.

The cascade is run again for the owners of changed objects only: with every difference off,
and with sets of them, until for each object the smallest set is known that makes the same
result. One object is searched by halves (QuickXplain, Junker 2004); the set it ends in is
then tried on all others at once, so that a thousand changes of one cause cost two runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ingressctl.api.refs import Ref
from ingressctl.core.differences import TABLE, Compat
from ingressctl.core.world import World
from ingressctl.plan import showing

Ids = tuple[str, ...]
Run = Callable[[Compat, frozenset[Ref]], World]
"""The world after the cascade of some owners under another compat."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A changed object, who owns it, and what it becomes (None: removed)."""

    ref: Ref
    owner: Ref
    after: Mapping[str, Any] | None


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
        """Those that become something else when only `ids` are on."""
        compat = Compat(frozenset(ids), ",".join(("kserve", *(f"+{name}" for name in ids))))
        world = self._run(compat, frozenset(item.owner for item in items))
        return tuple(item for item in items if _shown(world, item.ref) != item.after)

    def smallest(self, base: Ids, ids: Ids, item: Changed, *, known_to_fail: bool) -> Ids:
        """A smallest part of `ids` that, beside `base`, makes the item what it becomes."""
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
        """For each item the causes without any of which it becomes something else."""
        if len(causes) == 1:
            return {item.ref: causes for item in items}
        found: dict[Ref, Ids] = {item.ref: () for item in items}
        for cause in causes:
            others = tuple(other for other in causes if other != cause)
            for item in self.failing(others, items):
                found[item.ref] = (*found[item.ref], cause)
        return {ref: ids or causes for ref, ids in found.items()}


def _shown(world: World, ref: Ref) -> Mapping[str, Any] | None:
    obj = world.get(ref)
    return None if obj is None else showing.shown(obj)
