"""HTTPRoutes as their Gateways attach and evaluate them."""

from __future__ import annotations

from typing import Any

import pytest

from ingressctl.api.refs import Raw
from ingressctl.core.model import Redirect
from ingressctl.core.table import Hop, NoRoute
from ingressctl.providers.gateway_api import provider
from tests.unit.providers.objects import ask, read, reasons, where

EDGE = "edge/public"


def listener(name: str = "http", **more: Any) -> dict[str, Any]:
    everywhere = {"namespaces": {"from": "All"}}
    return {"name": name, "port": 80, "protocol": "HTTP", "allowedRoutes": everywhere, **more}


def gateway(*listeners: dict[str, Any], class_name: str = "envoy") -> Raw:
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {"name": "public", "namespace": "edge"},
        "spec": {"gatewayClassName": class_name, "listeners": list(listeners or (listener(),))},
    }


def route(
    *rules: dict[str, Any],
    name: str = "r",
    namespace: str = "shop",
    hostnames: tuple[str, ...] = ("shop.example.com",),
    parent: dict[str, Any] | None = None,
    created: str = "2026-01-01T00:00:00Z",
) -> Raw:
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": name, "namespace": namespace, "creationTimestamp": created},
        "spec": {
            "parentRefs": [{"name": "public", "namespace": "edge", **(parent or {})}],
            "hostnames": list(hostnames),
            "rules": list(rules),
        },
    }


def rule(name: str, *matches: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        **({"matches": list(matches)} if matches else {}),
        "backendRefs": [{"name": name, "port": 80}],
        **more,
    }


def exact(path: str, **more: Any) -> dict[str, Any]:
    return {"path": {"type": "Exact", "value": path}, **more}


def prefix(path: str, **more: Any) -> dict[str, Any]:
    return {"path": {"type": "PathPrefix", "value": path}, **more}


def regex(path: str, **more: Any) -> dict[str, Any]:
    return {"path": {"type": "RegularExpression", "value": path}, **more}


def go(url: str, *rules: dict[str, Any], **request: Any) -> Hop | NoRoute:
    return ask(read(provider, gateway(), route(*rules)), EDGE, url, **request)


def test_precedence_of_paths_whatever_the_order() -> None:
    rules = (
        rule("root", prefix("/")),
        rule("short", prefix("/a")),
        rule("long", prefix("/a/b")),
        rule("exact", exact("/a/b")),
    )
    for given in (rules, rules[::-1]):
        assert where(go("shop.example.com/a/b", *given)) == "exact"
        assert where(go("shop.example.com/a/b/", *given)) == "long"
        assert where(go("shop.example.com/a/x", *given)) == "short"
        assert where(go("shop.example.com/ab", *given)) == "root"  # by element


def test_precedence_of_method_headers_and_parameters_on_one_path() -> None:
    one = [{"name": "x", "value": "1"}]
    two = [*one, {"name": "y", "value": "2"}]
    rules = (
        rule("plain", prefix("/")),
        rule("query", prefix("/", queryParams=one)),
        rule("header", prefix("/", headers=one)),
        rule("headers", prefix("/", headers=two)),
        rule("method", prefix("/", method="POST")),
    )
    url = "shop.example.com/?x=1"
    assert where(go(url, *rules)) == "query"
    assert where(go(url, *rules, headers={"x": "1"})) == "header"
    assert where(go(url, *rules, headers={"x": "1", "y": "2"})) == "headers"
    assert where(go(url, *rules, headers={"x": "1", "y": "2"}, method="POST")) == "method"


@pytest.mark.parametrize(
    ("class_name", "controller", "wins"),
    [
        ("any", "gateway.envoyproxy.io/gatewayclass-controller", "regex"),
        ("any", "istio.io/gateway-controller", "prefix"),
        ("istio", "", "prefix"),
        ("unknown", "", "regex"),
    ],
)
def test_the_rank_of_expressions_is_the_implementations(
    class_name: str, controller: str, wins: str
) -> None:
    known = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "GatewayClass",
        "metadata": {"name": class_name},
        "spec": {"controllerName": controller},
    }
    given = route(rule("prefix", prefix("/a")), rule("regex", regex("/a/.*")), rule("root"))
    extra = [known] if controller else []
    table = read(provider, gateway(class_name=class_name), given, *extra)
    assert where(ask(table, EDGE, "shop.example.com/a/b")) == wins


