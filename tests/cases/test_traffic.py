"""The judgement of traffic: every key holds for the right value and fails for a wrong one."""

from __future__ import annotations

from typing import Any

import pytest

from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from tests.cases import comparing, traffic

WORLD = World.of(
    comparing.documents("""
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: m, namespace: ns}
spec:
  hosts: [m.example.com]
  gateways: [edge/public]
  http:
  - match: [{uri: {prefix: /v1/}}]
    rewrite: {uri: /v2/, authority: inner}
    headers: {request: {set: {X-Model: m}}}
    route:
    - {destination: {host: a.ns.svc.cluster.local, port: {number: 80}}, weight: 30}
    - {destination: {host: b.ns.svc.cluster.local, port: {number: 80}}, weight: 70}
  - match: [{headers: {content-type: {prefix: application/grpc}}}]
    route: [{destination: {host: g.ns.svc.cluster.local, port: {number: 9000}}}]
""")
)
A, B = "a.ns.svc.cluster.local:80", "b.ns.svc.cluster.local:80"
G = "g.ns.svc.cluster.local:9000"
SPLIT = {"method": "GET", "host": "m.example.com", "path": "/v1/x"}
NOWHERE = {"method": "GET", "host": "m.example.com", "path": "/other"}
GRPC = {"grpc": "pkg.Service/Call", "host": "m.example.com"}


def judge(request: dict[str, Any], expect: dict[str, Any], **more: Any) -> list[str]:
    entry = {"via": "gateway edge/public", "request": request, "expect": expect, **more}
    return traffic.judge([entry], WORLD, Settings())


@pytest.mark.parametrize(
    ("request_", "right", "wrong"),
    [
        (SPLIT, {"status": 200}, {"status": 404}),
        (NOWHERE, {"status": 404}, {"status": 200}),
        (NOWHERE, {"statusIn": [404, 503]}, {"statusIn": [200]}),
        (NOWHERE, {"statusNotIn": [200]}, {"statusNotIn": [404]}),
        (GRPC, {"grpcStatus": 0}, {"grpcStatus": 12}),
        (GRPC, {"backend": G}, {"backend": A}),
        (GRPC, {"path": "/pkg.Service/Call"}, {"path": "/"}),
        (SPLIT, {"hostHeader": "inner"}, {"hostHeader": "m.example.com"}),
        (SPLIT, {"path": "/v2/x"}, {"path": "/v1/x"}),
        (SPLIT, {"headers": {"x-model": "m"}}, {"headers": {"X-Model": "n"}}),
        (SPLIT, {"headersIn": {"x-model": ["m", "n"]}}, {"headersIn": {"x-model": ["n"]}}),
        (SPLIT, {"share": {A: 0.3, B: [0.6, 0.8]}}, {"share": {A: 0.5}}),
        (SPLIT, {"share": {G: 0}}, {"share": {G: [0.1, 1]}}),
    ],
)
def test_every_key(request_: dict[str, Any], right: dict[str, Any], wrong: dict[str, Any]) -> None:
    assert judge(request_, right) == []
    assert judge(request_, wrong)


def test_one_backend_does_not_hold_for_a_split() -> None:
    assert len(judge(SPLIT, {"backend": A})) == 1


def test_nothing_seen_is_a_fault() -> None:
    assert judge(NOWHERE, {"path": "/other"}) == [
        "gateway edge/public: GET m.example.com/other: path: no backend gets it, status 404"
    ]


@pytest.mark.parametrize(
    ("more", "expect"),
    [
        ({"stub": {"status": 500}}, {}),
        ({"start": "ready"}, {}),
        ({}, {"sticky": A}),
        ({}, {"backendCalls": 1}),
        ({}, {"responseHeaders": {"a": "b"}}),
    ],
)
def test_what_needs_a_running_proxy_is_a_fault_not_a_skip(
    more: dict[str, Any], expect: dict[str, Any]
) -> None:
    assert judge(SPLIT, expect, **more)


def test_unknown_words_raise() -> None:
    for request_, expect, more in (
        ({**SPLIT, "body": "x"}, {}, {}),
        (SPLIT, {"stauts": 200}, {}),
        (SPLIT, {}, {"repeats": 2}),
    ):
        with pytest.raises(ValueError, match="has no field"):
            judge(request_, expect, **more)
    entry = {"via": "door x", "request": SPLIT, "expect": {}}
    with pytest.raises(ValueError, match="cannot come via"):
        traffic.judge([entry], WORLD, Settings())


def test_a_request_without_scheme_comes_by_the_listener_that_has_its_host() -> None:
    gateway = comparing.documents("""
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: public, namespace: edge}
spec:
  selector: {istio: ingressgateway}
  servers: [{hosts: ['*'], tls: {mode: SIMPLE}, port: {number: 443, protocol: HTTPS}}]
""")
    world = World.of((*WORLD, *gateway))
    entry = {"via": "gateway edge/public", "request": SPLIT, "expect": {"status": 200}}
    assert traffic.judge([entry], world, Settings()) == []
    other = {**entry, "request": {**SPLIT, "host": "x.example.com"}}
    assert len(traffic.judge([other], world, Settings())) == 1


@pytest.mark.parametrize("port", [80, 443, 8081])
def test_a_request_comes_by_whatever_port_the_gateway_has(port: int) -> None:
    """A case names the Gateway, not the port; Knative's local one listens on 8081."""
    gateway = comparing.documents(f"""
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {{name: public, namespace: edge}}
spec:
  servers: [{{hosts: ["*"], port: {{number: {port}, name: web, protocol: HTTP}}}}]
""")
    entry = {"via": "gateway edge/public", "request": SPLIT, "expect": {"status": 200}}
    assert traffic.judge([entry], WORLD.overlay(gateway), Settings()) == []
