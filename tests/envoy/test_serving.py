"""What Envoy does with emitted resources: real process, real requests."""

from __future__ import annotations

import pytest

from ingressctl.core.model import External, RewriteHost, Split
from tests.envoy import makers
from tests.envoy.rig import Rig


async def test_hosts_in_any_spelling_reach_the_model_unchanged(rig: Rig) -> None:
    """Letter case, port, final dot and .localhost do not matter; the model sees what was sent."""
    await rig.serve(makers.route("m", makers.group("m.ns.example.com", makers.to("m"))))
    for host in (
        "m.ns.example.com",
        "m.ns.example.com:8080",
        "M.NS.Example.COM",
        "M.ns.example.com:443",
        "m.ns.example.com.localhost",
        "m.ns.example.com.localhost:8080",
        "m.ns.example.com.",
    ):
        status, seen = await rig.get("/v1/models/m", host)
        assert (status, seen.get("host")) == (200, host)
    assert (await rig.get("/", "other.example.com"))[0] == 404
    assert not rig.refusals


async def test_wildcards_take_what_no_exact_host_takes(rig: Rig) -> None:
    """The longest wildcard wins, an exact host before it even where its rules do not match."""
    table = await rig.serve(
        makers.route(
            "a", makers.group("a.example.com", makers.to("a", matches=makers.below("/a")))
        ),
        makers.route("w", makers.group("*.example.com", makers.to("w"))),
        makers.route("d", makers.group("*.deep.example.com", makers.to("d"))),
        makers.route("all", makers.group("*", makers.to("all"))),
    )
    for host, service in {
        "b.example.com": "w",
        "B.Example.com:80": "w",
        "x.y.example.com": "w",
        "x.deep.example.com": "d",
        "other.org": "all",
    }.items():
        status, seen = await rig.get("/", host)
        assert (status, seen.get("service"), seen.get("host")) == (200, service, host)
    assert (await rig.get("/", "a.example.com"))[0] == 404
    assert (await rig.get("/a/b", "a.example.com"))[1]["service"] == "a"
    assert {host for item in table.hosts for host in item.hosts} == {
        "a.example.com",
        "*.example.com",
        "*.deep.example.com",
        "*",
    }


async def test_a_hop_through_the_local_gateway_is_served(rig: Rig) -> None:
    """Knative mode: the Host is rewritten and the local gateway's own rules decide."""
    inner = "m-predictor.ns.svc.cluster.local"
    hop = Split(
        External("knative-local-gateway.istio-system.svc.cluster.local", makers.LOCAL.name), 80
    )
    first = makers.rule("predict", hop, filters=(RewriteHost(inner),))
    await rig.serve(
        makers.route("m", makers.group("m.ns.example.com", first)),
        makers.route(
            "m-predictor",
            makers.group(
                inner,
                makers.rule("split", makers.split("m-00001", 50), makers.split("m-00002", 50)),
                entry=makers.LOCAL,
            ),
        ),
    )
    seen = [await rig.get("/", "M.ns.example.com") for _ in range(60)]
    assert {status for status, _ in seen} == {200}
    assert {body["service"] for _, body in seen} == {"m-00001", "m-00002"}
    assert {body["host"] for _, body in seen} == {inner}
    assert "x-ingressctl-entry" not in seen[0][1]["headers"]
    assert (await rig.get("/", inner))[0] == 404, "a private host must not be public"


@pytest.mark.parametrize("path", ["/b/../a/x", "/b/%2e%2e/a/x", "/b/.%2E/a/x"])
async def test_dots_are_resolved_before_routing(rig: Rig, path: str) -> None:
    """A path is matched and forwarded in one and the same form."""
    await rig.serve(
        makers.route(
            "m",
            makers.group(
                "m.example.com",
                makers.to("a", matches=makers.below("/a")),
                makers.to("b", matches=makers.below("/b")),
            ),
        )
    )
    status, seen = await rig.get(path, "m.example.com")
    assert (status, seen["service"], seen["path"]) == (200, "a", "/a/x")


async def test_encoded_slashes_stay_part_of_their_element(rig: Rig) -> None:
    """Names of models may hold %2F: it neither ends an element nor climbs out of one."""
    await rig.serve(
        makers.route(
            "m",
            makers.group(
                "m.example.com",
                makers.to("a", matches=makers.below("/a")),
                makers.to("b", matches=makers.below("/b")),
            ),
        )
    )
    for path in ("/b/org%2Fmodel", "/b/..%2Fa", "/b/%2e%2e%2Fa"):
        status, seen = await rig.get(path, "m.example.com")
        assert (status, seen["service"]) == (200, "b")
    assert (await rig.get("/b%2Fa", "m.example.com"))[0] == 404


SPOOFED = {
    "x-envoy-upstream-rq-timeout-ms": "1",
    "x-envoy-upstream-rq-per-try-timeout-ms": "1",
    "x-envoy-original-dst-host": "127.0.0.1:1",
    "x-envoy-max-retries": "9",
    "x-envoy-retry-on": "5xx",
    "x-envoy-internal": "true",
    "x-envoy-external-address": "6.6.6.6",
}


async def test_orders_to_envoy_are_not_taken_from_clients(rig: Rig) -> None:
    """Spoofed x-envoy headers change neither target nor time limit."""
    await rig.serve(makers.route("m", makers.group("m.example.com", makers.to("m"))))
    assert (await rig.get("/events?count=2&every=0.2", "m.example.com", **SPOOFED))[0] == 200
    _, seen = await rig.get("/", "m.example.com", **SPOOFED)
    left = {name: value for name, value in seen["headers"].items() if name.startswith("x-envoy")}
    assert left == {
        "x-envoy-original-dst-host": "127.0.0.1:1",
        "x-envoy-external-address": "127.0.0.1",
    }
