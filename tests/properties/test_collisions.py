"""A host and an object have one owner, whoever came first, in every order of things.

The one that holds it keeps it, else the older, else namespace and name; the others say so, and
take over when it goes. A service may want the host of another namespace's, or the object that
another one's component makes.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

import pytest

from ingressctl.api.refs import Raw, Ref
from ingressctl.core import conditions
from ingressctl.core.settings import Settings
from tests.properties import loop
from tests.properties.loop import Loop

SETTINGS = Settings(write=frozenset({"routes", "workloads"}))
ISVC = ("serving.kserve.io", "InferenceService")
FOUR = (
    ("team-a", "iris"),
    ("team-a", "iris-predictor"),  # the name, and the host, of what iris makes
    ("team-b", "iris"),
    ("team-b", "iris-predictor"),
)
ORDERS = 200
TEN = tuple(
    (space, name)
    for space in ("team-a", "team-b")
    for name in ("iris", "iris-predictor", "iris-predictor-predictor", "other", "other-predictor")
)

Place = tuple[str, str]


def base() -> list[Raw]:
    ingress = {
        "enableGatewayApi": True,
        "kserveIngressGateway": "kserve/kserve-ingress-gateway",
        "ingressGateway": "knative-serving/knative-ingress-gateway",
        "ingressDomain": "example.com",
        "domainTemplate": "{{ .Name }}.{{ .IngressDomain }}",
        "urlScheme": "http",
    }
    data = {
        "ingress": json.dumps(ingress),
        "deploy": json.dumps({"defaultDeploymentMode": "Standard"}),
    }
    listener = {
        "name": "http",
        "port": 80,
        "protocol": "HTTP",
        "allowedRoutes": {"namespaces": {"from": "All"}},
    }
    return [
        _object("v1", "ConfigMap", "kserve", "inferenceservice-config", data=data),
        _object(
            "gateway.networking.k8s.io/v1",
            "Gateway",
            "kserve",
            "kserve-ingress-gateway",
            spec={"gatewayClassName": "any", "listeners": [listener]},
        ),
    ]


def service(place: Place) -> Raw:
    container = {"name": "kserve-container", "image": "x", "ports": [{"containerPort": 8080}]}
    spec = {"predictor": {"containers": [container]}}
    return _object("serving.kserve.io/v1beta1", "InferenceService", *place, spec=spec)


def _object(version: str, kind: str, namespace: str, name: str, **rest: Any) -> Raw:
    meta = {"namespace": namespace, "name": name}
    return {"apiVersion": version, "kind": kind, "metadata": meta, **rest}


def ref(place: Place) -> Ref:
    return Ref(*ISVC, *place)


def holders(cluster: Loop) -> Mapping[str, set[Place]]:
    """Who has a route for each public host."""
    found: dict[str, set[Place]] = defaultdict(set)
    for route in cluster.picture.list(loop.ROUTE):
        (owner,) = route["metadata"]["ownerReferences"]
        for host in route["spec"]["hostnames"]:
            if host.endswith(".example.com"):
                found[host].add((route["metadata"]["namespace"], owner["name"]))
    return found


def told(cluster: Loop, place: Place) -> str:
    """What a service says of its routes."""
    status = (cluster.picture.get(ref(place)) or {}).get("status") or {}
    items = {item["type"]: item for item in status.get("conditions") or ()}
    return str(items.get("IngressReady"))


def is_ready(cluster: Loop, place: Place) -> bool:
    status = (cluster.picture.get(ref(place)) or {}).get("status") or {}
    return conditions.stored_status(status, "IngressReady") == "True"


def check(cluster: Loop, wanted: Iterable[Place]) -> None:
    """One owner for each host; whoever has not all that he wants says whose it is."""
    hosts = holders(cluster)
    assert all(len(owners) == 1 for owners in hosts.values()), hosts
    for place in wanted:
        host = f"{place[1]}.example.com"
        holder = next(iter(hosts.get(host, ())), None)
        assert holder is not None, (host, {each: told(cluster, each) for each in wanted})
        if holder != place:
            assert not is_ready(cluster, place), place
            text = told(cluster, place)
            assert "HostInUse" in text or "ObjectNotOwned" in text, text


def started(choose: Random) -> Loop:
    return Loop(SETTINGS, base(), choose)


@pytest.mark.parametrize("order", [*itertools.permutations(FOUR)], ids=str)
def test_four_one_after_the_other(order: tuple[Place, ...]) -> None:
    """Whoever came first holds his host to the end, and each goes over when its holder goes."""
    cluster = started(Random(str(order)))
    there: list[Place] = []
    for second, place in enumerate(order):
        before = holders(cluster)
        cluster.put(loop.created(service(place), second))
        cluster.rest()
        there.append(place)
        check(cluster, there)
        assert before.items() <= holders(cluster).items()
    for place in order:
        cluster.delete(ref(place))
        cluster.rest()
        there.remove(place)
        check(cluster, there)
    assert not holders(cluster)


@pytest.mark.parametrize("times", ["apart", "at once"])
def test_four_at_the_same_time(times: str) -> None:
    """The older one has it, else the first by namespace and name, whoever is looked at first."""
    ends = set()
    for order in itertools.permutations(FOUR):
        cluster = started(Random(str(order)))
        for place in order:
            second = FOUR[::-1].index(place) if times == "apart" else 0
            cluster.put(loop.created(service(place), second))
        cluster.rest()
        check(cluster, FOUR)
        ends.add(frozenset((host, *owners) for host, owners in holders(cluster).items()))
    (end,) = ends
    first = "team-b" if times == "apart" else "team-a"
    assert {owner for _, owner in end} <= {(first, "iris"), (first, "iris-predictor")}


@pytest.mark.parametrize("seed", range(ORDERS))
def test_ten_in_any_order(seed: int) -> None:
    """They come and go while others are looked at; at every rest the rules hold."""
    choose = Random(f"ten {seed}")
    cluster = started(choose)
    there: set[Place] = set()
    for second in range(16):
        before = holders(cluster) if not cluster.busy else {}
        place = choose.choice(TEN)
        gone = {place} if place in there else set()
        if gone:
            cluster.delete(ref(place))
        else:
            cluster.put(loop.created(service(place), second))
        there ^= {place}
        if choose.random() < 0.5:
            continue
        cluster.rest()
        check(cluster, there)
        kept = {host: owners for host, owners in before.items() if not owners & gone}
        assert kept.items() <= holders(cluster).items()
    cluster.rest()
    check(cluster, there)


GRAPHS = ("serving.kserve.io", "InferenceGraph")
ROUTER = {
    "image": "router",
    "memoryRequest": "1Mi",
    "memoryLimit": "1Mi",
    "cpuRequest": "1m",
    "cpuLimit": "1m",
}


def graph(place: Place) -> Raw:
    steps = [{"serviceUrl": "http://model.elsewhere/"}]
    spec = {"nodes": {"root": {"routerType": "Sequence", "steps": steps}}}
    return _object("serving.kserve.io/v1alpha1", "InferenceGraph", *place, spec=spec)


@pytest.mark.parametrize("seed", range(ORDERS // 4))
def test_graphs_and_services_want_the_same_hosts(seed: int) -> None:
    """A host has one owner, of either kind; all others of its name say whose it is.

    A graph's Deployment may be called like that of a service's component: whoever made it
    first has it, and a host whose holder has not got it is served by nobody.
    """
    choose = Random(f"graphs {seed}")
    maps, *others = base()
    maps = {**maps, "data": {**maps["data"], "router": json.dumps(ROUTER)}}
    cluster = Loop(SETTINGS, [maps, *others], choose)
    there: set[tuple[str, Place]] = set()
    for second in range(10):
        kind, place = choose.choice((ISVC, GRAPHS)), choose.choice(FOUR)
        if (kind[1], place) in there:
            cluster.delete(Ref(*kind, *place))
        else:
            make = service if kind == ISVC else graph
            cluster.put(loop.created(make(place), second))
        there ^= {(kind[1], place)}
        if choose.random() < 0.5:
            continue
        cluster.rest()
        _check_kinds(cluster, there)
    cluster.rest()
    _check_kinds(cluster, there)


def _check_kinds(cluster: Loop, there: Iterable[tuple[str, Place]]) -> None:
    found: dict[str, set[tuple[str, Place]]] = defaultdict(set)
    for route in cluster.picture.list(loop.ROUTE):
        (owner,) = route["metadata"]["ownerReferences"]
        place = (route["metadata"]["namespace"], owner["name"])
        for host in route["spec"]["hostnames"]:
            found[host].add((owner["kind"], place))
    assert all(len(owners) == 1 for owners in found.values()), found
    for kind, place in there:
        own, what = f"{place[1]}.example.com", "IngressReady" if kind == ISVC[1] else "RouteReady"
        if found[own] != {(kind, place)}:
            obj = cluster.picture.get(Ref("serving.kserve.io", kind, *place)) or {}
            reason = conditions.stored_reason(obj.get("status") or {}, what)
            assert reason in ("HostInUse", "ObjectNotOwned"), (kind, place, obj.get("status"))
