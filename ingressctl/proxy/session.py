"""One Envoy's conversation over delta xDS, without input or output.

What is sent depends on what that Envoy asked for, has, and has acknowledged. The order is
make before break: clusters and their endpoints, and only when they are acknowledged what
leads to them; what nothing leads to any longer goes last, the other way round. A refusal
(NACK) is reported and stops the rest of that change: Envoy goes on with its last good state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from envoy.service.discovery.v3 import discovery_pb2
from google.protobuf import any_pb2

from ingressctl.providers.envoy import names

BATCH = 1000
"""Resources in one message: gRPC clients refuse messages of any size."""

LEADING = (names.LISTENER, names.SCOPE, names.ROUTES)
BEHIND = (names.CLUSTER, names.ENDPOINTS)


@dataclass(frozen=True, slots=True)
class Refusal:
    """What Envoy did not accept, in its words."""

    type: str
    names: tuple[str, ...]
    message: str


@dataclass(slots=True)
class Store:
    """Resources by (type URL, name), each with the version it was last given."""

    resources: dict[tuple[str, str], bytes] = field(default_factory=dict)
    versions: dict[tuple[str, str], str] = field(default_factory=dict)
    _count: int = 0

    def apply(self, key: tuple[str, str], body: bytes | None) -> None:
        """A new body, or none any longer."""
        self._count += 1
        if body is None:
            self.resources.pop(key, None)
            self.versions.pop(key, None)
            return
        self.resources[key] = body
        self.versions[key] = str(self._count)

    def names(self, kind: str) -> list[str]:
        """All names of a type."""
        return [name for found, name in self.resources if found == kind]


@dataclass(slots=True)
class Interest:
    """What one type's subscription covers and what is still to be told of it."""

    wildcard: bool = False
    names: dict[str, None] = field(default_factory=dict)
    dirty: dict[str, None] = field(default_factory=dict)
    sent: dict[str, str] = field(default_factory=dict)
    asked: bool = False
    """An answer is owed even if it is empty: Envoy waits for it at start."""

    def covers(self, name: str) -> bool:
        """Whether a resource of that name is wanted."""
        return self.wildcard or name in self.names


class Session:
    """The state of one stream."""

    def __init__(self, store: Store, report: Callable[[Refusal], None]) -> None:
        self._store = store
        self._report = report
        self._interests = {kind: Interest() for kind in names.ORDER}
        self._in_flight: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._warming: dict[str, None] = {}
        self._held = False
        self._nonce = 0

    @property
    def idle(self) -> bool:
        """Whether Envoy has and acknowledged all that there is for it."""
        waiting = any(interest.dirty for interest in self._interests.values())
        return not (waiting or self._in_flight or self._warming)

    def changed(self, kind: str, name: str) -> None:
        """A resource was changed, added or removed in the store."""
        self._held = False
        interest = self._interests[kind]
        if interest.covers(name):
            interest.dirty[name] = None

    def request(self, request: discovery_pb2.DeltaDiscoveryRequest) -> None:
        """One message from Envoy: an answer, a subscription, or both."""
        if request.response_nonce:
            self._answered(request)
        interest = self._interests.get(request.type_url)
        if interest is None:
            return
        first = not (interest.wildcard or interest.names or request.response_nonce)
        wanted = list(request.resource_names_subscribe)
        if "*" in wanted or (first and not wanted):
            self._subscribe_all(request.type_url, interest)
        for name, version in request.initial_resource_versions.items():
            interest.sent[name] = version
        self._subscribe(interest, wanted)
        self._drop_known(request.type_url, interest)
        for name in request.resource_names_unsubscribe:
            interest.names.pop(name, None)
            interest.sent.pop(name, None)
            interest.dirty.pop(name, None)

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
        interest.dirty.update(dict.fromkeys(self._store.names(kind)))

    def _subscribe(self, interest: Interest, wanted: list[str]) -> None:
        for name in wanted:
            if name != "*":
                interest.names[name] = None
                interest.dirty[name] = None
                interest.sent.pop(name, None)

    def _drop_known(self, kind: str, interest: Interest) -> None:
        """After a reconnect Envoy tells what it has."""
        for name in list(interest.dirty):
            version = self._store.versions.get((kind, name))
            if version is not None and interest.sent.get(name) == version:
                del interest.dirty[name]

    def _answered(self, request: discovery_pb2.DeltaDiscoveryRequest) -> None:
        kind, sent = self._in_flight.pop(request.response_nonce, ("", ()))
        if not kind:
            return
        for name in sent if kind == names.ENDPOINTS else ():
            self._warming.pop(name, None)
        if request.HasField("error_detail"):
            self._held = True
            self._warming.clear()
            self._report(Refusal(kind, sent, request.error_detail.message))

    def _flying(self, kinds: tuple[str, ...]) -> bool:
        return any(kind in kinds for kind, _ in self._in_flight.values())

    def _updates(self, kind: str) -> Iterator[discovery_pb2.DeltaDiscoveryResponse]:
        interest = self._interests[kind]
        present = [name for name in interest.dirty if (kind, name) in self._store.resources]
        for some in batched(present, BATCH):
            yield self._response(kind, some, ())
        if interest.asked and not present:
            yield self._response(kind, (), ())
        interest.asked = False

    def _removals(self, kind: str) -> Iterator[discovery_pb2.DeltaDiscoveryResponse]:
        interest = self._interests[kind]
        for some in batched(list(interest.dirty), BATCH):
            yield self._response(kind, (), some)

    def _response(
        self, kind: str, present: tuple[str, ...], gone: tuple[str, ...]
    ) -> discovery_pb2.DeltaDiscoveryResponse:
        self._nonce += 1
        nonce = str(self._nonce)
        self._in_flight[nonce] = (kind, (*present, *gone))
        self._note(kind, present, gone)
        return discovery_pb2.DeltaDiscoveryResponse(
            type_url=kind,
            nonce=nonce,
            resources=[self._resource(kind, name) for name in present],
            removed_resources=gone,
        )

    def _note(self, kind: str, present: tuple[str, ...], gone: tuple[str, ...]) -> None:
        """Remember what was sent; a new cluster is warm when its endpoints are acknowledged."""
        interest = self._interests[kind]
        endpoints = self._interests[names.ENDPOINTS]
        for name in present:
            del interest.dirty[name]
            interest.sent[name] = self._store.versions[kind, name]
            served = (names.ENDPOINTS, name) in self._store.resources
            if kind == names.CLUSTER and served and name not in endpoints.names:
                self._warming[name] = None
        for name in gone:
            del interest.dirty[name]
            interest.sent.pop(name, None)

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
