"""Weights that somebody else steers stay as they are stored."""

from __future__ import annotations

from typing import Any

import pytest

from ingressctl.api.refs import Raw, owner_of
from ingressctl.core.ports import Emission
from ingressctl.core.settings import Settings
from ingressctl.core.world import Reads, World
from ingressctl.plan import external
from tests.apiserver import made

OWNER = made.service("iris", annotations={external.ANNOTATION: "external"})


def route(*backends: tuple[str, int | None], timeout: str = "60s") -> dict[str, Any]:
    refs = [
        {
            "kind": "Service",
            "name": name,
            "port": 80,
            **({} if weight is None else {"weight": weight}),
        }
        for name, weight in backends
    ]
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": "iris", "namespace": "team-a"},
        "spec": {"rules": [{"backendRefs": refs, "timeouts": {"request": timeout}}]},
    }


def virtual(*targets: tuple[str, int]) -> dict[str, Any]:
    routes = [
        {"destination": {"host": host, "port": {"number": 80}}, "weight": weight}
        for host, weight in targets
    ]
    return {
        "apiVersion": "networking.istio.io/v1",
        "kind": "VirtualService",
        "metadata": {"name": "iris", "namespace": "team-a"},
        "spec": {"http": [{"route": routes}]},
    }


def merged(wanted: Raw, stored: Raw | None, owner: Raw = OWNER) -> Raw:
    world = World.of([stored] if stored else [])
    reads = Reads(world, Settings(), providers={})
    return external.with_live_weights(
        owner, Emission(owner_of(owner), objects=(wanted,)), reads
    ).objects[0]


def test_the_stored_weights_stay_and_all_else_is_ours() -> None:
    found = merged(route(("a", 90), ("b", 10)), route(("b", 45), ("a", 55), timeout="1s"))
    assert found == route(("a", 55), ("b", 45))
    assert merged(virtual(("a", 90), ("b", 10)), virtual(("a", 20), ("b", 80))) == virtual(
        ("a", 20), ("b", 80)
    )


def test_a_weight_that_is_not_there_is_taken_out() -> None:
    assert merged(route(("a", 100)), route(("a", None))) == route(("a", None))


@pytest.mark.parametrize("stored", [None, route(("a", 50), ("c", 50)), route(("a", 100)), route()])
def test_other_backends_get_the_wanted_weights(stored: Raw | None) -> None:
    """There is nothing that somebody could have steered."""
    wanted = route(("a", 90), ("b", 10))
    assert merged(wanted, stored) == wanted


def test_without_the_annotation_nothing_is_looked_at() -> None:
    wanted = route(("a", 90), ("b", 10))
    assert merged(wanted, route(("a", 1), ("b", 99)), made.service("iris")) is wanted
