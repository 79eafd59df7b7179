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

TWO_HOPS = """
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {{name: knative-local-gateway, namespace: default}}
spec:
  selector: {{istio: ingressgateway}}
  servers: [{{port: {{number: 8081, name: http, protocol: HTTP}}, hosts: ["*"]}}]
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {{name: knative-local-gateway, namespace: istio-system}}
spec:
  hosts: [knative-local-gateway.istio-system.svc.cluster.local]
  resolution: STATIC
  ports: [{{name: http, number: 80, protocol: HTTP, targetPort: {port}}}]
  endpoints: [{{address: 127.0.0.1}}]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {{name: outer, namespace: default}}
spec:
  hosts: [outer.istio.test]
  gateways: [istio-system/public]
  http:
  - headers: {{request: {{set: {{Host: inner.default.svc.cluster.local}}}}}}
    route:
    - destination:
        host: knative-local-gateway.istio-system.svc.cluster.local
        port: {{number: 80}}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {{name: inner, namespace: default}}
spec:
  hosts: [inner.default.svc.cluster.local]
  gateways: [knative-local-gateway]
  http:
  - route:
    - {{destination: {{host: first.example, port: {{number: 80}}}}, weight: 80}}
    - {{destination: {{host: second.example, port: {{number: 80}}}}, weight: 20}}
"""
"""As KServe and Knative write them: the second hop is by the same Envoy's local listener."""

REQUESTS = 200

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
def test_two_hops_with_a_split_on_the_second(bed: Bed) -> None:
    bed.apply(ISTIO)
    bed.apply(TWO_HOPS.format(port=bed.gateway.ports[gateways.LOCAL]))
    ask = functools.partial(stub.ask, bed.gateway.address, "/v1", host="outer.istio.test")
    waiting.until("an answer", ask, seconds=30)
    told = [ask() for _ in range(REQUESTS)]
    assert {one["host"] for one in told} == {"inner.default.svc.cluster.local"}
    seconds = sum(one["name"] == "second" for one in told)
    assert abs(seconds - REQUESTS * 0.2) < 5 * (REQUESTS * 0.2 * 0.8) ** 0.5


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
