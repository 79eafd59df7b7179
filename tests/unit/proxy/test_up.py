"""What `up` says of the provider that the configuration chooses, which is not what serves."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ingressctl.core import findings
from ingressctl.core.outcome import Origin
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import overlay, registry
from ingressctl.plan.manifests import Document
from ingressctl.proxy.local import Input
from ingressctl.proxy.up import Options, Up


def service(**predictor: Any) -> dict[str, Any]:
    """A service that counts as ready."""
    containers = [{"name": "kserve-container", "image": "m"}]
    return {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": "m", "namespace": "ns"},
        "spec": {"predictor": {"containers": containers, **predictor}},
    }


def configuration(**ingress: Any) -> dict[str, Any]:
    """KServe's ConfigMap for Standard mode."""
    given = {"ingressGateway": "a/b", "kserveIngressGateway": "a/c", **ingress}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "inferenceservice-config", "namespace": "kserve"},
        "data": {
            "ingress": json.dumps(given),
            "deploy": '{"defaultDeploymentMode": "Standard"}',
        },
    }


def lost(*objects: dict[str, Any]) -> tuple[str, ...]:
    """What is said at the start."""
    documents = [Document(obj, Origin("m.yaml", 1)) for obj in objects]
    laid = overlay.lay(World({}), documents, namespace="default", named=False)
    read = Input(laid, Settings(assume="ready"), registry.providers())
    up = Up(
        Options(load=lambda: read),
        lambda _: None,
        lambda _: None,
        lambda finding: [findings.message(finding)],
    )
    return up.lost(up.derive())


def test_what_the_configured_provider_would_lose_is_told_behind_its_name() -> None:
    first, *others = lost(service(timeout=30), configuration())
    assert first == (
        "serving with Envoy; provider ingress, which the configuration chooses, would lose:"
    )
    assert any("cannot express" in line and "timeout 30s" in line for line in others)


@pytest.mark.parametrize(
    "chosen", [{"enableGatewayApi": True}, {"provider": {"Standard": "envoy"}}]
)
def test_a_provider_that_loses_nothing_is_not_talked_about(chosen: dict[str, Any]) -> None:
    assert lost(service(timeout=30), configuration(**chosen)) == ()
