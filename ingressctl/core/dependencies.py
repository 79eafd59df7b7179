"""Who looked at what: from a changed object to everybody who has to look again.

Exact to the lookup. A get answers to its object, a list to the objects that it holds or would
hold, a question whether there is any to the first and the last, a configuration key to its own
value, a claim to its host. What was looked for in vain counts like what was found. Nobody
keeps a list of "if this changes, look at those" (design.md section 1).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ingressctl.api.refs import Raw, Ref, controller_of, group_of, labels_of
from ingressctl.core.world import Lookup

Asker = Hashable
"""Whoever looked: the Ref of a reconciled object, or the key of something derived."""

Labels = tuple[tuple[str, str], ...]
Space = tuple[str, str, str | None]
"""(group, kind, namespace); None stands for every namespace."""


class Change(NamedTuple):
    """An object before and after: None where there is none. `flipped` are the spaces that
    have got their first object by it, or lost their last."""

    ref: Ref
    old: Raw | None
    new: Raw | None
    flipped: tuple[Space, ...] = ()


class Dependencies:
    """Lookups by what they ask for. Not for use from several threads."""

    def __init__(self) -> None:
        self._asked: dict[Asker, tuple[Lookup, ...]] = {}
        self._gets: dict[Ref, dict[Asker, None]] = {}
        self._exist: dict[Ref, dict[Asker, None]] = {}
        self._owned: dict[Ref, dict[Asker, None]] = {}
        self._holds: dict[Space, dict[Asker, None]] = {}
        self._lists: dict[Space, dict[Labels, dict[Asker, None]]] = {}
        self._keys: dict[tuple[str, str], dict[str, dict[Asker, None]]] = {}
        self._claims: dict[str, dict[Asker, None]] = {}

    def learn(self, asker: Asker, lookups: Iterable[Lookup]) -> None:
        """From now on `asker` has looked at these, and at nothing else."""
        new = tuple(lookups)
        old = self._asked.get(asker, ())
        if new == old:
            return
        kept = set(new)
        for lookup in old:
            if lookup not in kept:
                self._drop(asker, lookup)
        for lookup in new:
            self._place(lookup)[asker] = None
        self._asked[asker] = new

    def forget(self, asker: Asker) -> None:
        """`asker` is gone."""
        for lookup in self._asked.pop(asker, ()):
            self._drop(asker, lookup)

    def touched(self, change: Change) -> set[Asker]:
        """Everybody whose lookups may be answered differently after a change."""
        found: set[Asker] = set(self._gets.get(change.ref, ()))
        for askers in self._places(change):
            found.update(askers)
        return found

    def claimed(self, hosts: Iterable[str]) -> set[Asker]:
        """Everybody who asked who holds one of these hosts."""
        return {asker for host in hosts for asker in self._claims.get(host, ())}

    def _places(self, change: Change) -> Iterator[Iterable[Asker]]:
        ref = change.ref
        if (change.old is None) != (change.new is None):
            yield self._exist.get(ref, ())
        for space in change.flipped:
            yield self._holds.get(space, ())
        for owner in _owners(change):
            yield self._owned.get(owner, ())
        for namespace in (ref.namespace, None):
            by_labels = self._lists.get((ref.group, ref.kind, namespace))
            if by_labels:
                yield from (by_labels[labels] for labels in _matching(by_labels, change))
        if (ref.group, ref.kind) == ("", "ConfigMap"):
            by_key = self._keys.get((ref.namespace, ref.name), {})
            yield from (askers for key, askers in by_key.items() if _differs(change, key))

    def _place(self, lookup: Lookup) -> dict[Asker, None]:
        """Where those are kept who asked the same."""
        return _PLACES[lookup.what](self, lookup.key)

    def _drop(self, asker: Asker, lookup: Lookup) -> None:
        self._place(lookup).pop(asker, None)


def _list(self: Dependencies, key: tuple[Any, ...]) -> dict[Asker, None]:
    *space, labels = key
    return self._lists.setdefault(tuple(space), {}).setdefault(labels, {})


def _config(self: Dependencies, key: tuple[Any, ...]) -> dict[Asker, None]:
    namespace, name, entry = key
    return self._keys.setdefault((namespace, name), {}).setdefault(entry, {})


def _get(self: Dependencies, key: tuple[Any, ...]) -> dict[Asker, None]:
    return self._gets.setdefault(Ref(*key), {})


_PLACES: Mapping[str, Callable[[Dependencies, tuple[Any, ...]], dict[Asker, None]]] = {
    "get": _get,
    "exists": lambda self, key: self._exist.setdefault(Ref(*key), {}),
    "owned": lambda self, key: self._owned.setdefault(Ref(*key), {}),
    "holds": lambda self, key: self._holds.setdefault(key, {}),
    "list": _list,
    "config": _config,
    "claims": lambda self, key: self._claims.setdefault(key[0], {}),
}


def _owners(change: Change) -> Iterator[Ref]:
    """The controllers of an object, before and after."""
    for obj in (change.old, change.new):
        owner = controller_of(obj) if obj is not None else None
        if owner is not None:
            yield Ref(
                group_of(owner.get("apiVersion") or ""),
                owner.get("kind") or "",
                change.ref.namespace,
                owner.get("name") or "",
            )


def _matching(by_labels: Iterable[Labels], change: Change) -> Iterator[Labels]:
    """The selections that hold the object, or held it."""
    carried = [labels_of(obj).items() for obj in (change.old, change.new) if obj is not None]
    for labels in by_labels:
        wanted = set(labels)
        if any(wanted <= items for items in carried):
            yield labels


def _differs(change: Change, key: str) -> bool:
    before, after = (((obj or {}).get("data") or {}).get(key) for obj in (change.old, change.new))
    return bool(before != after)
