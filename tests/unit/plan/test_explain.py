"""Where a request goes and why: attempts, hops, shares, limits, findings, and both renderings."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from ingressctl.api.refs import Raw, ref_of
from ingressctl.core import findings as table
from ingressctl.core.settings import Settings
from ingressctl.core.table import Hop, NoRoute, Request
from ingressctl.core.world import Reads, World
from ingressctl.plan import cascade, explain, limits, registry, serving
from ingressctl.plan.explanation import Explanation, leaves
from ingressctl.sources.kserve import reconcile as kserve
from tests import worlds
from tests.unit.providers.objects import objects

NOW = datetime(2026, 1, 1, tzinfo=UTC)
READY = Settings(assume="ready")

CONFIG = """
apiVersion: v1
kind: ConfigMap
metadata: {name: inferenceservice-config, namespace: kserve}
data:
  deploy: '{"defaultDeploymentMode": "Knative"}'
  ingress: |
    {"ingressGateway": "knative-serving/knative-ingress-gateway",
     "localGateway": "knative-serving/knative-local-gateway",
     "localGatewayService": "knative-local-gateway.istio-system.svc.cluster.local",
     "ingressDomain": "example.com"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: config-domain, namespace: knative-serving}
data: {example.com: ""}
"""
GATEWAYS = """
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: knative-ingress-gateway, namespace: knative-serving}
spec:
  selector: {istio: ingressgateway}
  servers: [{hosts: ['*'], port: {number: 80, protocol: HTTP}}]
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: knative-local-gateway, namespace: knative-serving}
spec:
  selector: {istio: local}
  servers: [{hosts: ['*'], port: {number: 8081, protocol: HTTP}}]
"""
IRIS = """
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: iris, namespace: team-a}
spec: {predictor: {model: {modelFormat: {name: sklearn}}}}
status:
  components: {predictor: {url: http://iris-predictor.team-a.example.com}}
  conditions: [{type: PredictorReady, status: 'True'}]
---
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: iris-predictor, namespace: team-a}
spec:
  template: {spec: {timeoutSeconds: 120}}
  traffic:
  - {latestRevision: true, percent: 10, tag: latest}
  - {revisionName: iris-predictor-00001, percent: 90, tag: prev}
status: {latestReadyRevisionName: iris-predictor-00002}
"""
PREDICT = "/v1/models/iris:predict"


def settled(*texts: str | Raw, settings: Settings = READY) -> World:
    """The world after the routing steps; Knative Services stay as the text says."""
    found = [obj for text in texts for obj in (objects(text) if isinstance(text, str) else [text])]
    sources = {("serving.kserve.io", "InferenceService"): routes_only}
    return cascade.run(World.of(found), settings, now=NOW, sources=sources).world


def routes_only(obj: Raw, *, reads: Reads, now: datetime) -> Any:
    return kserve.reconcile_routes(obj, reads=reads, now=now)


def ask(world: World, host: str, path: str = PREDICT, **more: Any) -> Explanation:
    via = more.pop("via", "")
    request = Request(more.pop("method", "POST"), host, path, **more)
    return explain.explain(request, world, READY, via=via)


def ends(explanation: Explanation) -> dict[str, float]:
    """Share of each end of the first attempt."""
    return {
        leaf.branch.backend if leaf.branch else str(leaf.status): round(leaf.share, 3)
        for leaf in leaves(explanation.attempts[0])
    }


def codes(explanation: Explanation) -> set[str]:
    return {finding.code for finding in explanation.findings}


def test_knative_mode_goes_on_through_the_local_gateway_to_revisions() -> None:
    found = ask(settled(CONFIG, GATEWAYS, IRIS), "iris.team-a.example.com")
    assert [attempt.entry for attempt in found.attempts] == [
        "knative-serving/knative-ingress-gateway"
    ]
    first = found.attempts[0].answer
    assert isinstance(first, Hop)
    assert first.host == "iris-predictor.team-a.svc.cluster.local"
    assert first.headers["kserve-isvc-name"] == "iris"
    assert ends(found) == {
        "iris-predictor-00002.team-a.svc.cluster.local:80": 0.1,
        "iris-predictor-00001.team-a.svc.cluster.local:80": 0.9,
    }
    leaf = next(leaves(found.attempts[0]))
    assert leaf.branch is not None
    assert leaf.branch.headers["knative-serving-revision"] == "iris-predictor-00002"
    assert [attempt.entry for attempt in leaf.attempts][1:] == [
        "knative-serving/knative-local-gateway"
    ]
    limit = limits.effective(leaf)
    assert limit is not None
    assert (limit.seconds, limit.where) == (120.0, "revision iris-predictor-00002")
    assert not codes(found)


def test_tag_hosts_lead_to_their_revision() -> None:
    world = settled(CONFIG, GATEWAYS, IRIS)
    found = ask(world, "prev-iris-predictor.team-a.example.com")
    assert ends(found) == {"iris-predictor-00001.team-a.svc.cluster.local:80": 1.0}


def test_what_net_istio_wrote_itself_is_not_guessed_again() -> None:
    written = """
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: iris-predictor-ingress, namespace: team-a}
spec:
  hosts: [iris-predictor.team-a.svc.cluster.local]
  gateways: [knative-serving/knative-local-gateway]
  http: [{route: [{destination: {host: seen.team-a.svc.cluster.local, port: {number: 80}}}]}]
