"""Ingresses as their controller evaluates them."""

from __future__ import annotations

from typing import Any

import pytest

from ingressctl.api.refs import Raw
from ingressctl.core.table import Hop
from ingressctl.providers.ingress import provider
from tests.unit.providers.objects import ask, read, where


def path(name: str, value: str, kind: str = "Prefix", port: Any = None) -> dict[str, Any]:
    service = {"name": name, "port": port or {"number": 80}}
    return {"path": value, "pathType": kind, "backend": {"service": service}}


def ingress(
    *paths: dict[str, Any],
    host: str | None = "shop.example.com",
    name: str = "i",
    class_name: str | None = "nginx",
    annotations: dict[str, str] | None = None,
    created: str = "2026-01-01T00:00:00Z",
    default: str = "",
) -> Raw:
    rule = {"http": {"paths": list(paths)}, **({"host": host} if host else {})}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "creationTimestamp": created,
            "annotations": annotations or {},
        },
        "spec": {
            **({"ingressClassName": class_name} if class_name else {}),
            **(
                {"defaultBackend": {"service": {"name": default, "port": {"number": 80}}}}
                if default
                else {}
            ),
            "rules": [rule] if paths else [],
        },
    }


def test_exact_before_the_longest_prefix_by_element() -> None:
    table = read(
        provider,
        ingress(
            path("root", "/"),
            path("a", "/a"),
            path("ab", "/a/b/"),
            path("exact", "/a/b", "Exact"),
            path("any", "/impl", "ImplementationSpecific"),
        ),
    )

    def at(url: str) -> object:
        return where(ask(table, "nginx", f"shop.example.com{url}"))

    assert at("/a/b") == "exact"
    assert at("/a/b/c") == "ab"
    assert at("/a/c") == "a"
    assert at("/ab") == "root"
    assert at("/impl/x") == "any"
    assert at("/a/b/") == "ab"


@pytest.mark.parametrize(
    ("pattern", "host", "takes"),
    [
        ("*.example.com", "shop.example.com", True),
        ("*.example.com", "a.shop.example.com", False),  # one label
        ("*.example.com", "example.com", False),
        (None, "whatever.org", True),
        ("Shop.example.com", "SHOP.EXAMPLE.COM:8443", True),
    ],
)
def test_hosts(pattern: str | None, host: str, takes: bool) -> None:
    table = read(provider, ingress(path("m", "/"), host=pattern))
    assert where(ask(table, "nginx", f"{host}/")) == ("m" if takes else 404)


def test_an_exact_host_hides_a_wildcard() -> None:
    table = read(
        provider,
        ingress(path("wide", "/"), host="*.example.com", name="w"),
        ingress(path("narrow", "/only")),
    )
    assert where(ask(table, "nginx", "shop.example.com/only")) == "narrow"
    assert where(ask(table, "nginx", "shop.example.com/")) == 404
    assert where(ask(table, "nginx", "other.example.com/")) == "wide"


def ingress_class(name: str, *, default: bool) -> Raw:
    key = "ingressclass.kubernetes.io/is-default-class"
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "IngressClass",
        "metadata": {"name": name, "annotations": {key: str(default).lower()}},
    }


def test_the_class_by_field_annotation_and_default() -> None:
    by_field = read(provider, ingress(path("m", "/")))
    assert where(ask(by_field, "traefik", "shop.example.com/")) == 404
    old = ingress(
        path("m", "/"), class_name=None, annotations={"kubernetes.io/ingress.class": "traefik"}
    )
    assert where(ask(read(provider, old), "traefik", "shop.example.com/")) == "m"
    bare = ingress(path("m", "/"), class_name=None)
    known = (ingress_class("one", default=False), ingress_class("two", default=True))
    table = read(provider, bare, *known)
    assert where(ask(table, "two", "shop.example.com/")) == "m"
    assert where(ask(table, "one", "shop.example.com/")) == 404
    assert where(ask(read(provider, bare), "anything", "shop.example.com/")) == "m"


def test_the_default_backend_takes_what_no_rule_takes() -> None:
    table = read(provider, ingress(path("m", "/m"), default="rest"))
    assert where(ask(table, "nginx", "shop.example.com/m")) == "m"
    assert where(ask(table, "nginx", "shop.example.com/x")) == "rest"
    assert where(ask(table, "nginx", "other.org/")) == "rest"


def test_several_ingresses_of_one_host_are_joined_and_ties_go_to_the_older() -> None:
    table = read(
        provider,
        ingress(path("new", "/"), name="a", created="2026-01-02"),
        ingress(path("old", "/"), path("more", "/more"), name="z", created="2026-01-01"),
    )
    assert where(ask(table, "nginx", "shop.example.com/")) == "old"
    assert where(ask(table, "nginx", "shop.example.com/more")) == "more"


def test_named_ports_and_steering_annotations() -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "m", "namespace": "shop"},
        "spec": {"ports": [{"name": "other", "port": 1}, {"name": "http", "port": 8080}]},
    }
    rewriting = {"nginx.ingress.kubernetes.io/rewrite-target": "/$1"}
    given = ingress(path("m", "/", port={"name": "http"}), annotations=rewriting)
    table = read(provider, service, given)
    answer = ask(table, "nginx", "shop.example.com/")
    assert isinstance(answer, Hop)
    assert answer.rule.splits[0].port == 8080
    assert [item.code for item in table.findings] == ["IC3304"]
