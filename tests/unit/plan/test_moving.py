"""Nobody meets a gap while hosts or backends change: new ones first, old ones until then."""

from __future__ import annotations

from typing import Any

import pytest

from ingressctl.api.refs import Raw
from ingressctl.core.world import World
from ingressctl.plan import registry, writes
from ingressctl.plan.writes import Bearings, Plan
from tests.unit.kserve.components import making

OLD, NEW = "iris-team-a.old.test", "iris-team-a.example.com"
RUNTIME = making.runtime("rt", making.SKLEARN)
SPEC = {"predictor": {"model": making.model()}}
SETTLE = 5.0


def status(host: str, component: str = "") -> dict[str, Any]:
    """That of a service which was Ready under a host."""
    conditions = [{"type": kind, "status": "True"} for kind in ("IngressReady", "Ready")]
    return {
        "url": f"http://{host}",
        "components": {"predictor": {"url": f"http://{component or host}"}},
        "conditions": conditions,
    }


def served(**told: Any) -> Raw:
    """A service whose one Deployment is available."""
    return {**making.service(SPEC), "status": told or status(OLD)}


def route(name: str, backend: str) -> Raw:
    """A stored route of the service."""
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": making.owned("Service", name)["metadata"],
        "spec": {"rules": [{"backendRefs": [{"name": backend, "port": 80}]}]},
    }


def hostnames(obj: Raw, *others: Raw, compat: str = "better", provider: str = "") -> list[str]:
    """Of the route under the service's own host."""
    chosen = making.settings(compat, provider=provider, assume="ready")
    outcome = making.reconcile(obj, RUNTIME, *others, chosen=chosen)
    (top,) = [one for one in outcome.routes if one.ref.name == "iris"]
    return [host.name for host in top.hosts()]


@pytest.mark.parametrize("provider", ["gateway_api", "istio", "ingress", "envoy"])
def test_the_old_host_is_served_while_the_status_tells_it(provider: str) -> None:
    assert hostnames(served(), provider=provider) == [NEW, OLD]
    assert hostnames(served(**status(NEW)), provider=provider) == [NEW]


def test_a_component_has_its_own_old_host() -> None:
    outcome = making.reconcile(
        served(**status(OLD, "iris-predictor-team-a.old.test")),
        RUNTIME,
        chosen=making.settings(assume="ready"),
    )
    (own,) = [one for one in outcome.routes if one.ref.name == "iris-predictor"]
    assert [host.name for host in own.hosts()] == [
        "iris-predictor-team-a.example.com",
        "iris-predictor-team-a.old.test",
    ]


@pytest.mark.parametrize(
    "told", ["http://example.org/serving/team-a/iris", "http://iris.team-a.svc.cluster.local", ""]
)
def test_a_shared_or_private_host_is_never_added(told: str) -> None:
    assert hostnames(served(**{**status(OLD), "url": told})) == [NEW]


def test_kserve_lets_go_of_the_old_host_at_once() -> None:
    assert hostnames(served(), compat="kserve") == [NEW]


def planned(obj: Raw, *others: Raw, settle: float = SETTLE) -> Plan:
    chosen = making.settings(assume="ready", provider="gateway_api")
    stored = (making.config("Standard"), obj, RUNTIME, *others)
    return writes.plan(
        obj,
        making.step(obj, *stored[2:], chosen=chosen),
        World.of(stored),
        chosen,
        kinds=registry.routing_kinds(registry.providers()),
        bearings=Bearings(settle=settle),
        now=making.NOW,
    )


def urls(plan: Plan) -> set[str]:
    assert plan.status is not None
    return {plan.status["url"], plan.status["components"]["predictor"]["url"]}


def test_the_new_url_is_told_when_gateways_follow() -> None:
    """At once only where they take no time; the look that tells it is due by itself."""
    told = {"http://iris-team-a.old.test"}
    plan = planned(served())
    assert urls(plan) == told
    assert plan.again == SETTLE
    assert told.isdisjoint(urls(planned(served(), settle=0.0)))


ROLLED = {
    **making.AVAILABLE,
    "observedGeneration": 2,
    "replicas": 1,
    "updatedReplicas": 1,
    "availableReplicas": 1,
}


def deployment(name: str, obj: Raw, **told: Any) -> Raw:
    """As it is wanted of a service, with this told of its rollout."""
    wanted = making.child(making.reconcile(obj, RUNTIME), "apps/Deployment", name)
    stored = making.owned("Deployment", name, {**ROLLED, **told}, spec=wanted["spec"])
    return {**stored, "metadata": {**stored["metadata"], "generation": 2}}


def promoted() -> tuple[Raw, ...]:
    """A service whose predictor has got another name: the old one's objects are left over."""
    spec = {"predictor": {**SPEC["predictor"], "name": "next"}}
    return (
        {**making.service(spec), "status": status(NEW)},
        making.owned("Deployment", "iris-predictor", making.AVAILABLE),
        making.owned("Service", "iris-predictor"),
        route("iris", "iris-predictor"),
        route("iris-predictor", "iris-predictor"),
    )


def test_what_routes_that_stay_lead_to_stays() -> None:
    """The new predictor is not available, so routes still lead to the old one (Q36)."""
    unavailable = {"conditions": [{"type": "Available", "status": "False"}]}
    plan = planned(*promoted(), making.owned("Deployment", "iris-next-predictor", unavailable))
    assert not plan.deletes
    assert {(ref.kind, ref.name) for ref in plan.waiting} == {
        ("Deployment", "iris-predictor"),
        ("Service", "iris-predictor"),
    }


def test_it_goes_when_no_route_leads_to_it_any_more() -> None:
    objects = promoted()
    rolled = deployment("iris-next-predictor", objects[0])
    assert planned(*objects, rolled).waiting
    gone = planned(*objects, rolled, settle=0.0)
    assert {(item.ref.kind, item.ref.name) for item in gone.deletes} == {
        ("Deployment", "iris-predictor"),
        ("Service", "iris-predictor"),
    }


def in_place(**told: Any) -> Plan:
    """A canary is taken out while this is told of the predictor's Deployment."""
    return planned(
        served(**status(NEW)),
        deployment("iris-predictor", making.service(SPEC), **told),
        making.owned("Deployment", "iris-next-predictor", making.AVAILABLE),
        making.owned("Service", "iris-next-predictor"),
        route("iris", "iris-next-predictor"),
        route("iris-predictor", "iris-next-predictor"),
        settle=0.0,
    )


def written(plan: Plan) -> set[str]:
    return {apply.ref.name for stage in plan.stages for apply in stage if "Route" in apply.ref.kind}


@pytest.mark.parametrize(
    "told",
    [{"observedGeneration": 1}, {"updatedReplicas": 0}, {"replicas": 2}, {"availableReplicas": 0}],
)
def test_a_canary_serves_until_the_predictor_has_rolled(told: dict[str, int]) -> None:
    """Also where gateways take no time. The next look is due by itself."""
    plan = in_place(**told)
    assert not plan.deletes
    assert written(plan) == set()
    assert plan.waiting
    assert plan.again


def test_the_predictor_takes_over_when_it_has_rolled() -> None:
    plan = in_place()
    assert written(plan) == {"iris", "iris-predictor"}
    assert {item.ref.name for item in plan.deletes} == {"iris-next-predictor"}
