"""A world that follows a cluster: it changes between reconciles and never during one.

Whoever asked for what changed is named at every change, so that exactly they are looked at
again. Objects lie here as bytes: a cluster of ten thousand services fits into a tenth of the
memory of its dictionaries, and one object takes some microseconds to decode.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from ingressctl.api.refs import Raw, Ref
from ingressctl.core.dependencies import Asker, Change, Dependencies, Space
from ingressctl.core.indexes import LiveIndex
from ingressctl.core.settings import Settings
from ingressctl.core.world import (
    Claim,
    Claimant,
    Derivations,
    Lookup,
    Reads,
    World,
    precedence,
)

AT_ONCE = 256
"""So many claims are renewed with the change that touched them; of more, the rest waits for
`renew`, for ten thousand take seconds."""

RECENT = 1024
"""Objects that stay decoded: what everybody reads, and what one pass reads several times."""


class Stored(Mapping[Ref, Raw]):
    """Objects kept as bytes and decoded when asked for. Equal bytes are not kept twice."""

    __slots__ = ("_bytes", "_recent")

    def __init__(self) -> None:
        self._bytes: dict[Ref, bytes] = {}
        self._recent: dict[Ref, Raw] = {}

    def __getitem__(self, ref: Ref) -> Raw:
        found = self._recent.get(ref)
        if found is None:
            found = orjson.loads(self._bytes[ref])
            self._remember(ref, found)
        return found

    def get(self, ref: Ref, default: Any = None) -> Any:
        """As of any mapping."""
        found = self._recent.get(ref)
        if found is None:
            return self[ref] if ref in self._bytes else default
        return found

    def __contains__(self, ref: object) -> bool:
        return ref in self._bytes

    def __iter__(self) -> Iterator[Ref]:
        return iter(self._bytes)

    def __len__(self) -> int:
        return len(self._bytes)

    def put(self, ref: Ref, obj: Raw) -> None:
        """Store an object; it is decoded already and likely to be asked for at once."""
        # A copy, for orjson leaves its bytes in a block of several times their size.
        self._bytes[ref] = bytes(memoryview(orjson.dumps(obj)))
        self._remember(ref, obj)

    def drop(self, ref: Ref) -> None:
        """Forget an object."""
        self._bytes.pop(ref, None)
        self._recent.pop(ref, None)

    def _remember(self, ref: Ref, obj: Raw) -> None:
        if len(self._recent) >= RECENT:
            self._recent.clear()
        self._recent[ref] = obj


class _Derived(NamedTuple):
    """The asker that stands for a derived value."""

    key: Any


class _Claiming(NamedTuple):
    """The asker that stands for the claims of one object."""

    ref: Ref


class _Known(Derivations):
    """Derived values that know what they were made of."""

    def __init__(self, dependencies: Dependencies) -> None:
        super().__init__()
        self._dependencies = dependencies

    def __setitem__(self, key: Any, made: tuple[Any, Mapping[Lookup, None]]) -> None:
        super().__setitem__(key, made)
        self._dependencies.learn(_Derived(key), made[1])


class Picture(World):
    """The objects of a cluster as far as they are known now."""

    __slots__ = (
        "_claimants",
        "_held",
        "_hosts",
        "_live",
        "_pending",
        "_settings",
        "_stored",
        "dependencies",
    )

    def __init__(self, settings: Settings, claimants: tuple[Claimant, ...] = ()) -> None:
        self._stored = Stored()
        self._live = LiveIndex()
        super().__init__(self._stored, self._live)
        self.dependencies = Dependencies()
        self.derivations = _Known(self.dependencies)
        self._settings = settings
        self._claimants = claimants
        self._held: dict[Ref, tuple[Claim, ...]] | None = None
        self._hosts: dict[str, tuple[Claim, ...]] = {}
        self._pending: dict[Ref, None] = {}

    def fill(self, ref: Ref, new: Raw) -> None:
        """Put an object in while nobody looks yet: nobody is named, nothing is derived."""
        old = self._stored.get(ref)
        self._stored.put(ref, new)  # first: what cannot be stored is in no index either
        self._live.put(ref, old, new)

    def change(self, changes: Iterable[tuple[Ref, Raw | None]]) -> set[Asker]:
        """Put objects in, or take them out (None); everybody who has to look again."""
        touched: set[Asker] = set()
        for ref, new in changes:
            touched |= self.dependencies.touched(self._put(ref, new))
            self._renew(ref, new, touched)
        self.memo.clear()
        return self._settled(touched)

    def claim_later(self) -> None:
        """Let `renew` ask all objects for their claims, instead of the first who looks."""
        if self._held is None:
            self._held = {}
            for claimant in self._claimants:
                self._pending.update(dict.fromkeys(self.index.refs(claimant.kind, None)))

    @property
    def pending(self) -> int:
        """How many objects' claims are not what they should be yet."""
        return len(self._pending)

    def renew(self, limit: int = AT_ONCE) -> set[Asker]:
        """Renew some claims that wait; who is touched by it."""
        some = [ref for ref, _ in zip(self._pending, range(limit), strict=False)]
        for ref in some:
            del self._pending[ref]
        return self._claimed(some)

    def reconfigure(self, settings: Settings) -> None:
        """Other settings hold from now on: everything derived is made anew when asked for."""
        self._settings = settings
        self._held = None
        self._hosts = {}
        self._pending = {}
        for key in tuple(self.derivations):
            del self.derivations[key]
            self.dependencies.forget(_Derived(key))
        self.memo.clear()

    def learn(self, asker: Asker, lookups: Iterable[Lookup]) -> None:
        """What somebody has looked at in this picture, in the last reconcile."""
        self.dependencies.learn(asker, lookups)

    def forget(self, asker: Asker) -> None:
        """Somebody who looked is gone."""
        self.dependencies.forget(asker)

    def rightful(self, ref: Ref, told: Iterable[str]) -> frozenset[str]:
        """The hosts to which an object has the first claim, and those of `told` to which nobody
        else has it; as far as claims have been asked for."""
        claimed = (claim.host for claim in (self._held or {}).get(ref, ()))
        return frozenset(
            host
            for host in (*told, *claimed)
            if host not in self._hosts or self._hosts[host][0].holder == ref
        )

    def claims(
        self, host: str, *, settings: Settings, claimants: tuple[Claimant, ...]
    ) -> tuple[Claim, ...]:
        """As World.claims; kept up object by object for the picture's own settings."""
        if settings is not self._settings or claimants is not self._claimants:
            return super().claims(host, settings=settings, claimants=claimants)
        if self._held is None:
            self.claim_later()
            while self._pending:
                self.renew()
        return self._hosts.get(host, ())

    def _put(self, ref: Ref, new: Raw | None) -> Change:
        old = self._stored.get(ref)
        before = self._presence(ref) if (old is None) != (new is None) else ()
        if new is None:
            if old is not None:
                self._live.remove(ref, old)
            self._stored.drop(ref)
        else:
            self._stored.put(ref, new)  # first: what cannot be stored is in no index either
            self._live.put(ref, old, new)
        after = self._presence(ref) if before else ()
        flipped = tuple(
            space for (space, was), (_, now) in zip(before, after, strict=True) if was != now
        )
        return Change(ref, old, new, flipped)

    def _presence(self, ref: Ref) -> tuple[tuple[Space, bool], ...]:
        kind = (ref.group, ref.kind)
        return tuple(
            ((*kind, namespace), self.holds(kind, namespace)) for namespace in (ref.namespace, None)
        )

    def _renew(self, ref: Ref, new: Raw | None, touched: set[Asker]) -> None:
        """The claims of an object of a claiming kind follow it."""
        if self._held is None or all(ref[:2] != claimant.kind for claimant in self._claimants):
            return
        if new is None:
            self.dependencies.forget(_Claiming(ref))
            touched |= self.dependencies.claimed(self._replace(ref, ()))
        else:
            touched.add(_Claiming(ref))

    def _settled(self, touched: set[Asker]) -> set[Asker]:
        """Drop what was derived of the old picture, and renew claims; who else is touched."""
        outside = set()
        claiming = []
        for asker in touched:
            if isinstance(asker, _Derived):
                self.derivations.pop(asker.key, None)
                self.dependencies.forget(asker)
            elif isinstance(asker, _Claiming):
                claiming.append(asker.ref)
            else:
                outside.add(asker)
        self._pending.update(dict.fromkeys(claiming[AT_ONCE:]))
        return outside | self._claimed(claiming[:AT_ONCE])

    def _claimed(self, refs: Iterable[Ref]) -> set[Asker]:
        """Renew the claims of objects; who asked for a host that is claimed otherwise now."""
        there = [ref for ref in refs if ref in self._stored]
        touched: set[Asker] = set()
        for claimant in self._claimants if there else ():
            mine = [ref for ref in there if ref[:2] == claimant.kind]
            touched |= self.dependencies.claimed(self._claim(claimant, mine))
        return touched

    def _claim(self, claimant: Claimant, refs: Iterable[Ref]) -> set[str]:
        """Ask objects for their claims anew; the hosts that are claimed otherwise now."""
        hosts: set[str] = set()
        for ref in tuple(refs):
            reads = Reads(self, self._settings, providers={})
            claims = _asked(claimant, self._stored[ref], reads)
            self.dependencies.learn(_Claiming(ref), reads.lookups)
            hosts |= self._replace(ref, claims)
            if len(self.memo) > RECENT:
                self.memo.clear()
        return hosts

    def _replace(self, ref: Ref, claims: tuple[Claim, ...]) -> set[str]:
        held: dict[Ref, tuple[Claim, ...]] = self._held if self._held is not None else {}
        old = held.pop(ref, ())
        if claims:
            held[ref] = claims
        if old == claims:
            return set()
        hosts = {claim.host for claim in (*old, *claims)}
        for host in hosts:
            others = (claim for claim in self._hosts.get(host, ()) if claim.holder != ref)
            mine = (claim for claim in claims if claim.host == host)
            now = tuple(sorted({*others, *mine}, key=precedence))
            if now:
                self._hosts[host] = now
            else:
                self._hosts.pop(host, None)
        return hosts


def _asked(claimant: Claimant, obj: Raw, reads: Reads) -> tuple[Claim, ...]:
    """The claims of one object. One that a claimant cannot read claims nothing: its reconcile
    tells why, and all others go on."""
    try:
        return claimant.of(obj, reads)
    except Exception:
        return ()
