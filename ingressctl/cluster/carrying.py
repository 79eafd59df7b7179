"""Routes without Kubernetes objects: they are carried to proxies, by whoever serves those.

A controller tells of each owner what its routes are now, and proxies are answered once every
owner of the start has been told of. What proxies have not taken yet holds back what a plan
would tell or delete.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Protocol

from ingressctl.api.refs import Ref
from ingressctl.core.model import Route
from ingressctl.core.outcome import Keep
from ingressctl.plan.cascade import Step

AGAIN = 0.1
"""Seconds between two looks at what a start waits for."""


class Carrier(Protocol):
    """What serves routes without Kubernetes objects: our own xDS."""

    def carry(self, owner: Ref, routes: tuple[Route, ...], keep: Keep) -> None:
        """From now on these are the owner's routes, beside those it had that `keep` holds."""
        ...

    def complete(self) -> None:
        """Every object that was there at the start has been looked at once."""
        ...

    def unacknowledged(self, owner: Ref) -> bool:
        """Whether some proxy has not taken the owner's last routes yet."""
        ...

    def held(self, owner: Ref, service: tuple[str, str]) -> bool:
        """Whether some proxy may still send requests to a Service (namespace, name) of the
        owner, which is woken when none does."""
        ...


class Carrying:
    """What a controller tells a carrier, and asks it; nothing where there is none."""

    def __init__(self, carrier: Carrier | None) -> None:
        self._carrier = carrier
        self._first: set[Ref] = set()
        self._all_looked_at = asyncio.Event()

    def expect(self, owners: Iterable[Ref]) -> None:
        """These are the owners of the start."""
        self._first = set(owners)
        self._note_all()

    def looked_at(self, owner: Ref) -> None:
        """Of the owners of the start one less is to be looked at for the first time."""
        self._first.discard(owner)
        self._note_all()

    async def begin(
        self,
        *,
        usable: Callable[[], bool],
        again: Callable[[], None],
        idle: Callable[[], bool],
    ) -> None:
        """Proxies are answered when every owner has been looked at by a configuration that can
        be used: until then they go on with what they have, which nobody here knows.

        `again` has every owner looked at once more, which is done when all is `idle`.
        """
        if self._carrier is None:
            return
        await self._all_looked_at.wait()
        if not usable():
            while not usable():
                await asyncio.sleep(AGAIN)
            again()
            while not idle():
                await asyncio.sleep(AGAIN)
        self._carrier.complete()

    def carry(self, step: Step) -> None:
        """The routes of an owner as they are now."""
        if self._carrier is not None:
            self._carrier.carry(step.ref, step.emission.routes, step.outcome.keep)
            self.looked_at(step.ref)

    def forget(self, owner: Ref) -> None:
        """The owner is gone."""
        if self._carrier is not None:
            self._carrier.carry(owner, (), Keep())

    def unacknowledged(self, step: Step) -> frozenset[Ref]:
        """The owner, if proxies have not taken its last routes."""
        if self._carrier is None or not self._carrier.unacknowledged(step.ref):
            return frozenset()
        return frozenset({step.ref})

    def held(self, step: Step) -> frozenset[tuple[str, str]]:
        """Places of what is to go to which proxies may still send requests."""
        if self._carrier is None:
            return frozenset()
        places = ((ref.namespace, ref.name) for ref in step.settlement.deleted)
        return frozenset(place for place in places if self._carrier.held(step.ref, place))

    def _note_all(self) -> None:
        if not self._first:
            self._all_looked_at.set()