def test_istio_asks_no_expression_beside_a_rule_for_everything() -> None:
    """Unlike in VirtualServices such a rule does not come last (e2e/test_precedence.py)."""
    given = route(rule("regex", regex("/a/.*")), rule("root", prefix("/")))
    table = read(provider, gateway(class_name="istio"), given)
    assert where(ask(table, EDGE, "shop.example.com/a/b")) == "root"
    answer = ask(table, EDGE, "shop.example.com/x")
    assert isinstance(answer, Hop)
    assert answer.rule.retries == 2


def test_ties_go_to_the_older_route_then_by_name_then_by_place() -> None:
    """F101"""
    older = route(rule("old"), name="z", created="2026-01-01")
    newer = route(rule("new"), name="a", created="2026-01-02")
    fresh = route(rule("fresh"), name="0", created="")
    assert where(
        ask(read(provider, gateway(), fresh, newer, older), EDGE, "shop.example.com/")
    ) == ("old")
    same = [route(rule(name), name=name) for name in ("b", "a")]
    assert where(ask(read(provider, gateway(), *same), EDGE, "shop.example.com/")) == "a"
    assert where(go("shop.example.com/", rule("first"), rule("second"))) == "first"


def test_several_matches_are_ranked_one_by_one() -> None:
    rules = (rule("both", exact("/a"), prefix("/")), rule("b", prefix("/b")))
    assert where(go("shop.example.com/a", *rules)) == "both"
    assert where(go("shop.example.com/b", *rules)) == "b"


@pytest.mark.parametrize(
    ("listens", "hostnames", "host", "takes"),
    [
        ("", ("a.x.org",), "a.x.org", True),
        ("", (), "any.org", True),
        ("a.x.org", (), "a.x.org", True),
        ("a.x.org", (), "b.x.org", False),
        ("*.x.org", ("a.x.org",), "a.x.org", True),
        ("*.x.org", ("a.b.x.org",), "a.b.x.org", True),
        ("*.x.org", ("x.org",), "x.org", False),
        ("a.x.org", ("*.x.org",), "a.x.org", True),
        ("a.x.org", ("*.x.org",), "b.x.org", False),
        ("*.x.org", ("*.a.x.org",), "b.a.x.org", True),
        ("*.x.org", ("*.a.x.org",), "b.x.org", False),
        ("*.a.x.org", ("*.x.org",), "b.a.x.org", True),
        ("y.org", ("x.org",), "x.org", False),
    ],
)
def test_host_names_meet(listens: str, hostnames: tuple[str, ...], host: str, takes: bool) -> None:
    given = gateway(listener(hostname=listens) if listens else listener())
    table = read(provider, given, route(rule("m"), hostnames=hostnames))
    assert where(ask(table, EDGE, f"{host}/")) == ("m" if takes else 404)


@pytest.mark.parametrize(
    ("change", "parent", "why"),
    [
        ({"protocol": "TCP"}, {}, "speaks TCP"),
        ({"protocol": "TLS"}, {}, "speaks TLS"),
        ({}, {"sectionName": "other"}, "no listener other"),
        ({}, {"port": 8080}, "no listener on port 8080"),
        ({"allowedRoutes": {}}, {}, "only routes of namespace edge"),
        ({"allowedRoutes": {"namespaces": {"from": "None"}}}, {}, "allows routes from None"),
        (
            {
                "allowedRoutes": {
                    "namespaces": {"from": "All"},
                    "kinds": [{"kind": "GRPCRoute"}],
                }
            },
            {},
            "allows only GRPCRoute",
        ),
        (
            {
                "allowedRoutes": {
                    "namespaces": {
                        "from": "Selector",
                        "selector": {"matchLabels": {"team": "b"}},
                    }
                }
            },
            {},
            "labels",
        ),
        ({"hostname": "other.org"}, {}, "admits only other.org"),
    ],
)
def test_what_a_listener_refuses_is_said(
    change: dict[str, Any], parent: dict[str, Any], why: str
) -> None:
    table = read(provider, gateway(listener(**change)), route(rule("m"), parent=parent))
    answer = ask(table, EDGE, "shop.example.com/")
    assert where(answer) == 404
    assert why in reasons(answer)


