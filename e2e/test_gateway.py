"""Requests through a real istiod and a real Envoy arrive where the routes say."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator

import pytest

from e2e import stub
from e2e.bed import gateways, waiting
from e2e.bed.bed import GATEWAY, Bed

PARTS = (GATEWAY,)

SERVICE = """
apiVersion: v1
kind: Service
metadata: {{name: {name}, namespace: default}}
spec: {{selector: {{app: {name}}}, ports: [{{name: http, port: 80}}]}}
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {{name: {name}, namespace: default}}
spec: {{address: 127.0.0.1, labels: {{app: {name}}}, ports: {{http: {port}}}}}
"""
"""Its endpoint is a stub on loopback, which an EndpointSlice would refuse."""

ENTRY = """
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {{name: {name}, namespace: default}}
spec:
  hosts: [{name}.example]
  resolution: STATIC
  ports: [{{name: http, number: 80, protocol: HTTP, targetPort: {port}}}]
  endpoints: [{{address: 127.0.0.1}}]
"""

ISTIO = """
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: public, namespace: istio-system}
spec:
  selector: {istio: ingressgateway}
  servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ["*.istio.test"]}]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: model, namespace: default}
spec:
  hosts: [model.istio.test]
  gateways: [istio-system/public]
  http:
  - match: [{uri: {prefix: /v2}}]
    route: [{destination: {host: second.example, port: {number: 80}}}]
  - route: [{destination: {host: first.example, port: {number: 80}}}]
"""

GATEWAY_API = f"""
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: public, namespace: istio-system}}
spec:
  gatewayClassName: istio
  addresses: [{{type: Hostname, value: {gateways.HERE.hostname}}}]
  listeners:
  - {{name: http, port: 80, protocol: HTTP, allowedRoutes: {{namespaces: {{from: All}}}}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: model, namespace: default}}
spec:
  parentRefs: [{{name: public, namespace: istio-system}}]
  hostnames: [model.gateway.test]
  rules: [{{backendRefs: [{{name: third, port: 80}}]}}]
"""


@pytest.fixture(scope="module")
def stubs(bed: Bed) -> Iterator[None]:
    with (
        stub.serving("first") as first,
        stub.serving("second") as second,
        stub.serving("third") as third,
    ):
        bed.apply(ENTRY.format(name="first", port=first))
        bed.apply(ENTRY.format(name="second", port=second))
        bed.apply(SERVICE.format(name="third", port=third))
        yield


@pytest.mark.usefixtures("stubs")
def test_a_virtual_service_routes_to_service_entries(bed: Bed) -> None:
    bed.apply(ISTIO)
    ask = functools.partial(stub.ask, bed.gateway.address, host="model.istio.test")
    waiting.until("an answer", lambda: ask("/v1/models"), seconds=30)
    assert ask("/v1/models") == {"name": "first", "path": "/v1/models", "host": "model.istio.test"}
    assert ask("/v2/models")["name"] == "second"
    assert stub.ask(bed.gateway.address, "/", host="other.istio.test") == {}


@pytest.mark.usefixtures("stubs")
def test_an_http_route_is_accepted_and_routes(bed: Bed) -> None:
    """Also to a Service, as users write it."""
    bed.apply(GATEWAY_API)
    kind = "gateway.gateway.networking.k8s.io"
    words = ("wait", kind, "public", "-n", "istio-system", "--for=condition=Programmed")
    bed.kubectl(*words, "--timeout=30s")
    ask = functools.partial(stub.ask, bed.gateway.address, host="model.gateway.test")
    assert waiting.until("an answer", lambda: ask("/v1"), seconds=30)["name"] == "third"
    route = json.loads(bed.kubectl("get", "httproute", "model", "-o", "json"))
    (parent,) = route["status"]["parents"]
    told = {condition["type"]: condition["status"] for condition in parent["conditions"]}
    assert (told["Accepted"], told["ResolvedRefs"]) == ("True", "True")
