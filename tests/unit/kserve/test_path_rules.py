"""Path rules of a service that is internal (spec/kserve-ingress.md 7.3, 7.5 and Q13)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ingressctl.api.refs import Ref
from ingressctl.core.world import World
from ingressctl.plan import cascade
from tests.unit.kserve.components import making

LOCAL = {"networking.knative.dev/visibility": "cluster-local"}
PUBLIC_GATEWAY = "knative-serving/knative-ingress-gateway"


def spec_under(compat: str) -> dict[str, Any]:
    """The VirtualService of an internal service where a pathTemplate is configured."""
    settings = making.settings(compat, assume="ready")
    config = making.config("Knative")
    path = {"pathTemplate": "/serving/{{ .Namespace }}/{{ .Name }}", "ingressDomain": "example.com"}
    ingress = {**making.INGRESS, **path}
    config["data"] = {**config["data"], "ingress": json.dumps(ingress)}
    service = making.service({"predictor": {"model": making.model()}}, labels=LOCAL)
    autoscaler = making.configmap("config-autoscaler", "knative-serving", {})
    done = cascade.run(World.of((config, autoscaler, service)), settings, now=making.NOW)
    found = done.world.get(Ref("networking.istio.io", "VirtualService", "team-a", "iris"))
    assert found is not None
    return dict(found["spec"])


@pytest.mark.parametrize("compat", ["kserve", "better"])
def test_an_internal_service_is_never_at_the_public_gateway(compat: str) -> None:
    assert spec_under(compat)["gateways"] == ["knative-serving/knative-local-gateway", "mesh"]


def test_kserve_writes_dead_path_rules_and_the_shared_host() -> None:
    spec = spec_under("kserve")
    assert spec["hosts"] == ["iris.team-a.svc.cluster.local", "example.com"]
    assert [match["gateways"] for match in spec["http"][-1]["match"]] == [[PUBLIC_GATEWAY]] * 2
    assert "example.com" not in spec_under("better")["hosts"]
