"""One Envoy's conversation over delta xDS, without input or output.

What is sent depends on what that Envoy asked for, has, and has acknowledged. The order is
make before break: clusters and their endpoints, and only when they are acknowledged what
leads to them; what nothing leads to any longer goes last, the other way round, and clusters
only when requests to them have ended, if anybody can tell. A refusal (NACK) is reported and
stops the rest of that change: Envoy goes on with its last good state.

Every change has a number, so it can be told up to which one an Envoy has taken all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from envoy.service.discovery.v3 import discovery_pb2
from google.protobuf import any_pb2

from ingressctl.providers.envoy import names
from ingressctl.proxy.store import Flight, Interest, Refusal, Store

BATCH = 1000
"""Resources in one message: gRPC clients refuse messages of any size."""

LEADING = (names.LISTENER, names.SCOPE, names.ROUTES)
BEHIND = (names.CLUSTER, names.ENDPOINTS)


class Session:
    """The state of one stream. With `drains`, clusters go only after `let_go`. `returned` hears
    of the clusters that a returning Envoy has, before they are judged."""

    def __init__(
        self,
        store: Store,
        report: Callable[[Refusal], None],
        *,
        drains: bool = False,
        returned: Callable[[tuple[str, ...]], None] | None = None,
    ) -> None:
        self.node = ""
        self._store = store
        self._report = report
        self._returned = returned
        self._interests = {kind: Interest() for kind in names.ORDER}
        self._in_flight: dict[str, Flight] = {}
        self._warming: dict[str, int] = {}
        self._opening: dict[str, int] = {}
        self._refused: dict[tuple[str, str], int] = {}
        self._free: set[str] | None = set() if drains else None
        self._held = False
        self._nonce = 0

    @property
    def idle(self) -> bool:
        """Whether Envoy has and acknowledged all that there is for it."""
        waiting = any(interest.dirty for interest in self._interests.values())
        return not (waiting or self._in_flight or self._warming or self._opening)

    @property
    def lacks(self) -> int | None:
        """The first change that Envoy has not taken; None when it has all.

        Before it asked for scopes and tables it may serve anything. What only waits for the end of
        requests has been taken.
        """
        scopes, tables = self._interests[names.SCOPE], self._interests[names.ROUTES]
        if not scopes.begun or (scopes.sent and not tables.begun):
            return 0
        going = self.draining
        open_numbers = [
            *self._warming.values(),
            *self._opening.values(),
            *self._refused.values(),
            *(flight.number for flight in self._in_flight.values()),
            *(
                number
                for kind, interest in self._interests.items()
                for name, number in interest.dirty.items()
                if not (kind in BEHIND and name in going)
            ),
        ]
        return min(open_numbers, default=None)

    @property
    def draining(self) -> frozenset[str]:
        """Clusters that nothing leads to any longer, whose requests may not have ended."""
        if self._free is None or self._unsettled():
            return frozenset()
        gone = self._interests[names.CLUSTER].dirty.keys() | self._interests[names.ENDPOINTS].dirty
        return frozenset(
            name for name in gone - self._free if (names.CLUSTER, name) not in self._store.resources
        )

    def let_go(self, clusters: Iterable[str]) -> None:
        """No request to these clusters is under way."""
        if self._free is not None:
            self._free |= self.draining.intersection(clusters)

    def knows(self, cluster: str) -> bool:
        """Whether Envoy has a cluster, or may still have it."""
        interest = self._interests[names.CLUSTER]
        flying = (
            cluster in flight.gone
            for flight in self._in_flight.values()
            if flight.kind == names.CLUSTER
        )
        return cluster in interest.sent or any(flying)

    def changed(self, kind: str, name: str) -> None:
        """A resource was changed, added or removed in the store."""
        self._held = False
        interest = self._interests[kind]
        if interest.covers(name):
            interest.dirty.setdefault(name, self._store.number)
            if self._free is not None and kind == names.CLUSTER:
                self._free.discard(name)

    def ended(self, kind: str, name: str) -> None:
        """What was left to Envoy, if it has it, is not any more."""
        if name in self._interests[kind].sent and (kind, name) not in self._store.resources:
            self.changed(kind, name)

    def request(self, request: discovery_pb2.DeltaDiscoveryRequest) -> None:
        """One message from Envoy: an answer, a subscription, or both."""
        self.node = request.node.id or self.node
        if request.response_nonce:
            self._answered(request)
        interest = self._interests.get(request.type_url)
        if interest is None:
            return
        first = not (interest.wildcard or interest.names or request.response_nonce)
        interest.begun = True
        wanted = list(request.resource_names_subscribe)
        if "*" in wanted or (first and not wanted):
            self._subscribe_all(request.type_url, interest)
        self._subscribe(interest, wanted)
        self._reconnected(request.type_url, interest, dict(request.initial_resource_versions))
        for name in request.resource_names_unsubscribe:
            interest.names.pop(name, None)
            interest.sent.pop(name, None)
            interest.dirty.pop(name, None)
            self._awaited(request.type_url).pop(name, None)

    def responses(self) -> Iterator[discovery_pb2.DeltaDiscoveryResponse]:
        """What can be sent now, in the order in which it must arrive."""
        for kind in BEHIND:
            yield from self._updates(kind)
        if self._held or self._warming or self._flying(BEHIND):
            return
        for kind in LEADING:
            yield from self._updates(kind)
        if self._flying(LEADING):
            return
        for kind in LEADING:
            yield from self._removals(kind)
        if self._flying(LEADING):
            return
        for kind in BEHIND:
            yield from self._removals(kind)

    def _subscribe_all(self, kind: str, interest: Interest) -> None:
        interest.wildcard = interest.asked = True
        for name in self._store.names(kind):
            interest.dirty.setdefault(name, 0)

    def _subscribe(self, interest: Interest, wanted: list[str]) -> None:
        for name in wanted:
            if name != "*":
                interest.names[name] = None
                interest.dirty.setdefault(name, 0)
                interest.sent.pop(name, None)

    def _reconnected(self, kind: str, interest: Interest, have: dict[str, str]) -> None:
        """Envoy tells what it has: that is not sent again, and what went meanwhile goes, but for
        what is left to it."""
        if self._returned is not None and kind == names.CLUSTER and have:
            self._returned(tuple(have))
        for name, version in have.items():
            if not interest.covers(name):
                continue
            interest.sent[name] = version
            same = self._store.versions.get((kind, name)) == version
            if (same and name not in self._awaited(kind)) or self._store.leaves(kind, name):
                interest.dirty.pop(name, None)
            else:
                interest.dirty.setdefault(name, 0)

    def _answered(self, request: discovery_pb2.DeltaDiscoveryRequest) -> None:
        flight = self._in_flight.pop(request.response_nonce, None)
        if flight is None:
            return
        if request.HasField("error_detail"):
            self._refuse(flight, request.error_detail.message)
        for name in (*flight.present, *flight.gone):
            self._awaited(flight.kind).pop(name, None)

    def _refuse(self, flight: Flight, message: str) -> None:
        """Of several resources in one message each is tried alone: one of them is at fault."""
        self._held = True
        interest = self._interests[flight.kind]
        if len(flight.present) > 1:
            self._held = False
            for name in flight.present:
                interest.alone.add(name)
                interest.dirty.setdefault(name, flight.number)
            return
        self._warming.clear()
        for name in flight.present:
            self._refused[flight.kind, name] = flight.number
        self._report(Refusal(flight.kind, (*flight.present, *flight.gone), message))

    def _awaited(self, kind: str) -> dict[str, int]:
        """What is complete when a resource of this type has come."""
        return {names.ENDPOINTS: self._warming, names.ROUTES: self._opening}.get(kind, {})

    def _flying(self, kinds: tuple[str, ...]) -> bool:
        return any(flight.kind in kinds for flight in self._in_flight.values())

    def _unsettled(self) -> bool:
        """Whether something is still to be told, or taken, that leads to clusters."""
        dirty = any(self._interests[kind].dirty for kind in LEADING)
        return dirty or bool(self._warming) or self._flying(LEADING)

    def _updates(self, kind: str) -> Iterator[discovery_pb2.DeltaDiscoveryResponse]:
        interest = self._interests[kind]
        present = [name for name in interest.dirty if (kind, name) in self._store.resources]
        together = [name for name in present if name not in interest.alone]
        for some in batched(together, BATCH):
            yield self._response(kind, some, ())
        for name in present if interest.alone else ():
            if name in interest.alone:
                interest.alone.discard(name)
                yield self._response(kind, (name,), ())
        if interest.asked and not present:
            yield self._response(kind, (), ())
        interest.asked = False

    def _removals(self, kind: str) -> Iterator[discovery_pb2.DeltaDiscoveryResponse]:
        kept = self.draining if kind in BEHIND else frozenset()
        gone = [name for name in self._interests[kind].dirty if name not in kept]
        for some in batched(gone, BATCH):
            yield self._response(kind, (), some)

    def _response(
        self, kind: str, present: tuple[str, ...], gone: tuple[str, ...]
    ) -> discovery_pb2.DeltaDiscoveryResponse:
        self._nonce += 1
        nonce = str(self._nonce)
        dirty = self._interests[kind].dirty
        number = min((dirty[name] for name in (*present, *gone)), default=self._store.number)
        self._in_flight[nonce] = Flight(kind, present, gone, number)
        self._note(kind, present, gone)
        return discovery_pb2.DeltaDiscoveryResponse(
            type_url=kind,
            nonce=nonce,
            resources=[self._resource(kind, name) for name in present],
            removed_resources=gone,
        )

    def _note(self, kind: str, present: tuple[str, ...], gone: tuple[str, ...]) -> None:
        """Remember what was sent."""
        interest = self._interests[kind]
        for name in present:
            number = interest.dirty.pop(name)
            interest.sent[name] = self._store.versions[kind, name]
            self._refused.pop((kind, name), None)
            self._await_rest(kind, name, number)
        for name in gone:
            del interest.dirty[name]
            interest.sent.pop(name, None)
            self._refused.pop((kind, name), None)
            if self._free is not None and kind == names.ENDPOINTS:
                self._free.discard(name)

    def _await_rest(self, kind: str, name: str, number: int) -> None:
        """Endpoints behind a cluster, the table behind a scope. Envoy asks for those of a new
        one; those of a changed cluster it has to get again (it warms up anew)."""
        rest = {names.CLUSTER: names.ENDPOINTS, names.SCOPE: names.ROUTES}.get(kind)
        if rest is None or (rest, name) not in self._store.resources:
            return
        if name not in self._interests[rest].names:
            self._awaited(rest)[name] = number
        elif kind == names.CLUSTER:
            self._interests[rest].dirty.setdefault(name, number)

    def _resource(self, kind: str, name: str) -> discovery_pb2.Resource:
        body = any_pb2.Any(type_url=kind, value=self._store.resources[kind, name])
        return discovery_pb2.Resource(
            name=name, version=self._store.versions[kind, name], resource=body
        )


def batched(items: Iterable[str], size: int) -> Iterator[tuple[str, ...]]:
    """Tuples of at most `size` (itertools has it from Python 3.12 on)."""
    rest = iter(items)
    while some := tuple(islice(rest, size)):
        yield some
