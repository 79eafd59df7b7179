"""All xDS resources of a set of routes, as the bytes that are sent.

`Book` keeps them between changes: owners come and go one at a time, and only the hosts that
an owner touches are made again. Of ten thousand hosts one change costs one table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from google.protobuf.message import Message

from ingressctl.api.refs import Ref
from ingressctl.core.model import Route, Target
from ingressctl.providers.envoy import clusters, listeners, names, places, routes
from ingressctl.providers.envoy.facts import Address, Facts, Unknown
from ingressctl.providers.envoy.places import Place, Tenant

Key = tuple[str, str]
"""(type URL, name)"""

Changes = Mapping[Key, bytes | None]
"""New bytes of resources; None removes."""

Resources = dict[Key, bytes]


def resources(owned: Iterable[Route], *, facts: Facts | None = None, port: int = 0) -> Resources:
    """Everything for an Envoy that listens on `port`."""
    book = Book(facts or Unknown(), port=port)
    by_owner: dict[Ref, list[Route]] = {}
    for route in owned:
        by_owner.setdefault(route.owner.ref, []).append(route)
    book.update({ref: tuple(found) for ref, found in by_owner.items()})
    return book.resources


@dataclass(slots=True)
class Book:
    """The resources of all owners so far."""

    facts: Facts
    port: int
    address: str = "127.0.0.1"
    resources: Resources = field(default_factory=dict)
    asking: dict[Place, list[Tenant]] = field(default_factory=dict)
    _owned: dict[Ref, tuple[Route, ...]] = field(default_factory=dict)
    _uses: dict[Place, tuple[names.Upstream, ...]] = field(default_factory=dict)
    _users: dict[names.Upstream, int] = field(default_factory=dict)
    _addresses: dict[names.Upstream, tuple[Address, ...]] = field(default_factory=dict)
    _behind: dict[Target, dict[Place, None]] = field(default_factory=dict)
    _pinned: dict[Target, dict[names.Upstream, None]] = field(default_factory=dict)

    def update(
        self,
        owned: Mapping[Ref, tuple[Route, ...]],
        *,
        stale: Iterable[Place] = (),
        recheck: Iterable[names.Upstream] = (),
    ) -> Changes:
        """Give owners other routes (none: the owner is gone); what changes on the wire.

        `stale` places are made again although their owners did not change, and the addresses
        of `recheck` are asked for again.
        """
        touched: dict[Place, None] = dict.fromkeys(stale)
        for ref, new in owned.items():
            touched.update(self._forget(ref))
            touched.update(self._learn(ref, new))
        moved: dict[names.Upstream, None] = dict.fromkeys(recheck)
        changes: dict[Key, bytes | None] = {}
        for place in _tables(touched):
            hosts = self._hosts(place)
            moved.update(self._use(place, tuple(_upstreams(hosts, self.facts))))
            changes.update(_table(place, hosts, self.facts))
        for upstream in moved:
            changes.update(self._upstream(upstream))
        changes.update(self._listeners(touched, moved))
        return self._settle(changes)

    @property
    def owners(self) -> frozenset[Ref]:
        """Everybody who has routes here."""
        return frozenset(self._owned)

    @property
    def upstreams(self) -> tuple[names.Upstream, ...]:
        """Every target that some table leads to."""
        return tuple(self._users)

    def replace(self, owned: Mapping[Ref, tuple[Route, ...]], facts: Facts) -> Changes:
        """All owners anew, with what is known now; those that are not named are gone."""
        self.facts = facts
        gone: dict[Ref, tuple[Route, ...]] = {ref: () for ref in self._owned if ref not in owned}
        new = {ref: found for ref, found in owned.items() if self._owned.get(ref) != found}
        return self.update(
            {**gone, **new}, stale=self._stale(_tables(self.asking)), recheck=tuple(self._users)
        )

    def moved(self, targets: Iterable[Target]) -> Changes:
        """What is known of these targets may be other now: their protocols and addresses."""
        used = {place: None for target in targets for place in self._behind.get(target, ())}
        recheck = dict.fromkeys(
            upstream
            for place in used
            for upstream in self._uses.get(place, ())
            if upstream.target in targets
        )
        for target in targets:
            recheck.update(self._pinned.get(target, {}))
        return self.update({}, stale=self._stale(used), recheck=recheck)

    def routes(self, owner: Ref) -> tuple[Route, ...]:
        """The routes of an owner."""
        return self._owned.get(owner, ())

    def leads_to(self, target: Target) -> bool:
        """Whether some table leads to a target."""
        return target in self._behind

    def pins(self, target: Target) -> bool:
        """Whether something of a target is pinned."""
        return target in self._pinned

    def pin(self, upstreams: Iterable[names.Upstream]) -> Changes:
        """Serve these too, until `unpin`: tables that are not known here may lead there."""
        new = dict.fromkeys(
            upstream
            for upstream in upstreams
            if upstream not in self._pinned.get(upstream.target, ())
        )
        for upstream in new:
            self._pinned.setdefault(upstream.target, {})[upstream] = None
            self._users[upstream] = self._users.get(upstream, 0) + 1
        return self.update({}, recheck=new)

    def unpin(self, stays: Callable[[Target], bool]) -> Changes:
        """Of what was pinned only what tables lead to, or what `stays`, is still served."""
        ended = [target for target in self._pinned if not stays(target)]
        recheck = [upstream for target in ended for upstream in self._pinned.pop(target)]
        for upstream in recheck:
            self._users[upstream] -= 1
        return self.update({}, recheck=recheck)

    def _stale(self, tables: Iterable[Place]) -> tuple[Place, ...]:
        """Tables whose clusters are others by the facts that hold now (another protocol)."""
        return tuple(
            place
            for place in tables
            if tuple(_upstreams(self._hosts(place), self.facts)) != self._uses.get(place, ())
        )

    def _forget(self, ref: Ref) -> Iterator[tuple[Place, None]]:
        for route in self._owned.pop(ref, ()):
            for place, tenant in places.of_route(route):
                left = [other for other in self.asking[place] if other.route is not tenant.route]
                self.asking[place] = left
                yield place, None

    def _learn(self, ref: Ref, new: tuple[Route, ...]) -> Iterator[tuple[Place, None]]:
        if new:
            self._owned[ref] = new
        for place, tenant in places.tenants(new).items():
            self.asking.setdefault(place, []).extend(tenant)
            yield place, None

    def _hosts(self, place: Place) -> tuple[tuple[str, tuple[Tenant, ...]], ...]:
        wanted = [place] if not place.wildcard else sorted(self._wildcards(place.listener))
        for one in wanted:
            if not self.asking.get(one):
                self.asking.pop(one, None)
        present = [one for one in wanted if one in self.asking]
        return tuple((one.host, places.in_order(self.asking[one])) for one in present)

    def _wildcards(self, listener: str) -> Iterable[Place]:
        return (place for place in self.asking if place.wildcard and place.listener == listener)

    def _use(
        self, place: Place, found: tuple[names.Upstream, ...]
    ) -> Iterator[tuple[names.Upstream, None]]:
        """Count the tables that lead to each upstream; those whose count moved."""
        for upstream in self._uses.pop(place, ()):
            self._users[upstream] -= 1
            self._unlink(upstream.target, place)
            yield upstream, None
        for upstream in found:
            self._users[upstream] = self._users.get(upstream, 0) + 1
            self._behind.setdefault(upstream.target, {})[place] = None
            yield upstream, None
        if found:
            self._uses[place] = found

    def _unlink(self, target: Target, place: Place) -> None:
        tables = self._behind.get(target, {})
        tables.pop(place, None)
        if not tables:
            self._behind.pop(target, None)

    def _upstream(self, upstream: names.Upstream) -> Iterator[tuple[Key, bytes | None]]:
        """Cluster and endpoints, or their removal when no table leads there."""
        cluster, load = (names.CLUSTER, upstream.name), (names.ENDPOINTS, upstream.name)
        if not self._users.get(upstream):
            self._users.pop(upstream, None)
            self._addresses.pop(upstream, None)
            yield cluster, None
            yield load, None
            return
        if cluster not in self.resources:
            yield cluster, _bytes(clusters.cluster(upstream))
        if clusters.is_hop(upstream):
            return
        addresses = self.facts.addresses(upstream.target, upstream.port)
        if self._addresses.get(upstream) != addresses:
            self._addresses[upstream] = addresses
            yield (
                load,
                clusters.endpoints(upstream, addresses).SerializeToString(deterministic=True),
            )

    def _listeners(
        self, touched: Iterable[Place], moved: Iterable[names.Upstream]
    ) -> Iterator[tuple[Key, bytes | None]]:
        """The public listener always; the local one only while something is served there."""
        key = (names.LISTENER, names.PUBLIC)
        if key not in self.resources:
            yield (
                key,
                listeners.public(self.port, self.address).SerializeToString(deterministic=True),
            )
        if not (any(map(_is_local, touched)) or any(map(clusters.is_hop, moved))):
            return
        wanted = any(map(_is_local, self.asking)) or any(map(clusters.is_hop, self._users))
        key = (names.LISTENER, names.LOCAL)
        if not wanted:
            yield key, None
        elif key not in self.resources:
            yield key, _bytes(listeners.local())

    def _settle(self, changes: Mapping[Key, bytes | None]) -> Changes:
        """Only what differs from what there is."""
        real = {key: new for key, new in changes.items() if self.resources.get(key) != new}
        for key, new in real.items():
            if new is None:
                del self.resources[key]
            else:
                self.resources[key] = new
        return real


def _tables(touched: Iterable[Place]) -> Iterable[Place]:
    """The tables that places lie in: all wildcard hosts of a listener share one."""
    return dict.fromkeys(
        Place(place.listener, names.WILDCARDS) if place.wildcard else place for place in touched
    )


def _table(
    place: Place, hosts: tuple[tuple[str, tuple[Tenant, ...]], ...], facts: Facts
) -> Iterator[tuple[Key, bytes | None]]:
    """Scope and table of a place, removed when nobody asks for it any longer."""
    name = _name(place)
    if not hosts:
        yield (names.SCOPE, name), None
        yield (names.ROUTES, name), None
        return
    table = routes.route_configuration(place, hosts, facts)
    yield (names.SCOPE, name), _bytes(routes.scope(place))
    yield (names.ROUTES, name), _bytes(table)


def _bytes(resource: Message) -> bytes:
    """The same bytes for the same content, in every process: versions are made of them."""
    made: bytes = resource.SerializeToString(deterministic=True)
    return made


def _is_local(place: Place) -> bool:
    return place.listener == names.LOCAL


def _name(place: Place) -> str:
    return names.route_configuration(place.listener, place.host)


def upstreams_of(owned: Iterable[Route], facts: Facts) -> tuple[names.Upstream, ...]:
    """Every target that routes lead to."""
    found = (
        routes.upstream(split, rule, facts)
        for route in owned
        for group in route.groups
        for rule in group.rules
        for split in rule.splits
    )
    return tuple(dict.fromkeys(found))


def _upstreams(
    hosts: Iterable[tuple[str, tuple[Tenant, ...]]], facts: Facts
) -> Iterator[names.Upstream]:
    found = (
        routes.upstream(split, rule, facts)
        for _, tenants in hosts
        for tenant in tenants
        for rule in tenant.group.rules
        for split in rule.splits
    )
    yield from dict.fromkeys(found)
