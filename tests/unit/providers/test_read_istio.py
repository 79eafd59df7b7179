"""VirtualServices as Istio evaluates them, written by us or by somebody else."""

from __future__ import annotations

from typing import Any

import pytest

from ingressctl.api.refs import Raw
from ingressctl.core.model import External, Redirect
from ingressctl.core.table import Hop, NoRoute
from ingressctl.providers.istio import provider
from tests.unit.providers.objects import ask, read, reasons, where

EDGE = "edge/public"


def gateway(
    hosts: str = "['*']", *, name: str = "public", port: int = 80, protocol: str = "HTTP",
    more: str = "",
) -> str:  # fmt: skip
    return f"""
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {{name: {name}, namespace: edge}}
spec:
  selector: {{istio: ingressgateway}}
  servers:
  - hosts: {hosts}
    port: {{number: {port}, name: p, protocol: {protocol}}}
    {more}
"""


def service(
    http: list[dict[str, Any]],
    *,
    name: str = "vs",
    namespace: str = "shop",
    hosts: tuple[str, ...] = ("shop.example.com",),
    gateways: tuple[str, ...] = (EDGE,),
    created: str = "2026-01-01T00:00:00Z",
    **spec: Any,
) -> Raw:
    return {
        "apiVersion": "networking.istio.io/v1",
        "kind": "VirtualService",
        "metadata": {"name": name, "namespace": namespace, "creationTimestamp": created},
        "spec": {"hosts": list(hosts), "gateways": list(gateways), "http": http, **spec},
    }


def to(name: str, **route: Any) -> dict[str, Any]:
    host = f"{name}.shop.svc.cluster.local"
    return {"route": [{"destination": {"host": host, "port": {"number": 80}}}], **route}


def when(name: str, *matches: dict[str, Any], **route: Any) -> dict[str, Any]:
    return to(name, match=list(matches), **route)


def go(url: str, *http: dict[str, Any], **request: Any) -> Hop | NoRoute:
    return ask(read(provider, gateway(), service(list(http))), EDGE, url, **request)


def test_rules_are_asked_in_the_order_written_not_by_precision() -> None:
    rules = (
        when("wide", {"uri": {"prefix": "/a"}}),
        when("narrow", {"uri": {"exact": "/a/b"}}),
        to("rest"),
    )
    assert where(go("shop.example.com/a/b", *rules)) == "wide"
    assert where(go("shop.example.com/ab", *rules)) == "wide"  # by character
    assert where(go("shop.example.com/x", *rules)) == "rest"
    assert "path is not /a/b" in reasons(go("shop.example.com/x", *rules))


@pytest.mark.parametrize(
    ("match", "url", "request_", "takes"),
    [
        ({"uri": {"regex": "/v[12]/.*"}}, "/v2/x", {}, True),
        ({"uri": {"regex": "/v[12]"}}, "/v2/x", {}, False),  # the whole path
        ({"uri": {"exact": "/A"}, "ignoreUriCase": True}, "/a", {}, True),
        ({"uri": {"prefix": "/A"}}, "/a", {}, False),
        ({"headers": {"x": {"exact": "1"}}}, "/", {"headers": {"x": "1"}}, True),
        ({"headers": {"X": {"prefix": "a"}}}, "/", {"headers": {"x": "ab"}}, True),
        ({"headers": {"x": {"regex": "a+"}}}, "/", {"headers": {"x": "aab"}}, False),
        ({"headers": {"x": {}}}, "/", {"headers": {"x": "any"}}, True),
        ({"headers": {"x": {}}}, "/", {}, False),
        ({"withoutHeaders": {"x": {"exact": "1"}}}, "/", {}, True),
        ({"withoutHeaders": {"x": {"exact": "1"}}}, "/", {"headers": {"x": "1"}}, False),
        ({"withoutHeaders": {"x": {}}}, "/", {"headers": {"x": ""}}, False),
        ({"method": {"exact": "POST"}}, "/", {"method": "POST"}, True),
        ({"method": {"regex": "P.*"}}, "/", {"method": "PUT"}, True),
        ({"method": {"exact": "POST"}}, "/", {}, False),
        ({"authority": {"exact": "shop.example.com"}}, "/", {}, True),
        ({"authority": {"prefix": "shop."}}, "/", {}, True),
        ({"authority": {"regex": r"shop\.example\.com(:\d+)?"}}, "/", {}, True),
        ({"scheme": {"exact": "https"}}, "/", {}, False),
        ({"queryParams": {"v": {"exact": "2"}}}, "/?a=1&v=2", {}, True),
        ({"queryParams": {"v": {"exact": "2"}}}, "/?v=3", {}, False),
        ({"gateways": ["public"]}, "/", {}, False),  # of its own namespace
        ({"gateways": [EDGE]}, "/", {}, True),
        ({"port": 8080}, "/", {"port": 80}, False),
        ({"sourceLabels": {"app": "x"}}, "/", {}, False),
        ({"uri": {"prefix": "/a"}, "method": {"exact": "POST"}}, "/a", {}, False),  # all parts
    ],
)
def test_matches(match: dict[str, Any], url: str, request_: dict[str, Any], takes: bool) -> None:
    answer = go(f"shop.example.com{url}", when("hit", match), to("miss"), **request_)
    assert where(answer) == ("hit" if takes else "miss")


