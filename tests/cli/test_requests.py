"""The requests that preview lists are answered by what it would emit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import run

MODEL = Path(__file__).parent / "inputs" / "model.yaml"
OUTSIDE = "churn-team-a.example.com"
INSIDE = "churn-predictor.team-a.svc.cluster.local"
GATEWAY = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: kserve-ingress-gateway, namespace: kserve}
spec:
  gatewayClassName: some
  listeners:
  - name: http
    port: 80
    protocol: HTTP
    hostname: "%s"
    allowedRoutes: {namespaces: {from: All}}
"""


def listed(*words: str | Path) -> str:
    """What preview says about requests, over nothing."""
    done = run("preview", *words, "--against", "none", "-o", "human")
    return done.out.partition("requests that work:\n")[2]


def stable(folder: Path, *changes: tuple[str, str]) -> Path:
    """The model without its canary, and with some texts replaced."""
    text = MODEL.read_text().partition("  canary:")[0]
    for old, new in changes:
        text = text.replace(old, new)
    (folder / "m.yaml").write_text(text)
    return folder / "m.yaml"


def test_a_plain_model_has_a_request_from_outside_and_one_inside() -> None:
    said = listed("-f", MODEL)
    assert f"POST http://{OUTSIDE}/v1/models/churn:predict\n" in said
    assert f"POST http://{INSIDE}/v1/models/churn:predict (in the cluster)\n" in said


@pytest.mark.parametrize("provider", ["ingress", "traefik"])
def test_a_provider_that_makes_no_route_has_no_request(tmp_path: Path, provider: str) -> None:
    knative = stable(tmp_path, ("Standard", "Knative"))
    assert "POST http://churn.team-a.example.com/" in listed("-f", knative)
    assert listed("-f", knative, "--provider", provider) == ""


@pytest.mark.parametrize(("hostname", "answered"), [("*.example.com", True), ("*.x.org", False)])
def test_a_host_that_no_listener_admits_is_not_listed(
    tmp_path: Path, hostname: str, answered: bool
) -> None:
    gateway = tmp_path / "gateway.yaml"
    gateway.write_text(GATEWAY % hostname)
    said = listed("-f", MODEL, "-f", gateway, "--provider", "gateway_api")
    assert (OUTSIDE in said) is answered
    assert INSIDE in said  # a Service needs no listener


def test_a_model_of_grpc_has_a_method_and_no_path(tmp_path: Path) -> None:
    model = stable(tmp_path, ("name: sklearn", "name: triton\n      protocolVersion: grpc-v2"))
    said = listed("-f", model)
    assert f"grpc {OUTSIDE} inference.GRPCInferenceService/ModelInfer\n" in said
    assert "POST" not in said