"""
    found = ask(settled(CONFIG, GATEWAYS, IRIS, written), "iris.team-a.example.com")
    assert ends(found) == {"seen.team-a.svc.cluster.local:80": 1.0}


def test_without_knative_services_the_way_ends_at_the_local_gateway_and_says_so() -> None:
    alone = IRIS.split("---", maxsplit=1)[0]
    found = ask(settled(CONFIG, GATEWAYS, alone), "iris.team-a.example.com")
    assert ends(found) == {"knative-local-gateway.istio-system.svc.cluster.local:80": 1.0}
    assert "no route of knative-serving/knative-local-gateway" in explain.render_text(found)


def test_an_internal_host_is_answered_from_inside_only() -> None:
    world = settled(CONFIG, GATEWAYS, IRIS)
    found = ask(world, "iris.team-a.svc.cluster.local")
    assert found.private
    assert {attempt.entry for attempt in found.attempts} == {
        "mesh",
        "knative-serving/knative-local-gateway",
    }
    outside = ask(
        world,
        "iris.team-a.svc.cluster.local",
        via="gateway knative-serving/knative-ingress-gateway",
    )
    assert isinstance(outside.attempts[0].answer, NoRoute)
    assert "Only from inside" in explain.render_text(found)


def test_an_unknown_host_is_refused_by_every_public_gateway() -> None:
    found = ask(settled(CONFIG, GATEWAYS, IRIS), "nobody.example.com")
    assert [attempt.status for attempt in found.attempts] == [404]
    assert "404: no route has this host" in explain.render_text(found)


def test_a_miss_names_the_service_that_the_domain_of_knative_keeps_inside() -> None:
    inside = [text.replace("example.com: ", "svc.cluster.local: ") for text in (CONFIG, IRIS)]
    unready = inside[1].replace(
        "status:\n  components: {predictor: {url: http://iris-predictor.team-a.example.com}}",
        "status:",
    )
    world = settled(inside[0], GATEWAYS, unready)
    found = ask(world, "iris-team-a.example.com")
    assert codes(found) == {"IC2011"}
    assert "IC2011" not in codes(ask(world, "other.example.com"))
    assert "IC2011" not in codes(ask(settled(CONFIG, GATEWAYS, IRIS), "iris-team-a.example.com"))


def test_a_named_entry_is_the_only_one() -> None:
    world = settled(CONFIG, GATEWAYS, IRIS)
    for via in ("gateway knative-serving/knative-local-gateway", "mesh"):
        found = ask(world, "iris.team-a", via=via)
        assert [attempt.entry for attempt in found.attempts] == [via.removeprefix("gateway ")]
        assert isinstance(found.attempts[0].answer, Hop)
    nginx = CONFIG.replace('"ingressDomain"', '"ingressClassName": "nginx", "ingressDomain"')
    nothing = ask(settled(nginx, GATEWAYS, IRIS), "iris.team-a.example.com", via="ingress nginx")
    assert (nothing.attempts[0].provider, nothing.attempts[0].status) == ("ingress", 404)
    with pytest.raises(explain.UnknownEntry, match="'ingress nginx'"):
        ask(world, "iris.team-a.example.com", via="ingress nginx")


def test_gateways_that_share_a_table_are_told_once() -> None:
    second = GATEWAYS.split("---", maxsplit=1)[0].replace("knative-ingress-gateway", "another")
    found = ask(settled(CONFIG, GATEWAYS, second, IRIS), "iris.team-a.example.com")
    assert [(attempt.entry, attempt.also) for attempt in found.attempts] == [
        ("knative-serving/another", ("knative-serving/knative-ingress-gateway",))
    ]
    assert "at knative-serving/another, knative-serving/knative-ingress" in (
        explain.render_text(found)
    )


def test_a_missing_gateway_is_told() -> None:
    found = ask(settled(CONFIG, IRIS), "iris.team-a.example.com")
    assert "IC5002" in codes(found)
    assert len(ends(found)) == 2


LOOP = """
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: loop, namespace: team-a}
spec:
  hosts: [loop.example.com]
  gateways: [knative-serving/knative-ingress-gateway, knative-serving/knative-local-gateway]
  http:
  - route:
    - destination:
        host: knative-local-gateway.istio-system.svc.cluster.local
        port: {number: 80}