def test_a_pattern_that_re2_refuses_loses_with_the_reason() -> None:
    answer = go("shop.example.com/a", when("hit", {"uri": {"regex": "/(?!b).*"}}), to("miss"))
    assert where(answer) == "miss"
    assert [loss.broken for loss in answer.losers] == [True]
    assert "RE2" in reasons(answer)
    table = read(provider, gateway(), service([when("hit", {"uri": {"regex": "("}})]))
    assert [rule.name for rule, _ in table.pattern_faults()] == ["http[0]"]


def test_what_a_rule_does_to_the_request() -> None:
    rule = when(
        "m",
        {"uri": {"prefix": "/models/m/"}},
        {"uri": {"exact": "/models/m"}},
        rewrite={"uri": "/", "authority": "inner.example.com"},
        headers={"request": {"set": {"A": "1"}, "add": {"B": "2"}, "remove": ["c"]}},
        timeout="5s",
    )
    answer = go("shop.example.com/models/m/v1?x=1", rule, headers={"b": "1", "c": "gone"})
    assert isinstance(answer, Hop)
    assert (answer.host, answer.path) == ("inner.example.com", "/v1?x=1")
    assert answer.headers == {"a": "1", "b": "1,2"}
    assert (answer.rule.timeout, answer.rule.retries) == ("5s", 2)
    bare = go("shop.example.com/models/m", rule)
    assert isinstance(bare, Hop)
    assert bare.path == "/"


def test_host_by_header_and_path_by_expression() -> None:
    rewrite = {"uriRegexRewrite": {"match": "^/x(/.*)$", "rewrite": r"\1"}}
    answer = go(
        "shop.example.com/x/y",
        to("m", rewrite=rewrite, headers={"request": {"set": {"Host": "h"}}}),
    )
    assert isinstance(answer, Hop)
    assert (answer.host, answer.path) == ("h", "/y")


def test_retries_are_istios_unless_said() -> None:
    for written, holds in ((None, 2), ({}, 0), ({"attempts": 0}, 0), ({"attempts": 5}, 5)):
        more = {} if written is None else {"retries": written}
        answer = go("shop.example.com/", to("m", **more))
        assert isinstance(answer, Hop)
        assert answer.rule.retries == holds


def test_shares_redirects_and_direct_answers() -> None:
    halves = [
        {"destination": {"host": f"{name}.shop.svc.cluster.local"}, "weight": weight}
        for name, weight in (("a", 1), ("b", 3))
    ]
    assert where(go("shop.example.com/", {"route": halves})) == {"a": 0.25, "b": 0.75}
    redirect = {"redirect": {"uri": "/login", "authority": "id.example.com", "redirectCode": 302}}
    answer = go("shop.example.com/", redirect)
    assert isinstance(answer, Hop)
    assert answer.rule.filters == (Redirect("", "id.example.com", 0, 302, "/login"),)
    assert where(answer) == 302
    assert where(go("shop.example.com/", {"directResponse": {"status": 418}})) == 418
    nothing = [{**half, "weight": 0} for half in halves]
    assert where(go("shop.example.com/", {"route": nothing})) == 503


def test_short_names_are_completed_only_without_dots() -> None:
    backend = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "api", "namespace": "other"},
        "spec": {"ports": [{"port": 8000}]},
    }

    def target(host: str) -> tuple[Any, int, list[str]]:
        rule = {"route": [{"destination": {"host": host}}]}
        table = read(provider, gateway(), backend, service([rule], namespace="other"))
        answer = ask(table, EDGE, "shop.example.com/")
        assert isinstance(answer, Hop)
        split = answer.rule.splits[0]
        return split.target, split.port, [item.code for item in table.findings]

    found, port, _ = target("api")
    assert (found.namespace, found.name, port) == ("other", "api", 8000)
    assert target("api.other.svc.cluster.local")[0] == found
    assert target("api.other") == (External("api.other"), 0, ["IC3306"])


