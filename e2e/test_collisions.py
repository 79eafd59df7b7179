"""Hosts and objects that several services want, on a real API server: one has each, and the
others say so, and take over when it goes. Every order is tried in tests/properties."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from threading import Event, Thread
from typing import Any

import pytest

from e2e import charts, controllers
from e2e.bed import bed as beds
from e2e.bed.bed import Bed
from e2e.bench import cluster
from e2e.controllers import Controller
from e2e.test_controller import (
    FLAGS,
    VALUES,
    apply,
    condition,
    config,
    eventually,
    gateway,
    get,
    service,
)

PARTS = (beds.CRDS,)
"""No controllers beside: Deployments are said to be available, and owned objects removed, here."""

A, B = "team-a", "team-b"
ORDERS = (
    ((A, "iris"), (A, "iris-predictor"), (B, "iris"), (B, "iris-predictor")),
    ((B, "iris-predictor"), (A, "iris"), (B, "iris"), (A, "iris-predictor")),
    ((A, "iris-predictor"), (B, "iris"), (B, "iris-predictor"), (A, "iris")),
)
"""Two namespaces with the same hosts; the route of one's predictor is named as the other."""

Place = tuple[str, str]


@pytest.fixture(scope="module")
def controller(bed: Bed) -> Controller:
    charts.need_helm()
    charts.make_namespaces(bed)
    apply(bed, config(domainTemplate="{{ .Name }}.{{ .IngressDomain }}"), gateway())
    return controllers.started(bed, *FLAGS, values=VALUES)


@pytest.fixture(scope="module", autouse=True)
def _others(bed: Bed) -> Iterator[None]:
    """Deployments become available and routes accepted as soon as they are there."""
    ended = Event()

    async def mark() -> None:
        async with cluster.connected(bed.kubeconfig) as client:
            marking = asyncio.create_task(cluster.Marker(client).run())
            while not ended.is_set():
                await asyncio.sleep(0.1)
            marking.cancel()
            await asyncio.gather(marking, return_exceptions=True)

    thread = Thread(target=lambda: asyncio.run(mark()))
    thread.start()
    yield
    ended.set()
    thread.join()


def holders(bed: Bed) -> dict[str, set[Place]]:
    """Who has a route for each public host."""
    found: dict[str, set[Place]] = {}
    for route in json.loads(bed.kubectl("get", "httproutes", "-A", "-o=json"))["items"]:
        meta = route["metadata"]
        for host in route["spec"]["hostnames"]:
            if host.endswith(".example.com"):
                owner = (meta["namespace"], meta["ownerReferences"][0]["name"])
                found.setdefault(host, set()).add(owner)
    return found


def says(bed: Bed, place: Place) -> str:
    """Why the routes of a service are not as it wants them; "" when they are."""
    obj: dict[str, Any] = get(bed, "inferenceservice", place[1], place[0]) or {}
    if condition(obj, "IngressReady") == "True":
        return ""
    told = (obj.get("status") or {}).get("conditions") or ()
    return next((str(item) for item in told if item["type"] == "IngressReady"), "nothing yet")


def settled(bed: Bed, there: list[Place]) -> bool:
    """Whether each host has one owner, and each service is ready or says whose its host is."""
    hosts = holders(bed)
    texts = {place: says(bed, place) for place in there}
    return all(
        len(hosts.get(f"{name}.example.com", ())) == 1
        and (not texts[space, name] or any(word in texts[space, name] for word in TOLD))
        and ((space, name) in hosts[f"{name}.example.com"] or bool(texts[space, name]))
        for space, name in there
    )


def remove(bed: Bed, place: Place) -> None:
    """A service goes, and with it what it owns."""
    namespace, name = place
    uid = get(bed, "inferenceservice", name, namespace)["metadata"]["uid"]
    bed.kubectl("delete", "inferenceservice", name, "-n", namespace)
    kinds = "httproutes.gateway.networking.k8s.io,services,deployments"
    for obj in json.loads(bed.kubectl("get", kinds, "-n", namespace, "-o=json"))["items"]:
        meta = obj["metadata"]
        if any(owner["uid"] == uid for owner in meta.get("ownerReferences") or ()):
            bed.kubectl("delete", obj["kind"], meta["name"], "-n", namespace, "--ignore-not-found")


TOLD = ("HostInUse", "ObjectNotOwned")


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: "-".join("/".join(p) for p in order))
def test_four_that_collide(bed: Bed, controller: Controller, order: tuple[Place, ...]) -> None:
    there: list[Place] = []
    for space, name in order:
        before = holders(bed)
        apply(bed, service(name, space))
        there.append((space, name))
        eventually(f"rest with {there}", lambda: settled(bed, there))
        assert before.items() <= holders(bed).items()
    for space, name in order:
        remove(bed, (space, name))
        there.remove((space, name))
        eventually(f"take over by {there}", lambda: settled(bed, there))
    eventually("nothing is left", lambda: not holders(bed))
    controller.check()
