"""An Ingress whose class does not exist is served by nobody (F57, Q3)."""

from __future__ import annotations

from typing import Any

from ingressctl.core.differences import Compat
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import cascade
from ingressctl.sources.kserve import reconcile as kserve
from tests.unit.findings.objects import Obj, config, obj, service, standard
from tests.unit.kserve.components import making

SOURCES = {("serving.kserve.io", "InferenceService"): kserve.reconcile_routes}


def ingress_ready(compat: str, *classes: str) -> dict[str, Any]:
    """The condition of a service whose configured class is nginx."""
    known: list[Obj] = [obj("networking.k8s.io/v1", "IngressClass", name, "") for name in classes]
    world = World.of([config(), service(), standard(), *known])
    settings = Settings(compat=Compat.parse(compat))
    done = cascade.run(world, settings, now=making.NOW, sources=SOURCES)
    status = done.steps[-1].outcome.status
    assert status is not None
    assert done.world.list(("networking.k8s.io", "Ingress"))
    return next(item for item in status["conditions"] if item["type"] == "IngressReady")


def test_ready_while_the_class_exists_or_none_is_known() -> None:
    assert ingress_ready("better", "nginx", "traefik")["status"] == "True"
    assert ingress_ready("better")["status"] == "True"


def test_not_ready_while_only_other_classes_exist() -> None:
    condition = ingress_ready("better", "traefik")
    assert condition["status"] == "False"
    assert condition["reason"] == "IngressClassNotFound"
    assert "nginx" in condition["message"]


def test_kserve_takes_it_for_served() -> None:
    assert ingress_ready("kserve", "traefik")["status"] == "True"