@pytest.mark.parametrize(
    ("selector", "takes"),
    [
        ({"matchLabels": {"team": "a"}}, True),
        ({"matchLabels": {"kubernetes.io/metadata.name": "shop"}}, True),
        ({"matchExpressions": [{"key": "team", "operator": "In", "values": ["a"]}]}, True),
        ({"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["a"]}]}, False),
        ({"matchExpressions": [{"key": "team", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}, False),
    ],
)
def test_namespaces_by_label(selector: dict[str, Any], takes: bool) -> None:
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "shop", "labels": {"team": "a"}},
    }
    allowed = {"namespaces": {"from": "Selector", "selector": selector}}
    table = read(provider, namespace, gateway(listener(allowedRoutes=allowed)), route(rule("m")))
    assert where(ask(table, EDGE, "shop.example.com/")) == ("m" if takes else 404)


def test_a_listener_of_the_same_namespace_and_by_name_and_port() -> None:
    listeners = (listener("one", allowedRoutes={}), listener("two", port=8080, allowedRoutes={}))
    given = route(rule("m"), namespace="edge", parent={"sectionName": "two", "port": 8080})
    table = read(provider, gateway(*listeners), given)
    assert where(ask(table, EDGE, "shop.example.com/", port=8080)) == "m"
    assert where(ask(table, EDGE, "shop.example.com/", port=80)) == 404


def test_the_same_host_at_another_listener_is_no_loss() -> None:
    listeners = (listener("http"), listener("https", port=443, protocol="HTTPS"))
    table = read(provider, gateway(*listeners), route(rule("m")))
    for scheme in ("http", "https"):
        answer = ask(table, EDGE, "shop.example.com/", scheme=scheme)
        assert where(answer) == "m"
        assert answer.losers == ()


def test_a_missing_gateway_takes_everything_and_is_told() -> None:
    table = read(provider, route(rule("m")))
    assert where(ask(table, EDGE, "shop.example.com/")) == "m"
    assert [item.code for item in table.findings] == ["IC5002"]


def service(name: str, namespace: str = "shop", port: int = 80) -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"ports": [{"port": port}]},
    }


def test_a_missing_backend_or_port_answers_500_for_its_share() -> None:
    shared = {
        "backendRefs": [
            {"name": "here", "port": 80, "weight": 3},
            {"name": "gone", "port": 80, "weight": 1},
        ]
    }
    table = read(provider, gateway(), service("here"), route(shared))
    answer = ask(table, EDGE, "shop.example.com/")
    assert isinstance(answer, Hop)
    assert [(item.status, item.split.weight) for item in answer.rule.refused] == [(500, 1)]
    assert [share for _, share in answer.rule.shares()] == [0.75, 0.25]
    wrong_port = read(provider, gateway(), service("m", port=81), route(rule("m")))
    answer = ask(wrong_port, EDGE, "shop.example.com/")
    assert isinstance(answer, Hop)
    assert "no port 80" in answer.rule.refused[0].reason
    unknown = read(provider, gateway(), service("x", "elsewhere"), route(rule("m")))
    assert where(ask(unknown, EDGE, "shop.example.com/")) == "m"  # no Service of shop is known


def test_weights_default_to_one_and_none_at_all_is_500() -> None:
    equal = {"backendRefs": [{"name": "a", "port": 80}, {"name": "b", "port": 80}]}
    assert where(go("shop.example.com/", equal)) == {"a": 0.5, "b": 0.5}
    zero = {"backendRefs": [{"name": "a", "port": 80, "weight": 0}]}
    assert where(go("shop.example.com/", zero)) == 500
    assert where(go("shop.example.com/", {"backendRefs": []})) == 500


def grant(*, source: str = "shop", name: str = "") -> Raw:
    return {
        "apiVersion": "gateway.networking.k8s.io/v1beta1",
        "kind": "ReferenceGrant",
        "metadata": {"name": "g", "namespace": "models"},
        "spec": {
            "from": [
                {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "namespace": source}
            ],
            "to": [{"group": "", "kind": "Service", **({"name": name} if name else {})}],
        },
    }


