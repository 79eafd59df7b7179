"""Routes to xDS resources, without an Envoy."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingressctl.api.refs import Raw, Ref
from ingressctl.core import findings
from ingressctl.core.model import External, Host, Route, Service, Tls
from ingressctl.core.settings import Settings
from ingressctl.core.values import replace
from ingressctl.core.world import Reads, World
from ingressctl.providers import envoy
from ingressctl.providers.envoy import durations, names, places, reading, snapshot
from ingressctl.providers.envoy.facts import Address, Unknown, WorldFacts
from tests.envoy import makers

labels = st.from_regex(r"[a-z]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
hosts = st.lists(labels, min_size=1, max_size=4).map(".".join)
READS = Reads(World.of(()), Settings(), providers={})


@given(labels, labels, st.integers(1, 65535), st.booleans())
def test_clusters_of_services_can_be_read_back(
    namespace: str, name: str, port: int, h2: bool
) -> None:
    upstream = names.Upstream(Service(namespace, name), port, h2)
    assert names.upstream(upstream.name) == upstream


@given(hosts, st.sampled_from(["", "knative-serving/local"]), st.integers(1, 65535))
def test_clusters_of_external_targets_can_be_read_back(host: str, entry: str, port: int) -> None:
    upstream = names.Upstream(External(host, entry), port, h2=False)
    assert names.upstream(upstream.name) == upstream


def test_foreign_cluster_names_are_told_apart() -> None:
    with pytest.raises(ValueError, match="not named"):
        names.upstream("some_service")


@given(st.integers(0, 10**15))
def test_durations_survive(length: int) -> None:
    assert durations.nanoseconds(durations.text(length)) == length


@pytest.mark.parametrize(
    ("text", "seconds"), [("0s", 0), ("1m30s", 90), ("1.5h", 5400), ("250ms", 0.25), ("0", 0)]
)
def test_go_durations_are_understood(text: str, seconds: float) -> None:
    assert durations.nanoseconds(text) == seconds * 10**9


@pytest.mark.parametrize("text", ["", "5", "s", "1s ", "-1s", "1d"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no duration"):
        durations.nanoseconds(text)


@pytest.mark.parametrize("reach", ["host", "entry"])
def test_private_hosts_never_meet_the_public_listener(reach: str) -> None:
    """A host is private by itself or by the entry that it is for."""
    entry = makers.LOCAL if reach == "entry" else makers.PUBLIC
    group = makers.group("m.ns.svc.cluster.local", makers.to("m"), entry=entry)
    if reach == "host":
        group = replace(group, hosts=(Host("m.ns.svc.cluster.local", reach="local"),))
    found = places.tenants([makers.route("m", group)])
    assert {place.listener for place in found} == {names.LOCAL}


def shared(name: str, path: str, created: str = "") -> Route:
    group = makers.group("example.com", makers.to(name, matches=makers.below(path)))
    group = replace(group, hosts=(Host("example.com", origin="shared"),))
    return makers.route(name, group, created=created)


def test_a_shared_host_serves_everybody_longest_path_first() -> None:
    table = reading.table(snapshot.resources([shared("a", "/x"), shared("b", "/x/y")]))
    assert [rule.name for rule in table.hosts[0].rules] == ["to-b", "to-a"]


def test_a_host_that_is_refused_is_a_finding() -> None:
    """The older owner is served; the other is told, with the holder's name."""
    old = makers.route("old", makers.group("m.org", makers.to("old")), created="2026-01-01")
    young = makers.route("young", makers.group("M.org", makers.to("young")), created="2026-02-01")
    emissions = [envoy.provider.emit((route,), reads=READS) for route in (young, old)]
    (finding,) = envoy.provider.merge(emissions).findings
    assert (finding.code, finding.refs[0].name) == ("IC4201", "young")
    assert "ns/old" in findings.message(finding)


def test_certificates_are_told_to_be_left_out() -> None:
    route = replace(
        makers.route("m", makers.group("m.org", makers.to("m"))), tls=(Tls(("m.org",), "s"),)
    )
    emission = envoy.provider.emit((route,), reads=READS)
    assert [finding.code for finding in emission.findings] == ["IC4202"]


def test_merged_objects_read_back_as_what_is_served() -> None:
    routes = [
        makers.route("m", makers.group(("m.org", "*.m.org"), makers.to("m", timeout="5s"))),
        shared("a", "/x"),
    ]
    merged = envoy.provider.merge(envoy.provider.emit((item,), reads=READS) for item in routes)
    assert envoy.provider.read(merged.objects, reads=READS) == reading.table(
        snapshot.resources(routes)
    )


