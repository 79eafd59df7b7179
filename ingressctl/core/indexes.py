"""Indexes over the objects of a world: by kind and namespace, and by controller.

A world never changes, but a cascade makes a new one every pass and tries many. So an index
follows from the one before: what did not change is shared, what did is copied.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping

from ingressctl.api.refs import Kind, Owner, Raw, Ref, controller_of, ref_of

Spaces = dict[str, list[Ref]]
Controller = tuple[str, str, str]
"""(namespace of the object, kind and name of its controller)"""


class Index:
    """Which objects there are of a kind, and which a controller owns. Never changes."""

    __slots__ = ("_by_kind", "_owned")

    def __init__(
        self, by_kind: dict[Kind, Spaces], owned: dict[Controller, tuple[Ref, ...]]
    ) -> None:
        self._by_kind = by_kind
        self._owned = owned

    @classmethod
    def of(cls, objects: Mapping[Ref, Raw]) -> Index:
        """The index of all these objects."""
        by_kind: dict[Kind, Spaces] = {}
        owned: dict[Controller, list[Ref]] = {}
        for ref, obj in objects.items():
            by_kind.setdefault(ref[:2], {}).setdefault(ref.namespace, []).append(ref)
            controller = _controller(ref, obj)
            if controller:
                owned.setdefault(controller, []).append(ref)
        for spaces in by_kind.values():
            for refs in spaces.values():
                refs.sort()
        return cls(by_kind, {key: tuple(refs) for key, refs in owned.items()})

    def refs(self, kind: Kind, namespace: str | None) -> Iterable[Ref]:
        """All of a kind by namespace and name; None means every namespace."""
        spaces = self._by_kind.get(kind, {})
        if namespace is not None:
            return spaces.get(namespace, ())
        return [ref for space in sorted(spaces) for ref in spaces[space]]

    def holds(self, kind: Kind, namespace: str | None) -> bool:
        """Whether there is any of a kind; None means in any namespace."""
        spaces = self._by_kind.get(kind)
        if not spaces:
            return False
        return any(spaces.values()) if namespace is None else bool(spaces.get(namespace))

    def owned(self, owner: Owner) -> tuple[Ref, ...]:
        """Objects in the owner's namespace whose controller has its kind and name."""
        return self._owned.get((owner.ref.namespace, owner.ref.kind, owner.ref.name), ())

    def after(
        self,
        before: Mapping[Ref, Raw],
        *,
        written: Iterable[Raw],
        gone: Iterable[Ref],
    ) -> Index:
        """The index once `written` and `gone` are applied to the objects `before`."""
        change = _Change(dict(self._by_kind), dict(self._owned))
        for ref in gone:
            if ref in before:
                change.remove(ref, _controller(ref, before[ref]))
        for obj in written:
            ref = ref_of(obj)
            stored, controller = before.get(ref), _controller(ref, obj)
            if stored is not None:
                if _controller(ref, stored) == controller:
                    continue
                change.remove(ref, _controller(ref, stored))
            change.add(ref, controller)
        return Index(change.by_kind, change.owned)


def _controller(ref: Ref, obj: Raw) -> Controller | None:
    owner = controller_of(obj)
    if owner is None:
        return None
    return ref.namespace, owner.get("kind") or "", owner.get("name") or ""


class _Change:
    """A copy of an index under way; lists are copied when first touched."""

    __slots__ = ("by_kind", "copied", "owned")

    def __init__(
        self, by_kind: dict[Kind, Spaces], owned: dict[Controller, tuple[Ref, ...]]
    ) -> None:
        self.by_kind = by_kind
        self.owned = owned
        self.copied: set[tuple[Kind, str]] = set()

    def _own(self, ref: Ref) -> list[Ref]:
        kind = ref[:2]
        if (kind, ref.namespace) not in self.copied:
            spaces = dict(self.by_kind.get(kind, {}))
            spaces[ref.namespace] = list(spaces.get(ref.namespace, ()))
            self.by_kind[kind] = spaces
            self.copied.add((kind, ref.namespace))
        return self.by_kind[kind][ref.namespace]

    def add(self, ref: Ref, controller: Controller | None) -> None:
        bisect.insort(self._own(ref), ref)
        if controller:
            self.owned[controller] = (*self.owned.get(controller, ()), ref)

    def remove(self, ref: Ref, controller: Controller | None) -> None:
        self._own(ref).remove(ref)
        if controller:
            rest = tuple(other for other in self.owned.get(controller, ()) if other != ref)
            self.owned[controller] = rest


class LiveIndex(Index):
    """An index that is changed in place, for a picture that follows a cluster."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__({}, {})

    def put(self, ref: Ref, old: Raw | None, new: Raw) -> None:
        """An object came, or took the place of `old`."""
        before = _controller(ref, old) if old is not None else None
        after = _controller(ref, new)
        if old is None:
            space = self._by_kind.setdefault(ref[:2], {}).setdefault(ref.namespace, [])
            bisect.insort(space, ref)
        if before != after:
            self._disown(ref, before)
            if after:
                self._owned[after] = (*self._owned.get(after, ()), ref)

    def remove(self, ref: Ref, old: Raw) -> None:
        """An object is gone."""
        spaces = self._by_kind[ref[:2]]
        space = spaces[ref.namespace]
        del space[bisect.bisect_left(space, ref)]
        if not space:
            del spaces[ref.namespace]
        self._disown(ref, _controller(ref, old))

    def _disown(self, ref: Ref, controller: Controller | None) -> None:
        if controller is None:
            return
        rest = tuple(other for other in self._owned.get(controller, ()) if other != ref)
        if rest:
            self._owned[controller] = rest
        else:
            self._owned.pop(controller, None)