def test_delegates_and_faults_are_said_not_guessed() -> None:
    table = read(
        provider, gateway(), service([{"delegate": {"name": "x"}}, to("m", fault={"abort": {}})])
    )
    answer = ask(table, EDGE, "shop.example.com/")
    assert where(answer) == "m"
    assert isinstance(answer, Hop)
    assert answer.rule.note == "fault"
    assert "delegate" in reasons(answer)
    assert [item.code for item in table.findings] == ["IC3304"]


def test_the_most_specific_host_list_hides_the_others() -> None:
    """F8: hosts [*] never sees example.com once somebody names it on that gateway."""
    dashboard = service([to("dashboard")], name="dashboard", hosts=("*",))
    model = service([when("model", {"uri": {"prefix": "/m/"}})], hosts=("example.com",))
    table = read(provider, gateway(), dashboard, model)
    assert where(ask(table, EDGE, "example.com/m/x")) == "model"
    lost = ask(table, EDGE, "example.com/")
    assert where(lost) == 404
    assert "host * is less specific than example.com" in reasons(lost)
    assert where(ask(table, EDGE, "other.com/")) == "dashboard"
    assert where(ask(read(provider, gateway(), dashboard), EDGE, "example.com/")) == "dashboard"


def test_one_host_of_several_objects_is_joined_by_age_with_everything_last() -> None:
    """F9: the older object's rules come first, whatever their precision."""
    older = service([when("old", {"uri": {"prefix": "/test"}})], name="z", created="2026-01-01")
    newer = service([when("new", {"uri": {"prefix": "/test2"}})], name="a", created="2026-01-02")
    every = service([to("all")], name="0", created="2025-01-01")
    table = read(provider, gateway(), newer, every, older)
    assert where(ask(table, EDGE, "shop.example.com/test2")) == "old"
    assert where(ask(table, EDGE, "shop.example.com/other")) == "all"
    swapped = read(
        provider,
        gateway(),
        {**older, "metadata": {**older["metadata"], "creationTimestamp": "2026-01-03"}},
        newer,
    )
    assert where(ask(swapped, EDGE, "shop.example.com/test2")) == "new"


def test_equal_age_goes_by_name_and_what_is_not_created_yet_comes_last() -> None:
    same = [service([to(name)], name=name, namespace="shop") for name in ("b", "a")]
    assert where(ask(read(provider, gateway(), *same), EDGE, "shop.example.com/")) == "a"
    fresh = service([to("fresh")], name="0")
    del fresh["metadata"]["creationTimestamp"]  # type: ignore[attr-defined]
    table = read(provider, gateway(), fresh, *same)
    assert where(ask(table, EDGE, "shop.example.com/")) == "a"


def test_what_follows_a_rule_for_everything_is_never_asked() -> None:
    first = service([to("all"), when("late", {"uri": {"prefix": "/a"}})], created="2026-01-01")
    second = service([when("b", {"uri": {"prefix": "/b"}})], name="w", created="2026-01-02")
    table = read(provider, gateway(), first, second)
    assert where(ask(table, EDGE, "shop.example.com/a")) == "all"
    assert where(ask(table, EDGE, "shop.example.com/b")) == "b"


@pytest.mark.parametrize(
    ("hosts", "host", "namespace", "admits"),
    [
        ("['*']", "shop.example.com", "shop", True),
        ("['*.example.com']", "shop.example.com", "shop", True),
        ("['*.example.com']", "example.com", "shop", False),
        ("[other.com]", "shop.example.com", "shop", False),
        ("['shop/*']", "shop.example.com", "shop", True),
        ("['team/*']", "shop.example.com", "shop", False),
        ("['./*']", "shop.example.com", "shop", False),
        ("['./*']", "shop.example.com", "edge", True),
        ("['*/shop.example.com']", "*.example.com", "shop", True),
    ],
)
def test_which_hosts_a_gateway_admits(hosts: str, host: str, namespace: str, admits: bool) -> None:
    table = read(provider, gateway(hosts), service([to("m")], hosts=(host,), namespace=namespace))
    answer = ask(table, EDGE, "shop.example.com/" if "*" in host else f"{host}/")
    assert where(answer) == ("m" if admits else 404)
    if not admits:
        assert "admits no host" in reasons(answer)


def test_ports_protocols_and_redirects_of_servers() -> None:
    secure = gateway(port=443, protocol="HTTPS", name="secure", more="tls: {mode: SIMPLE}")
    table = read(provider, secure, service([to("m")], gateways=("edge/secure",)))
    assert where(ask(table, "edge/secure", "shop.example.com/", port=80)) == 404
    assert where(ask(table, "edge/secure", "shop.example.com/", port=443, scheme="https")) == "m"
    plain_speech = ask(table, "edge/secure", "shop.example.com/", port=443)
    assert "is HTTPS on port 443; the request is http on port 443" in reasons(plain_speech)
    plain = gateway(more="tls: {httpsRedirect: true}")
    table = read(provider, plain, service([to("m")]))
    assert where(ask(table, EDGE, "shop.example.com/")) == 301
    assert where(ask(table, EDGE, "shop.example.com/", scheme="https")) == "m"
    passing = gateway(port=443, protocol="HTTPS", more="tls: {mode: PASSTHROUGH}")
    assert where(ask(read(provider, passing, service([to("m")])), EDGE, "shop.example.com/")) == 404