"""


def test_a_circle_is_an_end_with_a_finding() -> None:
    found = ask(settled(CONFIG, GATEWAYS, LOOP), "loop.example.com")
    assert "IC3308" in codes(found)
    assert [leaf.status for leaf in leaves(found.attempts[0])] == [503]


def test_hidden_retries_and_impatient_gateways_are_told() -> None:
    """F5, F29"""
    impatient = """
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: old, namespace: team-a}
spec:
  hosts: [old.example.com]
  gateways: [knative-serving/knative-ingress-gateway]
  http:
  - timeout: 60s
    headers: {request: {set: {Host: iris-predictor.team-a.svc.cluster.local}}}
    route:
    - destination:
        host: knative-local-gateway.istio-system.svc.cluster.local
        port: {number: 80}
"""
    found = ask(settled(CONFIG, GATEWAYS, IRIS, impatient), "old.example.com")
    texts = {finding.code: table.message(finding) for finding in found.findings}
    assert set(texts) == {"IC3310", "IC3311"}
    assert "60s" in texts["IC3310"]
    assert "120s" in texts["IC3310"]
    assert "up to 2 times" in texts["IC3311"]


def test_a_backend_that_is_not_there_is_told_where_services_are_known() -> None:
    route = """
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: vs, namespace: shop}
spec:
  hosts: [shop.example.com]
  gateways: [knative-serving/knative-ingress-gateway]
  http:
  - retries: {attempts: 0}
    route: [{destination: {host: m.shop.svc.cluster.local, port: {number: 80}}}]
