"""Routes without Kubernetes objects: they are carried to proxies, by whoever serves those.

A controller tells of each owner what its routes are now, and proxies are answered once every
owner of the start has been told of. What proxies have not taken yet holds back what a plan
would tell or delete.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Protocol

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core.kserve import visibility
from ingressctl.core.model import Route
from ingressctl.core.outcome import Keep
from ingressctl.plan.cascade import Step

AGAIN = 0.1
"""Seconds between two looks at what a start waits for."""


class Carrier(Protocol):
    """What serves routes without Kubernetes objects: our own xDS."""

    def carry(
        self, owner: Ref, routes: tuple[Route, ...], keep: Keep, *, hosts: Iterable[str]
    ) -> None:
        """From now on these are the owner's routes, beside those it had that `keep` holds.

        `hosts` are those at which it may have been served so far, by whomever.
        """
        ...

    def forget(self, owner: Ref) -> None:
        """The owner is gone, and its routes with it."""
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
    """What a controller tells a carrier, and asks it; nothing where there is none.

    `usable` is of the configuration; `hosts` are those at which an owner may have been served.
    """

    def __init__(
        self,
        carrier: Carrier | None,
        *,
        usable: Callable[[], bool],
        hosts: Callable[[Raw], Iterable[str]],
    ) -> None:
        self._carrier = carrier
        self._usable = usable
        self._hosts = hosts
        self._first: set[Ref] = set()
        self._is_complete = False
        self._waits = asyncio.Event()

    def expect(self, owners: Iterable[Ref]) -> None:
        """These are the owners of the start."""
        self._first = set(owners)
        self._note_all()

    def looked_at(self, owner: Ref) -> None:
        """Of the owners of the start one less is to be looked at for the first time."""
        self._first.discard(owner)
        self._note_all()

    async def mended(self, again: Callable[[], None], idle: Callable[[], bool]) -> None:
        """After a start with a configuration that cannot be used: answer proxies once there is
        one that can. Until then they go on with what they have, which nobody here knows.

        `again` has every owner looked at once more, which is done when all is `idle`.
        """
        await self._waits.wait()
        while not self._usable():
            await asyncio.sleep(AGAIN)
        again()
        while not idle():
            await asyncio.sleep(AGAIN)
        self._complete()

    def carry(self, obj: Raw, step: Step) -> None:
        """The routes of an owner as they are now."""
        if self._carrier is not None:
            keep = step.outcome.keep
            hosts = self._hosts(obj) if keep.holds_any or keep.hidden else ()
            self._carrier.carry(step.ref, step.emission.routes, keep, hosts=hosts)
            self.looked_at(step.ref)

    def keep(self, obj: Raw) -> None:
        """What the owner's routes are cannot be said: those that it had stay."""
        if self._carrier is not None:
            keep = Keep(everything=True, hidden=visibility.asks_to_be_private(obj))
            self._carrier.carry(ref_of(obj), (), keep, hosts=self._hosts(obj))

    def forget(self, owner: Ref) -> None:
        """The owner is gone."""
        if self._carrier is not None:
            self._carrier.forget(owner)

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
        """At once, before a plan asks what proxies have taken of the first routes."""
        if self._carrier is None or self._first or self._is_complete or self._waits.is_set():
            return
        if self._usable():
            self._complete()
        else:
            self._waits.set()

    def _complete(self) -> None:
        self._is_complete = True
        if self._carrier is not None:
            self._carrier.complete()