@pytest.mark.parametrize(
    ("grants", "allowed"),
    [
        ([], False),
        ([grant()], True),
        ([grant(name="m")], True),
        ([grant(name="other")], False),
        ([grant(source="elsewhere")], False),
    ],
)
def test_a_backend_elsewhere_needs_a_grant(grants: list[Raw], allowed: bool) -> None:
    far = {"backendRefs": [{"name": "m", "namespace": "models", "port": 80}]}
    answer = ask(read(provider, gateway(), route(far), *grants), EDGE, "shop.example.com/")
    assert isinstance(answer, Hop)
    assert (not answer.rule.refused) is allowed
    if not allowed:
        assert "ReferenceGrant" in answer.rule.refused[0].reason


def rewritten(path: dict[str, Any], match: dict[str, Any], url: str) -> str:
    filters = [{"type": "URLRewrite", "urlRewrite": {"path": path, "hostname": "inner"}}]
    answer = go(f"shop.example.com{url}", rule("m", match, filters=filters))
    assert isinstance(answer, Hop)
    assert answer.host == "inner"
    return answer.path


@pytest.mark.parametrize(
    ("matched", "replacement", "url", "path"),
    [
        ("/foo", "/xyz", "/foo/bar", "/xyz/bar"),
        ("/foo", "/xyz/", "/foo/bar", "/xyz/bar"),
        ("/foo/", "/xyz", "/foo/bar", "/xyz/bar"),
        ("/foo", "/xyz", "/foo", "/xyz"),
        ("/foo", "/xyz", "/foo/", "/xyz/"),
        ("/foo", "/", "/foo/bar", "/bar"),
        ("/foo", "/", "/foo/", "/"),
        ("/foo", "/", "/foo", "/"),
        ("/foo", "/", "/foo?x=1", "/?x=1"),
    ],
)
def test_replaced_prefixes_as_the_specification_tabulates(
    matched: str, replacement: str, url: str, path: str
) -> None:
    change = {"type": "ReplacePrefixMatch", "replacePrefixMatch": replacement}
    assert rewritten(change, prefix(matched), url) == path


def test_full_paths_headers_redirects_and_limits() -> None:
    full = {"type": "ReplaceFullPath", "replaceFullPath": "/all"}
    assert rewritten(full, prefix("/a"), "/a/b?x=1") == "/all?x=1"
    change = {
        "set": [{"name": "A", "value": "1"}],
        "add": [{"name": "b", "value": "2"}],
        "remove": ["c"],
    }
    filters = [{"type": "RequestHeaderModifier", "requestHeaderModifier": change}]
    more = {"filters": filters, "timeouts": {"request": "9s"}}
    answer = go("shop.example.com/", rule("m", **more), headers={"b": "1", "c": "3"})
    assert isinstance(answer, Hop)
    assert answer.headers == {"a": "1", "b": "1,2"}
    assert (answer.rule.timeout, answer.rule.retries) == ("9s", None)
    redirect = {"scheme": "https", "statusCode": 301}
    redirecting = {"filters": [{"type": "RequestRedirect", "requestRedirect": redirect}]}
    answer = go("shop.example.com/", redirecting)
    assert where(answer) == 301
    assert isinstance(answer, Hop)
    assert answer.rule.filters == (Redirect("https"),)


def test_what_is_not_evaluated_is_said() -> None:
    filters = [{"type": "RequestMirror", "requestMirror": {}}, {"type": "ExtensionRef"}]
    answer = go("shop.example.com/", rule("m", filters=filters, sessionPersistence={"type": "x"}))
    assert isinstance(answer, Hop)
    assert answer.rule.note == "ExtensionRef, RequestMirror, sessionPersistence"
    parent = {"kind": "Service", "group": ""}
    table = read(provider, gateway(), route(rule("m"), parent=parent))
    assert [item.code for item in table.findings] == ["IC3304"]


def test_a_refused_expression_never_matches() -> None:
    answer = go("shop.example.com/a", rule("bad", regex("/(?=a).*")), rule("good"))
    assert where(answer) == "good"
    assert answer.losers[0].broken
