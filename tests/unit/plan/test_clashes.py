"""Two services that want one object: who has it, and what is told (Q50)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ingressctl.api.refs import Raw, Ref, controller_of
from ingressctl.core import findings as table
from ingressctl.core.outcome import Finding
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import cascade, findings
from tests.unit.findings.objects import config, knative, standard

NOW = datetime(2026, 1, 1, tzinfo=UTC)
READY = Settings(assume="ready")
HTTP_ROUTE = ("gateway.networking.k8s.io", "HTTPRoute")
OLD, NEW = "2025-01-01T00:00:00Z", "2025-06-01T00:00:00Z"
BEHIND = {"transformer": {"containers": [{"name": "kserve-container", "image": "t"}]}}
CANARY = {
    "canary": [
        {
            "trafficPercent": 20,
            "predictor": {"name": "v2", "model": {"modelFormat": {"name": "sklearn"}}},
        }
    ]
}


def bare(obj: Raw) -> Raw:
    return {key: value for key, value in obj.items() if key != "status"}


def run(*services: Raw) -> tuple[cascade.Cascade, list[Finding]]:
    world = World.of((config(enableGatewayApi=True), *map(bare, services)))
    done = cascade.run(world, READY, now=NOW)
    found = findings.find(done, base=world, settings=READY)
    return done, [item for item in found if item.code == "IC2004"]


def holder(done: cascade.Cascade, kind: tuple[str, str], name: str) -> Any:
    owner = controller_of(done.world.get(Ref(*kind, "team-a", name)) or {})
    return owner and owner["name"]


@pytest.mark.parametrize(("first", "second"), [(OLD, NEW), (NEW, OLD)])
def test_the_older_service_has_the_object_and_both_are_named(first: str, second: str) -> None:
    done, found = run(
        standard("a", spec=BEHIND, created=first), standard("a-transformer", created=second)
    )
    older, younger = ("a", "a-transformer") if first == OLD else ("a-transformer", "a")
    assert done.passes < cascade.MAX_PASSES
    assert holder(done, HTTP_ROUTE, "a-transformer") == older
    texts = [table.message(item) for item in found]
    assert any(
        f"HTTPRoute team-a/a-transformer is wanted by InferenceService team-a/{older} "
        f"and by InferenceService team-a/{younger}:" in text
        for text in texts
    ), texts


def test_knatives_own_service_and_an_alias_clash() -> None:
    _, found = run(knative("iris", created=OLD), knative("iris-predictor", created=NEW))
    assert [table.message(item).partition(" is ")[0] for item in found] == [
        "Service team-a/iris-predictor"
    ]


def test_a_canary_and_the_predictor_of_another_service_clash() -> None:
    done, found = run(standard("a", spec=CANARY, created=NEW), standard("a-v2", created=OLD))
    assert any("Service team-a/a-v2-predictor" in table.message(item) for item in found)
    assert holder(done, ("", "Service"), "a-v2-predictor") == "a-v2"


def test_names_that_only_look_alike_do_not() -> None:
    done, found = run(standard("a", spec=BEHIND), standard("a-transformer-2"), standard("a-v2"))
    assert not found
    assert holder(done, HTTP_ROUTE, "a-transformer") == "a"
