"""An immutable picture of the objects that exist, and the recorder around it.

Reconcile functions see objects through `Reads` only, so that what they looked at
(also in vain) is known. The controller re-queues by it; nobody keeps a list of
"if this changes, look at those".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ingressctl.api.refs import Kind as Kind  # noqa: PLC0414 - where a world is, its kinds are too
from ingressctl.api.refs import Owner, Raw, Ref, labels_of, ref_of
from ingressctl.core.indexes import Index
from ingressctl.core.settings import Settings

if TYPE_CHECKING:
    from ingressctl.core.ports import Provider


class Claim(NamedTuple):
    """Somebody asks for a host. The order of claims is the order of precedence."""

    holder: Ref
    host: str
    holds: bool
    created: str


Claims = Mapping[str, tuple[Claim, ...]]
"""By host, the rightful one first."""


class Claimant(NamedTuple):
    """What one source's objects claim; registered by the source.

    `of` gives the claims of one object of `kind` from what it reads, and never raises.
    """

    kind: Kind
    of: Callable[[Raw, Reads], tuple[Claim, ...]]


T = TypeVar("T")

_NOTHING: Mapping[Ref, Raw] = MappingProxyType({})


class World:
    """Objects by identity, with an index by kind and namespace. Never changes.

    `memo` holds what readers derived from the world and want to derive once only;
    `derivations` the same together with what was read for it (Reads.derived).
    """

    __slots__ = ("_claims", "_index", "_objects", "derivations", "memo")

    def __init__(self, objects: Mapping[Ref, Raw], index: Index | None = None) -> None:
        self._objects = objects
        self._index = index
        self.memo: dict[Any, Any] = {}
        self.derivations: Derivations = {}
        self._claims: tuple[Settings, tuple[Claimant, ...], Claims] | None = None

    @classmethod
    def of(cls, objects: Iterable[Raw]) -> World:
        """A world of these objects; of two with one identity the later holds."""
        return cls({ref_of(obj): obj for obj in objects})

    def __iter__(self) -> Iterator[Raw]:
        return iter(self._objects.values())

    def __len__(self) -> int:
        return len(self._objects)

    def get(self, ref: Ref) -> Raw | None:
        """The object, or None."""
        return self._objects.get(ref)

    def list(
        self,
        kind: Kind,
        namespace: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> tuple[Raw, ...]:
        """All objects of a kind by namespace and name; None means every namespace."""
        found = (self._objects[ref] for ref in self.index.refs(kind, namespace))
        if not labels:
            return tuple(found)
        return tuple(obj for obj in found if labels.items() <= labels_of(obj).items())

    def holds(self, kind: Kind, namespace: str | None = None) -> bool:
        """Whether there is any object of a kind; None means in any namespace."""
        return self.index.holds(kind, namespace)

    def owned(self, owner: Owner) -> tuple[Raw, ...]:
        """All objects in the owner's namespace that it controls."""
        found = (self._objects[ref] for ref in self.index.owned(owner))
        return tuple(obj for obj in found if owner.controls(obj))

    @property
    def index(self) -> Index:
        """By kind and by controller, made when first asked for."""
        if self._index is None:
            self._index = Index.of(self._objects)
        return self._index

    def overlay(self, objects: Iterable[Raw], *, without: Iterable[Ref] = ()) -> World:
        """A new world with `objects` put over this one and `without` taken out."""
        merged = dict(self._objects)
        written, gone = tuple(objects), tuple(without)
        for ref in gone:
            merged.pop(ref, None)
        merged.update((ref_of(obj), obj) for obj in written)
        index = self._index and self._index.after(self._objects, written=written, gone=gone)
        return World(merged, index)

    def claims(
        self, host: str, *, settings: Settings, claimants: tuple[Claimant, ...]
    ) -> tuple[Claim, ...]:
        """Who asks for `host`, the rightful one first.

        The one that holds it now wins, else the older object, else namespace and name
        (design.md section 4).
        """
        held = self._claims
        if held is None or held[0] is not settings or held[1] is not claimants:
            held = (settings, claimants, _claim_index(self, settings, claimants))
            self._claims = held
        return held[2].get(host, ())


def _claim_index(world: World, settings: Settings, claimants: tuple[Claimant, ...]) -> Claims:
    found: dict[str, tuple[Claim, ...]] = {}
    contested: set[str] = set()
    reads = Reads(world, settings, providers={})
    for claimant in claimants:
        for obj in world.list(claimant.kind):
            for claim in claimant.of(obj, reads):
                others = found.get(claim.host)
                if others:
                    contested.add(claim.host)
                found[claim.host] = (*others, claim) if others else (claim,)
    for host in contested:
        found[host] = tuple(sorted(found[host], key=precedence))
    return found


def precedence(claim: Claim) -> tuple[bool, bool, str, str, str]:
    """Sort key: holder first, then the older one, then namespace and name."""
    return (
        not claim.holds,
        not claim.created,
        claim.created,
        claim.holder.namespace,
        claim.holder.name,
    )


