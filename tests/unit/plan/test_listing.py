"""Tables of routes and of kinds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ingressctl.core.settings import Settings
from ingressctl.core.world import Reads, World
from ingressctl.plan import columns, kindnames, listing, registry

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def virtual_service(**http: Any) -> dict[str, Any]:
    return {
        "apiVersion": "networking.istio.io/v1",
        "kind": "VirtualService",
        "metadata": {"name": "v", "namespace": "a"},
        "spec": {"hosts": ["x.org"], "gateways": ["b/gate"], "http": [http]},
    }


def rows(*objects: dict[str, Any]) -> tuple[listing.Row, ...]:
    reads = Reads(World.of(objects), Settings(), providers=registry.providers())
    return listing.rows(listing.tables(reads), reads)


def test_a_backend_is_a_row_with_its_share() -> None:
    found = rows(
        virtual_service(
            match=[{"uri": {"prefix": "/v1"}, "headers": {"x-user": {"exact": "me"}}}],
            route=[
                {"destination": {"host": "s.a.svc.cluster.local", "port": {"number": 80}},
                 "weight": 75},
                {"destination": {"host": "t.c.svc.cluster.local", "port": {"number": 8080}},
                 "weight": 25},
            ],
        )
    )  # fmt: skip
    assert [(row.host, row.rule, row.backend, row.percent) for row in found] == [
        ("x.org", "/v1*,x-user=me", "s:80", "75"),
        ("x.org", "/v1*,x-user=me", "t.c:8080", "25"),
    ]
    assert {row.ready for row in found} == {"<unknown>"}
    assert {row.entries for row in found} == {("b/gate",)}


def test_a_rule_without_backend_says_what_it_answers() -> None:
    (row,) = rows(virtual_service(redirect={"authority": "y.org", "redirectCode": 308}))
    assert (row.backend, row.percent) == ("redirect:308", "<none>")


def test_a_route_that_no_gateway_takes_is_a_row_and_not_ready() -> None:
    gateway = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {"name": "g", "namespace": "b"},
        "spec": {
            "gatewayClassName": "c",
            "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}],
        },
    }
    route = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": "r", "namespace": "a"},
        "spec": {
            "hostnames": ["x.org"],
            "parentRefs": [{"name": "g", "namespace": "b"}],
            "rules": [{"backendRefs": [{"name": "s", "port": 80}]}],
        },
    }
    (row,) = rows(gateway, route)
    assert (row.host, row.backend, row.ready) == ("x.org", "<none>", "False")
    assert "namespace" in row.reason


@pytest.mark.parametrize(
    ("word", "kinds"),
    [
        ("isvc", ["InferenceService"]),
        ("VirtualService", ["VirtualService"]),
        ("httproutes.gateway.networking.k8s.io", ["HTTPRoute"]),
        ("svc", ["Service"]),
        ("services", ["Service", "Service"]),
        ("services.serving.knative.dev", ["Service"]),
        ("king", ["Ingress"]),
        ("nodes", []),
        ("vs.gateway.networking.k8s.io", []),
    ],
)
def test_words_for_kinds(word: str, kinds: list[str]) -> None:
    assert [item.kind for item in kindnames.named(word)] == kinds


def test_every_short_name_is_of_a_known_kind() -> None:
    for word, meant in kindnames.SHORT.items():
        assert {item.identity for item in kindnames.named(word)} >= set(meant)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (119, "119s"), (120, "2m"), (150, "2m30s"), (3600, "60m"), (4 * 3600 + 60, "4h1m"),
     (86400, "24h"), (3 * 86400, "3d"), (3 * 86400 + 7200, "3d2h"), (30 * 86400, "30d"),
     (800 * 86400, "2y")],
)  # fmt: skip
def test_lengths_of_time(seconds: int, text: str) -> None:
    assert columns.span(seconds) == text


def test_services_have_the_columns_that_their_kind_defines() -> None:
    obj = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {
            "name": "m", "namespace": "a", "uid": "1", "creationTimestamp": "2026-05-01T11:58:00Z",
        },
        "status": {
            "url": "http://m",
            "conditions": [{"type": "Ready", "status": "True"}],
            "components": {
                "predictor": {
                    "traffic": [
                        {"revisionName": "m-1", "percent": 80, "tag": "prev"},
                        {"revisionName": "m-2", "percent": 20, "latestRevision": True},
                    ]
                }
            },
        },
    }  # fmt: skip
    sheet = columns.of_objects([obj], now=NOW, everywhere=True, wide=False)
    assert dict(zip(sheet.titles, sheet.rows[0], strict=True)) == {
        "NAMESPACE": "a",
        "NAME": "m",
        "URL": "http://m",
        "READY": "True",
        "PREV": "80",
        "LATEST": "20",
        "PREVROLLEDOUTREVISION": "m-1",
        "LATESTREADYREVISION": "m-2",
        "AGE": "2m",
    }
    bare = {**obj, "status": {}, "metadata": {"name": "n", "namespace": "a"}}
    sheet = columns.of_objects([bare], now=NOW, everywhere=False, wide=False)
    assert sheet.rows[0][:2] == ("n", "<unset>")
    assert sheet.rows[0][-1] == "<unknown>"