def random_route(choose: random.Random, name: str) -> Route:
    """One of few hosts, some shared by several owners, some with wildcards, some private."""
    host = choose.choice(["a.org", "b.org", "*.org", "*.b.org", f"{name}.org"])
    weight = choose.randrange(101)
    rule = makers.rule(
        "r", makers.split(choose.choice("xyz"), weight), makers.split("c", 100 - weight)
    )
    entry = choose.choice([makers.PUBLIC, makers.PUBLIC, makers.LOCAL])
    return makers.route(name, makers.group(host, rule, entry=entry), created=f"2026-{name}")


@pytest.mark.parametrize("seed", range(50))
def test_a_history_of_changes_ends_where_a_fresh_start_does(seed: int) -> None:
    """Nothing that an owner had is left behind, and nothing is missing."""
    choose = random.Random(seed)
    book, present, wire = snapshot.Book(Unknown(), port=1), {}, {}
    for _ in range(30):
        name = choose.choice(["m1", "m2", "m3", "m4"])
        route = random_route(choose, name) if choose.random() < 0.8 else None
        present[name] = route
        owned = {makers.owner(name).ref: (route,) if route else ()}
        wire |= book.update(owned)
        fresh = snapshot.resources([item for item in present.values() if item], port=1)
        assert {key: body for key, body in wire.items() if body is not None} == fresh
        assert book.resources == fresh
        assert not book.update(owned), "the same again is no change"


def slice_of(service: str, *ports: dict[str, Any], ready: bool = True) -> Raw:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": f"{service}-1",
            "namespace": "ns",
            "labels": {"kubernetes.io/service-name": service},
        },
        "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": ready}}],
        "ports": list(ports),
    }


def service_of(name: str, *ports: dict[str, Any]) -> Raw:
    metadata = {"name": name, "namespace": "ns"}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": ports}}


@pytest.mark.parametrize(
    ("port", "slice_ports", "wanted"),
    [
        ({"name": "http", "port": 80}, [{"name": "http", "port": 8080}], 8080),
        ({"name": "http", "port": 80}, [{"name": "x", "port": 1}, {"name": "http", "port": 2}], 2),
        ({"port": 80, "targetPort": 9000}, [{"port": 9000}], 9000),
        ({"name": "http", "port": 80}, [{"name": "a", "port": 1}, {"name": "b", "port": 2}], 0),
    ],
)
def test_addresses_come_from_slices_by_port(
    port: dict[str, Any], slice_ports: list[dict[str, Any]], wanted: int
) -> None:
    facts = WorldFacts.of(World.of([service_of("m", port), slice_of("m", *slice_ports)]))
    found = facts.addresses(Service("ns", "m"), 80)
    assert found == ((Address("10.0.0.1", wanted),) if wanted else ())


def test_endpoints_that_are_not_ready_get_nothing() -> None:
    port = {"name": "http", "port": 80}
    world = World.of([service_of("m", port), slice_of("m", port, ready=False)])
    assert WorldFacts.of(world).addresses(Service("ns", "m"), 80) == ()


@pytest.mark.parametrize(
    ("port", "h2"),
    [
        ({"name": "http", "port": 80}, False),
        ({"name": "grpc-predict", "port": 80}, True),
        ({"name": "h2c", "port": 80}, True),
        ({"name": "http2-x", "port": 80}, True),
        ({"name": "p", "port": 80, "appProtocol": "kubernetes.io/h2c"}, True),
        ({"name": "grpc", "port": 80, "appProtocol": "http"}, False),
    ],
)
def test_the_protocol_of_a_port_is_its_own_word(port: dict[str, Any], h2: bool) -> None:
    facts = WorldFacts.of(World.of([service_of("m", port)]))
    assert facts.h2(Service("ns", "m"), 80) is h2


def test_another_protocol_moves_the_routes_to_another_cluster() -> None:
    """The facts of a port change: its tables follow, although their routes did not."""
    route = makers.route("m", makers.group("m.org", makers.to("m")))
    book = snapshot.Book(WorldFacts.of(World.of([service_of("m", {"port": 80})])), port=1)
    owned = {route.owner.ref: (route,)}
    book.replace(owned, book.facts)
    port = {"port": 80, "appProtocol": "grpc"}
    changes = book.replace(owned, WorldFacts.of(World.of([service_of("m", port)])))
    assert {key for key, body in changes.items() if body is None} == {
        (names.CLUSTER, "ns/m:80"),
        (names.ENDPOINTS, "ns/m:80"),
    }
    assert (names.ROUTES, "public/m.org") in changes


def test_every_route_names_its_source() -> None:
    table = reading.table(
        snapshot.resources([makers.route("m", makers.group("m.org", makers.to("m")))])
    )
    assert table.hosts[0].rules[0].source == Ref("serving.kserve.io", "InferenceService", "ns", "m")