def test_a_missing_gateway_takes_everything_and_is_told() -> None:
    table = read(provider, service([to("m")], gateways=("public",), namespace="shop"))
    assert where(ask(table, "shop/public", "shop.example.com/")) == "m"
    assert [str(item.refs[0]) for item in table.findings] == ["Gateway shop/public"]


def test_sidecars_take_the_oldest_object_and_all_short_names() -> None:
    name = "api.shop.svc.cluster.local"
    older = service([to("old")], name="z", hosts=(name,), gateways=(), created="2026-01-01")
    newer = service([to("new")], name="a", hosts=("api",), gateways=("mesh",), created="2026-02-01")
    table = read(provider, newer, older)
    for host in (name, "api.shop.svc", "api.shop"):
        assert where(ask(table, "mesh", f"{host}/")) == "old"
    assert "sidecars do not join" in reasons(ask(table, "mesh", f"{name}/"))


def test_an_object_that_is_not_exported_is_refused() -> None:
    table = read(provider, gateway(), service([to("m")], exportTo=["."]))
    answer = ask(table, EDGE, "shop.example.com/")
    assert where(answer) == 404
    assert "exportTo" in reasons(answer)


def test_hosts_have_no_case_and_no_port() -> None:
    assert where(go("Shop.Example.COM:8080/", to("m"))) == "m"
    assert where(go("shop.example.com.evil.org/", to("m"))) == 404


def test_dots_in_paths_do_not_leave_a_prefix() -> None:
    rules = (when("a", {"uri": {"prefix": "/a/"}}), when("b", {"uri": {"prefix": "/b/"}}))
    assert where(go("shop.example.com/a/../b/x", *rules)) == "b"
    assert where(go("shop.example.com/a/%2e%2E/b/x", *rules)) == "b"
    assert where(go("shop.example.com/a/..%2Fb/x", *rules)) == "a"


def test_gateways_of_the_same_pods_and_port_share_one_table() -> None:
    """On Kubeflow, Knative's gateway and the dashboard's lie on the same pods."""
    dashboard = service([to("dashboard")], name="d", hosts=("*",), gateways=("edge/second",))
    model = service([when("model", {"uri": {"prefix": "/m/"}})], hosts=("example.com",))
    both = (gateway(), gateway(name="second"))
    table = read(provider, *both, dashboard, model)
    for entry in (EDGE, "edge/second"):
        assert where(ask(table, entry, "example.com/m/x")) == "model"
        assert where(ask(table, entry, "example.com/")) == 404
        assert where(ask(table, entry, "other.com/")) == "dashboard"
    apart = read(provider, gateway(), gateway(name="second", port=8080), dashboard, model)
    assert where(ask(apart, "edge/second", "example.com/m/x")) == "dashboard"


def test_a_match_for_another_gateway_stays_out_of_a_shared_table() -> None:
    rules = [when("second", {"gateways": ["edge/second"]}), when("first", {"gateways": [EDGE]})]
    table = read(provider, gateway(), gateway(name="second"), service(rules))
    assert where(ask(table, "edge/second", "shop.example.com/")) == "first"
    bound = read(
        provider,
        gateway(),
        gateway(name="second", port=8080),
        service(rules, gateways=(EDGE, "edge/second")),
    )
    assert where(ask(bound, "edge/second", "shop.example.com/")) == "second"
    assert where(ask(bound, EDGE, "shop.example.com/")) == "first"


def test_a_match_for_another_port_than_the_listeners_is_dead() -> None:
    """Also for a URL without a port: the listener's is known. One for its own port is as none."""
    rules = (when("tls", {"port": 8443}), when("own", {"port": 80}), to("rest"))
    assert where(go("shop.example.com/", *rules)) == "own"
    assert "is for port 8443 only" in reasons(go("shop.example.com/", rules[0]))


def test_an_object_that_names_its_short_hosts_itself_loses_to_nobody() -> None:
    name = "api.shop.svc.cluster.local"
    hosts = (name, "api.shop.svc", "api.shop")
    table = read(provider, service([to("mine")], hosts=hosts, gateways=("mesh",)))
    for host in hosts:
        answer = ask(table, "mesh", f"{host}/")
        assert where(answer) == "mine"
        assert not answer.losers
    assert not table.refusals