"""
    service = "{apiVersion: v1, kind: Service, metadata: {name: %s, namespace: shop}, spec: %s}"
    right, wrong = "{ports: [{port: 80}]}", "{ports: [{port: 81}]}"

    def told(*services: str) -> list[str]:
        found = ask(settled(CONFIG, GATEWAYS, route, *services), "shop.example.com")
        return [table.message(finding) for finding in found.findings]

    assert told() == []
    assert told(service % ("m", right)) == []
    assert "port 80 of Service shop/m is not in the input" in told(service % ("m", wrong))[0]
    assert "Service shop/m is not in the input" in told(service % ("other", right))[0]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("60s", 60.0), ("1m30s", 90.0), ("1h", 3600.0), ("500ms", 0.5), ("0s", None), ("", None)],
)
def test_durations(text: str, seconds: float | None) -> None:
    assert limits.seconds(text) == seconds


def test_text_names_rule_rewrites_shares_limits_and_losers() -> None:
    world = settled(CONFIG, GATEWAYS, IRIS)
    found = ask(world, "iris.team-a.example.com")
    text = explain.render_text(found, trace=True)
    for line in (
        "POST http://iris.team-a.example.com/v1/models/iris:predict",
        "at knative-serving/knative-ingress-gateway (istio)",
        "host     iris.team-a.example.com -> iris-predictor.team-a.svc.cluster.local",
        "header   kserve-isvc-name: iris",
        "10 %  iris-predictor-00002.team-a.svc.cluster.local:80",
        "90 %  iris-predictor-00001.team-a.svc.cluster.local:80",
        "ends at the latest after 120s: revision iris-predictor-00002",
        "not: VirtualService team-a/iris",
    ):
        assert line in text
    assert "not: " not in explain.render_text(found)


def test_json_holds_the_same_and_is_plain() -> None:
    found = ask(settled(CONFIG, GATEWAYS, IRIS), "iris.team-a.example.com")
    body = json.loads(json.dumps(explain.as_json(found)))
    attempt = body["attempts"][0]
    assert attempt["object"] == "VirtualService team-a/iris"
    then = attempt["backends"][0]["then"]
    assert [branch["share"] for branch in then["backends"]] == [0.1, 0.9]
    assert body["request"]["host"] == "iris.team-a.example.com"
    assert attempt["losers"]


def test_envoy_has_no_objects_and_is_explained_from_what_it_serves() -> None:
    """Every public answer of Envoy's own routes is that of Istio's, revisions included."""
    for seed in range(8):
        generated = worlds.make(seed)
        made = {}
        for provider in ("envoy", "istio"):
            chosen = Settings(assume="ready", provider=provider)
            done = cascade.run(generated.world, chosen, now=NOW)
            carried = serving.carried(done, chosen, registry.providers())
            assert bool(carried) == (provider == "envoy" and bool(_routes(done)))
            made[provider] = (done.world, chosen, carried)
        for request in [*generated.requests(8), *generated.local_requests(4)]:
            got, wanted = (
                next(iter(_served(explain.explain(request, world, chosen, carried=carried))), [])
                for world, chosen, carried in made.values()
            )
            assert got == wanted, f"seed {seed}: {request}"


def test_envoy_takes_a_host_in_any_spelling_as_it_does_when_it_serves() -> None:
    chosen = Settings(assume="ready", provider="envoy")
    done = cascade.run(settled(CONFIG, GATEWAYS, IRIS, settings=chosen), chosen, now=NOW)
    carried = serving.carried(done, chosen, registry.providers())
    host = "iris.team-a.example.com"

    def served(spelt: str) -> list[list[tuple[Any, float]]]:
        request = Request("POST", spelt, PREDICT)
        return _served(explain.explain(request, done.world, chosen, carried=carried))

    assert served(host)
    for spelt in (f"{host}.", f"{host}.localhost", f"{host}.localhost.:8080", f"{host}.LOCALHOST"):
        assert served(spelt) == served(host), spelt
    for other in (f"{host}..", f"{host}.localhost.localhost", f"x{host}.localhost"):
        assert not served(other), other


def _served(explanation: Explanation) -> list[list[tuple[Any, float]]]:
    """The ends of each attempt that some rule takes."""
    return [ends_of(attempt) for attempt in explanation.attempts if isinstance(attempt.answer, Hop)]


def _routes(done: cascade.Cascade) -> list[Any]:
    return [route for step in done.steps for route in step.emission.routes]


@pytest.mark.parametrize(
    ("listener", "asked", "reason"),
    [
        ("80, protocol: HTTP", {}, ""),
        ("80, protocol: HTTP", {"scheme": "https"}, "is HTTP on port 80; the request is https on"),
        ("80, protocol: HTTP", {"port": 9999}, "is HTTP on port 80; the request is http on port 9"),
        ("443, protocol: HTTPS", {"scheme": "https"}, ""),
        ("443, protocol: HTTPS", {}, "is HTTPS on port 443; the request is http on port 80"),
    ],
)
@pytest.mark.parametrize("kind", ["istio", "gateway_api"])
def test_a_gateway_takes_what_its_listeners_are_for(
    kind: str, listener: str, asked: dict[str, Any], reason: str
) -> None:
    found = ask(World.of(objects(SHOPS[kind] % listener)), "shop.example.com", "/", **asked)
    text = explain.render_text(found)
    (attempt,) = found.attempts
    assert isinstance(attempt.answer, NoRoute) == bool(reason)
    assert reason in text
    assert (f"404: {NAMES[kind]} {reason}" in text) == bool(reason)
    assert not found.private


NAMES = {
    "istio": "the server of Gateway edge/public",
    "gateway_api": "listener web of Gateway edge/public",
}
SHOPS = {
    "istio": """
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: public, namespace: edge}
spec:
  selector: {istio: ingressgateway}
  servers: [{hosts: ['*'], tls: {mode: SIMPLE}, port: {number: %s}}]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: shop, namespace: edge}
