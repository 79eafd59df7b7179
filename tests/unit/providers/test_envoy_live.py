"""The envoy provider beside a cluster that changes: only what a change touches is made again."""

from __future__ import annotations

from typing import Any

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core.model import Service
from ingressctl.core.picture import Picture
from ingressctl.core.settings import Settings
from ingressctl.providers.envoy import listeners, names, snapshot
from ingressctl.providers.envoy.facts import Address, WorldFacts
from tests.envoy import makers

M = Service("ns", "m")
READY = {"ready": True, "serving": True, "terminating": False}
ENDING = {"ready": False, "serving": True, "terminating": True}
STARTING = {"ready": False, "serving": False, "terminating": False}


def slice_of(name: str, *addresses: tuple[str, dict[str, bool]], service: str = "m") -> Raw:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": name,
            "namespace": "ns",
            "labels": {"kubernetes.io/service-name": service},
        },
        "ports": [{"name": "", "port": 8080}],
        "endpoints": [{"addresses": [host], "conditions": told} for host, told in addresses],
    }


def service_of(name: str = "m", **port: Any) -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {"ports": [{"port": 80, "targetPort": 8080, **port}]},
    }


class Scene:
    """A picture, its facts, and a book of one route to `m` and one to `other`."""

    def __init__(self, *objects: Raw) -> None:
        self.picture = Picture(Settings())
        self.facts = WorldFacts.of(self.picture)
        self.put(*objects)
        self.book = snapshot.Book(self.facts, port=1)
        routes = (
            makers.route(name, makers.group(name, makers.to(name))) for name in ("m", "other")
        )
        self.book.update({route.owner.ref: (route,) for route in routes})

    def put(self, *objects: Raw) -> tuple[Service, ...]:
        touched: tuple[Service, ...] = ()
        for obj in objects:
            self.picture.change([(ref_of(obj), obj)])
            touched += self.facts.moved(ref_of(obj))
        return touched

    def remove(self, ref: Ref) -> tuple[Service, ...]:
        self.picture.change([(ref, None)])
        return self.facts.moved(ref)

    def hosts(self) -> list[str]:
        return [address.host for address in self.facts.addresses(M, 80)]


def test_endpoints_follow_their_slices() -> None:
    """Both families; a slice may go, and come to belong to another Service."""
    scene = Scene(service_of())
    assert scene.put(slice_of("a", ("10.0.0.1", READY)), slice_of("b", ("fd00::1", READY))) == (
        M,
        M,
    )
    assert scene.hosts() == ["10.0.0.1", "fd00::1"]
    other = Service("ns", "other")
    assert scene.put(slice_of("a", ("10.0.0.1", READY), service="other")) == (M, other)
    assert scene.hosts() == ["fd00::1"]
    assert scene.remove(ref_of(slice_of("b"))) == (M,)
    assert scene.hosts() == []
    assert scene.facts.addresses(other, 80) == (Address("10.0.0.1", 8080),)


def test_endpoints_that_end_serve_only_where_nothing_else_does() -> None:
    scene = Scene(service_of(), slice_of("a", ("10.0.0.1", ENDING), ("10.0.0.2", STARTING)))
    assert scene.hosts() == ["10.0.0.1"]
    scene.put(slice_of("b", ("10.0.0.3", READY)))
    assert scene.hosts() == ["10.0.0.3"]


def test_a_moved_endpoint_changes_one_resource() -> None:
    scene = Scene(service_of(), slice_of("a", ("10.0.0.1", READY)))
    changes = scene.book.moved(scene.put(slice_of("a", ("10.0.0.9", READY))))
    assert set(changes) == {(names.ENDPOINTS, "ns/m:80")}
    assert not scene.book.moved(scene.put(slice_of("a", ("10.0.0.9", READY))))


def test_another_protocol_of_a_service_moves_its_routes() -> None:
    scene = Scene(service_of())
    changes = scene.book.moved(scene.put(service_of(appProtocol="kubernetes.io/h2c")))
    assert changes[names.CLUSTER, "ns/m:80"] is None
    assert {key for key, body in changes.items() if body} == {
        (names.CLUSTER, "ns/m:80/h2"),
        (names.ENDPOINTS, "ns/m:80/h2"),
        (names.ROUTES, "public/m"),
    }


def test_it_is_known_what_is_led_to() -> None:
    scene = Scene(service_of())
    assert scene.book.leads_to(M)
    owner = makers.owner("m").ref
    assert scene.book.routes(owner)
    scene.book.update({owner: ()})
    assert not scene.book.leads_to(M)
    assert scene.book.leads_to(Service("ns", "other"))


def test_a_listener_everywhere_takes_both_families() -> None:
    assert listeners.public(80, "::").address.socket_address.ipv4_compat
    assert not listeners.public(80, "0.0.0.0").address.socket_address.ipv4_compat


def test_the_same_routes_are_the_same_bytes_in_any_order() -> None:
    """Replicas hear of owners in different orders, and must agree on versions."""
    routes = [
        makers.route(name, makers.group((f"{name}.example.com", f"*.{name}"), makers.to(name)))
        for name in ("a", "b", "c")
    ]
    one, other = (snapshot.resources(given) for given in (routes, routes[::-1]))
    assert one == other
