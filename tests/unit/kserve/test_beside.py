"""Beside a KServe that keeps the workloads: its switches off, our routes on."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ingressctl.api.refs import Raw
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import cascade
from tests.bench import worlds

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def kinds(mode: str, *, beside: bool, **switches: bool) -> set[str]:
    """Kinds of the routing objects that one service of that mode gets."""
    service = worlds.service(1)
    objects: list[Raw] = [worlds.config(mode, **switches), worlds.autoscaler(), worlds.runtime()]
    settings = Settings(assume="ready", beside_kserve=beside)
    done = cascade.run(World.of([*objects, service]), settings, now=NOW)
    return {str(obj["kind"]) for step in done.steps for obj in step.emission.objects}


@pytest.mark.parametrize(
    ("mode", "switch", "made"),
    [
        ("Knative", "disableIstioVirtualHost", {"VirtualService", "Service"}),
        ("Standard", "disableIngressCreation", {"HTTPRoute"}),
    ],
)
def test_the_switches_of_kserve_are_its_own(mode: str, switch: str, made: set[str]) -> None:
    assert kinds(mode, beside=False, **{switch: True}) == set()
    assert kinds(mode, beside=True, **{switch: True}) == made