spec:
  hosts: [shop.example.com]
  gateways: [public, mesh]
  http: [{route: [{destination: {host: shop.edge.svc.cluster.local, port: {number: 80}}}]}]
""",
    "gateway_api": """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: public, namespace: edge}
spec:
  gatewayClassName: envoy
  listeners: [{name: web, port: %s}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: edge}
spec:
  hostnames: [shop.example.com]
  parentRefs: [{name: public}]
  rules: [{backendRefs: [{name: shop, port: 80}]}]
""",
}


def test_an_internal_host_stays_internal_where_no_rule_matches() -> None:
    world = World.of(objects(SHOPS["istio"] % "80, protocol: HTTP"))
    narrow = """
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: inner, namespace: edge}
spec:
  hosts: [inner.edge.svc.cluster.local]
  http:
  - match: [{uri: {prefix: /v1/}}]
    route: [{destination: {host: shop.edge.svc.cluster.local, port: {number: 80}}}]
"""
    found = ask(World.of((*world, *objects(narrow))), "inner.edge.svc.cluster.local", "/v2/x")
    assert found.private
    assert "404: no rule of host inner.edge.svc" in explain.render_text(found)


def test_a_host_that_only_the_mesh_has_is_told_with_the_refusal_of_the_gateway() -> None:
    shop = SHOPS["istio"].replace("hosts: ['*']", "hosts: ['*.other.org']")
    found = ask(World.of(objects(shop % "80, protocol: HTTP")), "shop.example.com", "/")
    assert found.private
    assert [attempt.entry for attempt in found.attempts] == ["mesh", "edge/public"]
    assert "404: Gateway edge/public admits no host shop.example.com" in explain.render_text(found)


def test_an_unknown_gateway_may_listen_anywhere() -> None:
    world = settled(CONFIG, IRIS)
    for asked in ({"scheme": "https"}, {"port": 9999}):
        assert len(ends(ask(world, "iris.team-a.example.com", **asked))) == 2


def test_reading_by_host_is_reading_everything() -> None:
    """The index leaves out only what has nothing to say."""
    for seed in range(12):
        generated = worlds.make(seed)
        world = cascade.run(generated.world, READY, now=NOW).world
        reads = Reads(world, READY, providers=registry.providers())
        full = {
            name: provider.read(world, reads=reads)
            for name, provider in reads.providers.items()
            if provider.kinds
        }
        for request in generated.requests(10):
            found = explain.explain(request, world, READY)
            for attempt in found.attempts:
                answer = full[attempt.provider].answer(attempt.request)
                if isinstance(attempt.answer, Hop) and isinstance(answer, Hop):
                    assert answer.rule == attempt.answer.rule
                    continue
                beyond = isinstance(attempt.answer, Hop) and "-ingress" in (
                    attempt.answer.rule.source.name
                )
                assert beyond or isinstance(answer, type(attempt.answer))


def test_only_relevant_services_give_the_same_answers() -> None:
    for seed in range(25):
        generated = worlds.make(seed)
        whole = cascade.run(generated.world, READY, now=NOW).world
        for request in generated.requests(6):
            refs = [ref_of(obj) for obj in generated.objects]
            only = explain.relevant(refs, request, generated.world, READY)
            part = cascade.run(generated.world, READY, now=NOW, only=only).world
            wanted, got = (explain.explain(request, world, READY) for world in (whole, part))
            known = {attempt.entry: ends_of(attempt) for attempt in wanted.attempts}
            for attempt in got.attempts:
                assert known.get(attempt.entry, [(404, 1.0)]) == ends_of(attempt)


def ends_of(attempt: Any) -> list[tuple[Any, float]]:
    return [
        (leaf.branch.backend if leaf.branch else leaf.status, leaf.share)
        for leaf in leaves(attempt)
    ]