class Lookup(NamedTuple):
    """One thing a reconcile looked at, and the answer's kind.

    By `what`, the `key` is: get and exists a Ref; list (group, kind, namespace or
    None, labels); holds
    (group, kind, namespace or None); owned the owner's Ref; config (namespace, name, key);
    claims (host,).
    """

    what: str
    key: tuple[Any, ...]
    found: bool


Derivations = dict[Any, tuple[Any, Mapping[Lookup, None]]]
"""Derived values by key, each with what was read for it."""


class Reads:
    """A world that remembers what was asked of it during one reconcile.

    A few objects may lie in front of the world: what a phase has decided to make.
    """

    __slots__ = (
        "_derivations",
        "_front",
        "_owned",
        "claimants",
        "lookups",
        "providers",
        "settings",
        "world",
    )

    def __init__(
        self,
        world: World,
        settings: Settings,
        *,
        providers: Mapping[str, Provider],
        claimants: tuple[Claimant, ...] = (),
    ) -> None:
        self.world = world
        self.settings = settings
        self.providers = providers
        self.claimants = claimants
        self.lookups: dict[Lookup, None] = {}
        self._front: Mapping[Ref, Raw] = _NOTHING
        self._derivations = world.derivations
        self._owned: tuple[Owner, tuple[Raw, ...]] | None = None

    def get(self, ref: Ref) -> Raw | None:
        """The object, or None; both are recorded."""
        obj = self._seen(ref)
        self.lookups[Lookup("get", ref, obj is not None)] = None
        return obj

    def exists(self, ref: Ref) -> bool:
        """Whether there is such an object, recorded: what it says does not matter."""
        found = self._seen(ref) is not None
        self.lookups[Lookup("exists", ref, found)] = None
        return found

    def list(
        self,
        kind: Kind,
        namespace: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> tuple[Raw, ...]:
        """As World.list, recorded."""
        found = self.world.list(kind, namespace, labels)
        if self._front:
            found = _joined(found, World(self._front).list(kind, namespace, labels))
        wanted = tuple(sorted((labels or {}).items()))
        self.lookups[Lookup("list", (*kind, namespace, wanted), bool(found))] = None
        return found

    def holds(self, kind: Kind, namespace: str | None = None) -> bool:
        """As World.holds, recorded: only the first and the last object change the answer."""
        found = self.world.holds(kind, namespace) or any(
            ref[:2] == kind and namespace in (None, ref.namespace) for ref in self._front
        )
        self.lookups[Lookup("holds", (*kind, namespace), found)] = None
        return found

    def owned(self, owner: Owner) -> tuple[Raw, ...]:
        """As World.owned, recorded."""
        if self._owned is None or self._owned[0] != owner:
            self._owned = (owner, self.world.owned(owner))
        found = self._owned[1]
        self.lookups[Lookup("owned", owner.ref, bool(found))] = None
        return found

    def derived(self, key: Any, make: Callable[[Reads], T]) -> T:
        """What `make` derives from what it reads, made once a world; `key` is unique to it.

        All that `make` read counts as read by everybody who asks for the value.
        """
        if key not in self._derivations:
            inner = self._again()
            try:
                self._derivations[key] = (make(inner), inner.lookups)
            finally:
                self.lookups.update(inner.lookups)
        value: T
        value, lookups = self._derivations[key]
        self.lookups.update(lookups)
        return value

    def _seen(self, ref: Ref) -> Raw | None:
        return self._front.get(ref) or self.world.get(ref)

    def config(self, namespace: str, name: str, key: str) -> str | None:
        """One key of a ConfigMap's data, or None when map or key is absent."""
        obj = self._seen(Ref("", "ConfigMap", namespace, name))
        value = ((obj or {}).get("data") or {}).get(key)
        self.lookups[Lookup("config", (namespace, name, key), value is not None)] = None
        return value if value is None or isinstance(value, str) else str(value)

    def claims(self, host: str) -> tuple[Claim, ...]:
        """Who asks for `host`, the rightful one first; recorded."""
        self.lookups[Lookup("claims", (host,), True)] = None
        return self.world.claims(host, settings=self.settings, claimants=self.claimants)

    def differs(self, identity: str) -> bool:
        """Whether the deliberate difference of that id is on (core.differences)."""
        return self.settings.compat.differs(identity)

    def assumes_ready(self, ref: Ref) -> bool:
        """Whether what `ref` makes counts as ready without anybody's word for it."""
        return self.settings.assume == "ready" or ref in self.settings.fresh

    def over(self, objects: Iterable[Raw]) -> Reads:
        """The same recorder with `objects` in front of the world."""
        wider = self._again()
        wider.lookups = self.lookups
        wider._front = {**self._front, **{ref_of(obj): obj for obj in objects}}
        wider._derivations = {}
        return wider

    def _again(self) -> Reads:
        """Another recorder of the same picture, with nothing recorded."""
        again = Reads(self.world, self.settings, providers=self.providers, claimants=self.claimants)
        again._front, again._derivations = self._front, self._derivations
        return again


def _joined(found: tuple[Raw, ...], front: tuple[Raw, ...]) -> tuple[Raw, ...]:
    merged = {ref_of(obj): obj for obj in (*found, *front)}
    return tuple(merged[ref] for ref in sorted(merged))
