"""Pods behind a real gateway: it finds them by their Service, and they find it by its own."""

from __future__ import annotations

import functools

from e2e import stub
from e2e.bed import bed as beds
from e2e.bed import gateways, waiting
from e2e.bed.bed import Bed
from e2e.pods import objects
from e2e.pods.running import Pods

PARTS = (beds.CONTROLLERS, beds.GATEWAY)
HOST = "model.istio.test"

ROUTES = f"""
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {{name: public, namespace: istio-system}}
spec:
  selector: {{istio: ingressgateway}}
  servers: [{{port: {{number: 80, name: http, protocol: HTTP}}, hosts: ["*"]}}]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {{name: model, namespace: default}}
spec:
  hosts: [{HOST}, {gateways.HERE.hostname}]
  gateways: [istio-system/public]
  http: [{{route: [{{destination: {{host: model, port: {{number: 80}}}}}}]}}]
"""


def test_requests_come_through_the_gateway(bed: Bed, pods: Pods) -> None:
    """From the host to every pod of the Service; from a pod by the Service of the gateway."""
    bed.apply(objects.text(*objects.echo("model", replicas=2)))
    bed.apply(ROUTES)
    bed.kubectl("rollout", "status", "deployment/model", "--timeout=50s")
    ask = functools.partial(stub.ask, bed.gateway.address, "/", host=HOST)
    waiting.until("an answer", ask, seconds=30)
    listed = bed.kubectl("get", "pods", "-l", "app=model", "-o", "name").split()
    names = {name.removeprefix("pod/") for name in listed}

    def has_met_all() -> bool:
        return {ask()["pod"] for _ in range(10)} == names

    waiting.until("answers of both pods", has_met_all, seconds=30)
    (one, *_) = names
    seen = pods.fetch("default", one, f"http://{gateways.HERE.hostname}/by-the-gateway")
    assert seen["path"] == "/by-the-gateway"
    assert "x-request-id" in seen["headers"]
