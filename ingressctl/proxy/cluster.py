"""The Envoys of a cluster, served by every replica: routes of all owners, endpoints that move.

Nothing is answered before the first picture is complete and there are certificates, so an
Envoy that comes back after a restart never hears of fewer routes than there are. What many
owners change in one turn of the loop is one change on the wire.

An owner waits until all Envoys here have taken its routes, and for those of other replicas,
which are not known here, `peers` seconds from then on. A target is held while some table
leads to it, while an Envoy may not have heard that none does, and while it still has
requests there.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ingressctl.api.refs import Ref
from ingressctl.core.model import Route, Service
from ingressctl.core.outcome import Keep
from ingressctl.core.world import World
from ingressctl.providers.envoy import names, snapshot
from ingressctl.providers.envoy.facts import WorldFacts
from ingressctl.proxy.credentials import Credentials
from ingressctl.proxy.inheritance import Inheritance
from ingressctl.proxy.loads import Drains
from ingressctl.proxy.store import Refusal
from ingressctl.proxy.xds import Server

LOG = logging.getLogger("ingressctl.xds")

AWAY_SECONDS = 15.0
"""How long an Envoy may be without a stream and still come back: it tries at least every five
seconds (the chart's bootstrap), and a replica may take some to answer."""


@dataclass(frozen=True, slots=True)
class Listening:
    """Where we answer, where Envoys listen for clients, and seconds to wait: `settle` for the
    requests of an Envoy that does not report them, `peers` for Envoys of other replicas."""

    xds: str
    gateway_port: int
    gateway_address: str = "::"
    settle: float = 5.0
    peers: float = 0.0
    away: float = AWAY_SECONDS


class Mark(NamedTuple):
    """The number of a change on the wire, and when it was made."""

    number: int = 0
    when: float = float("-inf")


@dataclass(slots=True)
class _Gone:
    """What nothing leads to any longer: its clusters, and the change that took them away."""

    mark: Mark
    clusters: set[str] = field(default_factory=set)


class Proxies:
    """As cluster.installation.Follower."""

    def __init__(self, listening: Listening) -> None:
        self._listening = listening
        self._drains = Drains(listening.settle)
        self._credentials = Credentials()
        self._complete = asyncio.Event()
        self._wake: Callable[[Ref], None] = _nobody
        self._world = World({})
        self._facts = WorldFacts(self._world)
        self._book = snapshot.Book(self._facts, listening.gateway_port, listening.gateway_address)
        self._server: Server | None = None
        self._listens = False
        self._inheritance = Inheritance()
        self._pending: dict[Ref, tuple[Route, ...]] = {}
        self._moved: dict[Service, None] = {}
        self._due = False
        self._looking = False
        self._carried: dict[Ref, Mark] = {}
        self._gone: dict[Service, _Gone] = {}
        self._waiting: dict[Ref, set[Service]] = {}

    def start(self, world: World, wake: Callable[[Ref], None]) -> None:
        """Know a world that follows a cluster; `wake` has an owner looked at again."""
        self._wake = wake
        self._world = world

    def trust(self, authority: bytes, certificate: bytes, key: bytes) -> None:
        """Be known by this certificate from now on, and know whom this authority signed."""
        self._credentials.renew(authority, certificate, key)

    def complete(self) -> None:
        """Every owner has been looked at once: now facts are needed, and followed."""
        self._facts = self._book.facts = WorldFacts.of(self._world)
        self._complete.set()
        self._flush()

    @property
    def unready(self) -> str:
        """Why no Envoy is answered yet; "" when they are."""
        if self._listens:
            return ""
        if not self._complete.is_set():
            return "the first routes for Envoy are not complete"
        return "there are no certificates for Envoy"

    async def serve(self) -> None:
        """Answer, once there is something to say and to prove it with. Raises CannotListen."""
        server = self._made()
        await self._complete.wait()
        await self._credentials.known.wait()
        await server.start(self._listening.xds, self._credentials.of_server())
        self._listens = True
        LOG.info("serving Envoys", extra={"keys": {"address": self._listening.xds}})
        await self._drains.run(server)

    async def stop(self) -> None:
        """No answer any more."""
        if self._server is not None:
            await self._server.stop()

    def carry(
        self, owner: Ref, routes: tuple[Route, ...], keep: Keep, *, hosts: Iterable[str]
    ) -> None:
        """From now on these are the owner's routes, beside those that `keep` holds; as long as
        those are not known, Envoys keep what they have at these `hosts`."""
        self._inheritance.note(owner, keep, hosts)
        self._give(owner, routes, keep)

    def forget(self, owner: Ref) -> None:
        """The owner is gone, and its routes with it."""
        self._inheritance.gone(owner)
        self._give(owner, (), Keep())

    def _give(self, owner: Ref, routes: tuple[Route, ...], keep: Keep) -> None:
        self._waiting.pop(owner, None)
        old = self._pending.get(owner, self._book.routes(owner))
        wanted = {route.ref for route in routes}
        kept = (route for route in old if route.ref not in wanted and keep.holds(route.ref))
        new = (*routes, *kept)
        if new != old:
            self._pending[owner] = new
        if new != old or self._inheritance.has_ended:
            self._soon()

    def moved(self, ref: Ref) -> None:
        """A Service or an EndpointSlice changed."""
        if self._complete.is_set():
            self._moved.update(dict.fromkeys(self._facts.moved(ref)))
            self._soon()

    def unacknowledged(self, owner: Ref) -> bool:
        """Whether some proxy may not have taken the owner's last routes yet."""
        waits = self._lags(owner, self._lacks())
        if waits:
            self._waiting.setdefault(owner, set())
        return waits

    def held(self, owner: Ref, service: tuple[str, str]) -> bool:
        """Whether some proxy may still send requests to a target of the owner."""
        target = Service(*service)
        holds = self._holds(owner, target, self._lacks())
        if holds:
            self._waiting.setdefault(owner, set()).add(target)
        return holds

    def _made(self) -> Server:
        """gRPC wants a running loop."""
        if self._server is None:
            self._server = Server(
                _refused,
                progress=self._progressed,
                drains=True,
                away=self._listening.away,
                services=(self._drains.handler,),
                left=self._inheritance,
                returned=self._inherit,
            )
        return self._server

    def _soon(self) -> None:
        """Before the first picture is complete nothing is put together: once is enough."""
        if self._complete.is_set() and not self._due:
            self._due = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        self._due = False
        owned, self._pending = self._pending, {}
        moved, self._moved = tuple(self._moved), {}
        changes = {**self._book.update(owned), **self._book.moved(moved)}
        if ended := self._inheritance.ended():
            changes.update(self._book.unpin(self._inheritance.may_lead_to))
        if changes or ended:
            self._carried.update(dict.fromkeys(owned, self._publish(changes, ended)))
        self._progressed()

    def _publish(self, changes: snapshot.Changes, ended: Iterable[snapshot.Key] = ()) -> Mark:
        mark = Mark(self._made().publish(changes, ended), time.monotonic())
        self._note(changes, mark)
        return mark

    def _inherit(self, clusters: tuple[str, ...]) -> None:
        """An Envoy came back with these, and tables that are left to it may lead there; not to
        those that this process has taken away itself."""
        if not self._inheritance:
            return
        ended = {name for gone in self._gone.values() for name in gone.clusters}
        found = names.upstreams(name for name in clusters if name not in ended)
        may_lead_to = self._inheritance.may_lead_to
        changes = self._book.pin(one for one in found if may_lead_to(one.target))
        if changes:
            self._publish(changes)

    def _note(self, changes: Mapping[snapshot.Key, bytes | None], mark: Mark) -> None:
        """Remember the tables that are made, and the targets that are led to no longer."""
        for (kind, name), body in changes.items():
            if kind == names.ROUTES and body is not None:
                self._inheritance.made(name)
            target = names.upstream(name).target if kind == names.CLUSTER else None
            if not isinstance(target, Service):
                continue
            if body is None:
                gone = self._gone.setdefault(target, _Gone(mark))
                gone.mark = mark
                gone.clusters.add(name)
            elif target in self._gone:
                self._gone[target].clusters.discard(name)

    def _lacks(self) -> int | None:
        return self._made().lacks()

    def _lags(self, owner: Ref, lacks: int | None) -> bool:
        return owner in self._pending or not self._taken(self._carried.get(owner, Mark()), lacks)

    def _holds(self, owner: Ref, target: Service, lacks: int | None) -> bool:
        """By a table here, by one that is left for the owner, or for a while after either."""
        if self._inheritance.of(owner) and self._book.pins(target):
            return True
        return self._is_held(target, lacks)

    def _is_held(self, target: Service, lacks: int | None) -> bool:
        gone = self._gone.get(target, _Gone(Mark()))
        if self._book.leads_to(target) or not self._taken(gone.mark, lacks):
            return True
        return self._made().knows(gone.clusters)

    def _taken(self, mark: Mark, lacks: int | None) -> bool:
        """By the Envoys here, and presumably by those of other replicas."""
        here = lacks is None or lacks > mark.number
        return here and time.monotonic() - mark.when >= self._listening.peers

    def _progressed(self) -> None:
        if not self._looking:
            self._looking = True
            asyncio.get_running_loop().call_soon(self._look)

    def _look(self) -> None:
        """Wake whoever waits no longer, and forget what everybody has taken."""
        self._looking = False
        lacks = self._lacks()
        for owner, targets in tuple(self._waiting.items()):
            held = any(self._holds(owner, one, lacks) for one in targets)
            if not (held or self._lags(owner, lacks)):
                del self._waiting[owner]
                self._wake(owner)
        if lacks is None and not self._waiting:
            self._carried = _later(self._carried, self._listening.peers)
            self._gone = {
                target: gone
                for target, gone in self._gone.items()
                if self._is_held(target, lacks) and not self._book.leads_to(target)
            }


def _later(carried: Mapping[Ref, Mark], seconds: float) -> dict[Ref, Mark]:
    """The marks that are younger."""
    now = time.monotonic()
    return {ref: mark for ref, mark in carried.items() if now - mark.when < seconds}


def _refused(refusal: Refusal) -> None:
    LOG.error(
        "Envoy refuses what it was given, and goes on with what it had",
        extra={
            "keys": {
                "resource": refusal.type.rpartition(".")[2],
                "names": ", ".join(refusal.names[:10]),
                "error": refusal.message,
            }
        },
    )


def _nobody(owner: Ref) -> None:
    """Nobody waits."""
