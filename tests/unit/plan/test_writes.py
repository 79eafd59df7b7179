"""What one reconcile wants written: in which order, and what has to wait."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ingressctl.api.refs import Raw, Ref, owner_of, ref_of
from ingressctl.core import conditions, managed
from ingressctl.core.differences import Compat
from ingressctl.core.model import Group, Host, Route
from ingressctl.core.outcome import Child, Event, Keep, Outcome
from ingressctl.core.ports import Emission
from ingressctl.core.settings import Settings
from ingressctl.core.values import replace
from ingressctl.core.world import Lookup, World
from ingressctl.plan import leaving, writes
from ingressctl.plan.cascade import Step
from ingressctl.plan.settle import Settlement
from ingressctl.plan.writes import Bearings, Plan
from tests.apiserver import made

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
ROUTE_KIND = ("gateway.networking.k8s.io", "HTTPRoute")
ISTIO_KIND = ("networking.istio.io", "VirtualService")
ALL = Settings(write=frozenset({"routes", "workloads"}))
OWNER = made.service("iris", uid="u1")
READY = {
    "conditions": [
        {"type": "IngressReady", "status": "True"},
        {"type": "Ready", "status": "True"},
    ]
}


def obj(kind: str, name: str, *, written: datetime | None = None, **meta: Any) -> dict[str, Any]:
    versions = {
        "HTTPRoute": "gateway.networking.k8s.io/v1",
        "Deployment": "apps/v1",
        "VirtualService": "networking.istio.io/v1",
    }
    found = {
        "apiVersion": versions.get(kind, "v1"),
        "kind": kind,
        "metadata": {"name": name, "namespace": "team-a", "uid": f"uid-{name}", **meta},
        "spec": {},
    }
    if written is not None:
        entry = {
            "manager": managed.manager_of("InferenceService"),
            "time": written.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        found["metadata"]["managedFields"] = [entry]
    return found


def child(raw: Raw, *after: Raw) -> Child:
    return Child(ref_of(raw), raw, "workloads", tuple(map(ref_of, after)))


def serving(host: str) -> Route:
    return Route(ref_of(OWNER), owner_of(OWNER), (Group((Host(host),), (), ()),))


def step(
    *,
    children: Iterable[Child] = (),
    routes: Iterable[Raw] = (),
    created: Iterable[Raw] = (),
    changed: Iterable[Raw] = (),
    deleted: Iterable[Raw] = (),
    status: Any = None,
    events: tuple[Event, ...] = (),
    lookups: tuple[Lookup, ...] = (),
    hosts: tuple[str, ...] = (),
) -> Step:
    outcome = Outcome(
        children=tuple(children),
        routes=tuple(serving(host) for host in hosts),
        status=status,
        events=events,
        answers_for="IngressReady",
    )
    settlement = Settlement(
        created=tuple(created),
        changed=tuple(changed),
        deleted=tuple(map(ref_of, deleted)),
    )
    emission = Emission(owner_of(OWNER), objects=tuple(routes))
    return Step(ref_of(OWNER), outcome, emission, settlement, lookups)


def planned(
    given: Step,
    *stored: Raw,
    owner: Raw = OWNER,
    bearings: Bearings | None = None,
    settings: Settings = ALL,
) -> Plan:
    return writes.plan(
        owner,
        given,
        World.of(stored),
        settings,
        kinds=(ROUTE_KIND, ISTIO_KIND),
        bearings=bearings or Bearings(settle=5.0),
        now=NOW,
    )


def names(plan: Plan) -> list[set[str]]:
    return [{apply.ref.name for apply in stage} for stage in plan.stages]


def deleted(plan: Plan) -> list[str]:
    return [delete.ref.name for delete in plan.deletes]


def test_what_traffic_leads_to_comes_before_the_routes() -> None:
    deployment, service, route = obj("Deployment", "d"), obj("Service", "s"), obj("HTTPRoute", "r")
    plan = planned(
        step(
            children=[child(service, deployment), child(deployment)],
            routes=[route],
            created=[route, service, deployment],
        )
    )
    assert names(plan) == [{"d"}, {"s"}, {"r"}]


def test_an_edit_of_what_is_there_is_one_group_of_writes() -> None:
    """Nobody waits for objects that exist: an edit reaches its routes in one step."""
    deployment, service, route = obj("Deployment", "d"), obj("Service", "s"), obj("HTTPRoute", "r")
    there = [deployment, service, route]
    children = [child(service, deployment), child(deployment)]
    plan = planned(step(children=children, routes=[route], changed=there), *there)
    assert names(plan) == [{"d", "s", "r"}]
    assert plan.stages[0][0].ref == ref_of(route), "an edit is seen on its route first"
    mixed = step(children=children, routes=[route], created=[service], changed=[deployment, route])
    assert names(planned(mixed, deployment, route)) == [{"d", "s"}, {"r"}]


def test_children_that_wait_for_each_other_are_written_all_the_same() -> None:
    one, two = obj("Deployment", "one"), obj("Service", "two")
    plan = planned(step(children=[child(one, two), child(two, one)], created=[one, two]))
    assert names(plan) == [{"one", "two"}]


def test_what_is_not_ours_to_write_is_not_written() -> None:
    deployment, route = obj("Deployment", "d"), obj("HTTPRoute", "r")
    given = step(children=[child(deployment)], routes=[route], created=[deployment, route])
    assert names(planned(given, settings=Settings(write=frozenset({"routes"})))) == [{"r"}]
    assert names(planned(given, settings=Settings(write=frozenset({"workloads"})))) == [{"d"}]


def test_a_change_is_pinned_to_the_object_that_is_there() -> None:
    stored = obj("HTTPRoute", "r")
    plan = planned(step(routes=[stored], changed=[stored]), stored)
    assert [apply.uid for apply in plan.stages[0]] == ["uid-r"]
    plan = planned(step(routes=[stored], created=[stored]))
    assert [apply.uid for apply in plan.stages[0]] == [""]


def test_nothing_is_to_be_done_where_nothing_differs() -> None:
    route = obj("HTTPRoute", "r", written=NOW - timedelta(hours=1))
    plan = planned(step(routes=[route], status={}), route)
    assert plan.quiet
    assert plan.again is None


def test_a_route_goes_at_once_and_its_target_when_the_gateways_have_let_go() -> None:
    route, target = obj("HTTPRoute", "old"), obj("Deployment", "target")
    kept = obj("HTTPRoute", "r", written=NOW - timedelta(seconds=2))
    given = step(routes=[kept], deleted=[route, target], status={})
    plan = planned(given, route, target, kept)
    assert deleted(plan) == ["old"]
    assert [ref.name for ref in plan.waiting] == ["target"]
    assert plan.again == 5.0, "gateways have to follow the end of a route as well"
    assert plan.status is not None
    assert conditions.stored_status(plan.status, writes.SETTLED) == "False"
    rest = step(routes=[kept], deleted=[target], status={})
    soon = planned(rest, target, kept)
    assert deleted(soon) == []
    assert soon.again == pytest.approx(4.0), "5 s, and one that the clock of writes may hide"
    aged = obj("HTTPRoute", "r", written=NOW - timedelta(seconds=7))
    later = planned(rest, target, aged)
    assert deleted(later) == ["target"]
    assert later.again is None


def test_a_route_of_another_provider_stays_until_gateways_follow_what_takes_its_place() -> None:
    """A switch of providers leaves no host without a route; a host that goes is gone at once."""
    new = obj("HTTPRoute", "r", written=NOW - timedelta(seconds=2))
    spec = {"hosts": ["r.example.com", "r.a.svc.cluster.local"]}
    old = {**obj("VirtualService", "r"), "spec": spec}
    given = step(routes=[new], deleted=[old], status={}, hosts=("r.example.com",))
    assert [ref.name for ref in planned(given, new, old).waiting] == ["r"]
    renamed = {**old, "spec": {"hosts": ["former.example.com"]}}
    assert deleted(planned(given, new, renamed)) == ["r"]


def test_a_target_waits_for_the_route_that_is_written_now() -> None:
    route, target = obj("HTTPRoute", "r"), obj("Deployment", "target")
    plan = planned(step(routes=[route], changed=[route], deleted=[target]), route, target)
    assert (deleted(plan), plan.again) == ([], 5.0)


def test_a_target_waits_for_a_proxy_of_ours_that_holds_it() -> None:
    target = obj("Deployment", "target")
    given = step(deleted=[target])
    held = Bearings(held=frozenset({("team-a", "target")}))
    assert deleted(planned(given, target, bearings=held)) == []
    assert deleted(planned(given, target, bearings=Bearings())) == ["target"]
    waiting = Bearings(unacknowledged=frozenset({ref_of(OWNER)}))
    plan = planned(given, target, bearings=waiting)
    assert (deleted(plan), plan.again) == ([], 1.0)


def test_settled_is_told_after_it_has_been_waited_for() -> None:
    waited = conditions.noted({}, writes.SETTLED, "False", reason="WaitingForGateway", message="x")
    owner, target = {**OWNER, "status": waited}, obj("Deployment", "target")
    plan = planned(step(status={}), owner=owner)
    assert plan.status is not None
    assert conditions.stored_status(plan.status, writes.SETTLED) == "True"
    going = planned(step(status=waited, deleted=[target]), target, owner=owner, bearings=Bearings())
    assert (deleted(going), going.status) == (["target"], None)
    lookup = Lookup("list", ("apps", "Deployment", "team-a", ()), True)
    unseen = step(status=waited, deleted=[target], lookups=(lookup,))
    half = Bearings(incomplete=frozenset({("apps", "Deployment")}))
    plan = planned(unseen, target, owner=owner, bearings=half)
    assert (deleted(plan), plan.status) == ([], None)


@pytest.mark.parametrize("what", ["list", "get", "exists", "holds"])
def test_while_a_list_is_not_whole_nothing_is_deleted(what: Any) -> None:
    route, target = obj("HTTPRoute", "r"), obj("Deployment", "target")
    lookup = Lookup(what, ("apps", "Deployment", "team-a", ()), True)
    given = step(deleted=[route, target], lookups=(lookup,))
    half = Bearings(incomplete=frozenset({("apps", "Deployment")}))
    assert deleted(planned(given, route, target, bearings=half)) == []
    other = Bearings(incomplete=frozenset({("networking.istio.io", "VirtualService")}))
    assert len(deleted(planned(given, route, target, bearings=other))) == 2


def test_a_paused_owner_is_left_alone_and_told() -> None:
    route = obj("HTTPRoute", "r")
    owner = made.service("iris", uid="u1", annotations={leaving.PAUSED: "true"})
    plan = planned(step(routes=[route], created=[route], status=READY), owner=owner)
    assert plan.quiet
    assert [finding.code for finding in plan.findings] == ["IC7101"]


def test_a_paused_child_is_left_alone_and_the_others_are_not() -> None:
    pausing = {"annotations": {leaving.PAUSED: "true"}}
    paused, gone = obj("HTTPRoute", "paused", **pausing), obj("HTTPRoute", "gone", **pausing)
    other = obj("HTTPRoute", "other")
    given = step(routes=[paused, other], changed=[paused, other], deleted=[gone])
    plan = planned(given, paused, other, gone)
    assert (names(plan), deleted(plan)) == ([{"other"}], [])
    assert [finding.refs[0].name for finding in plan.findings] == ["paused"]


def test_the_first_ready_waits_until_gateways_follow() -> None:
    """F89; and good news waits with it. Whoever was ready stays so."""
    route = obj("HTTPRoute", "r")
    news = (Event("Normal", "InferenceServiceReady", "it serves"), Event("Warning", "Odd", "x"))
    given = step(routes=[route], changed=[route], status=READY, events=news)
    plan = planned(given, route)
    assert plan.status is not None
    assert conditions.stored_status(plan.status, "IngressReady") == "Unknown"
    assert conditions.stored_status(plan.status, "Ready") != "True"
    assert [event.reason for event in plan.events] == ["Odd"]
    assert plan.again == 5.0
    before = planned(given, route, owner={**OWNER, "status": READY})
    assert conditions.stored_status(before.status or READY, "Ready") == "True"
    kserve = Settings(write=ALL.write, compat=Compat.parse("kserve"))
    as_kserve = planned(given, route, settings=kserve)
    assert conditions.stored_status(as_kserve.status or {}, "Ready") == "True"
    settled = planned(given, route, bearings=Bearings(settle=0.0))
    assert [event.reason for event in settled.events] == ["InferenceServiceReady", "Odd"]


def test_a_status_passes_that_tells_only_of_gateways_which_have_not_read_the_routes() -> None:
    """Nothing else of it is new, and nothing is deleted or waits for that."""
    route, backend = obj("HTTPRoute", "r"), obj("Deployment", "d")
    ingress = {"type": "IngressReady", "status": "False", "reason": "ParentStatusNotAvailable"}
    unread = {"conditions": [ingress, {**ingress, "type": "Ready"}]}
    before = {**OWNER, "status": READY}
    given = step(routes=[route], created=[route], status=unread)
    plan = planned(given, owner=before)
    assert plan.passing
    assert plan.without_status().stages == plan.stages
    assert plan.without_status().status is None
    assert plan.without_status().events == ()
    assert not planned(given, owner=OWNER | {"status": {**READY, "url": "http://old"}}).passing
    later = planned(step(status=unread), owner=before)
    assert (later.passing, later.routed, plan.routed) == (True, False, True)
    leaving = step(
        routes=[route], created=[route], status=unread, deleted=[backend], hosts=("a.b",)
    )
    assert not planned(leaving, backend, owner=before).passing


def test_a_condition_that_turns_false_is_an_event_once() -> None:
    failed = {
        "conditions": [
            {"type": "IngressReady", "status": "False", "reason": "NoGateway", "message": "none"},
            {"type": "Info", "status": "False", "reason": "Quiet", "severity": "Info"},
            {"type": "Odd", "status": "False", "reason": "a sentence, no reason"},
        ]
    }
    plan = planned(step(status=failed))
    assert [(event.type, event.reason) for event in plan.events] == [("Warning", "NoGateway")]
    assert plan.status is not None
    again = planned(step(status=failed), owner={**OWNER, "status": plan.status})
    assert again.events == ()
    assert again.status is None


def test_refs_of_all_that_is_wanted_are_told() -> None:
    deployment, route = obj("Deployment", "d"), obj("HTTPRoute", "r")
    plan = planned(step(children=[child(deployment)], routes=[route]))
    assert plan.wanted == {ref_of(deployment), ref_of(route)}
    assert all(isinstance(ref, Ref) for ref in plan.wanted)


def hiding(*deleted_: Raw, lookups: tuple[Lookup, ...] = ()) -> Step:
    """The step of an owner that asked to be private."""
    given = step(deleted=deleted_, status={}, lookups=lookups)
    return replace(given, outcome=replace(given.outcome, keep=Keep(hidden=True)))


def test_what_is_private_goes_before_anything_is_written() -> None:
    public = {**obj("HTTPRoute", "r"), "spec": {"hostnames": ["r.example.com"]}}
    (delete,) = planned(hiding(public), public).deletes
    assert delete.first


def test_what_is_private_goes_also_while_a_list_is_not_whole() -> None:
    """Lists say what is wanted besides; that this is not wanted is known without them."""
    public = {**obj("HTTPRoute", "r"), "spec": {"hostnames": ["r.example.com"]}}
    local = {**obj("HTTPRoute", "l"), "spec": {"hostnames": ["r.a.svc.cluster.local"]}}
    looked = (Lookup("list", ("", "Service", "team-a", ()), True),)
    blind = Bearings(settle=5.0, incomplete=frozenset({("", "Service")}))
    plan = planned(hiding(public, local, lookups=looked), public, local, bearings=blind)
    assert deleted(plan) == ["r"]


def test_nothing_is_made_where_somebody_elses_may_stand_unseen() -> None:
    service, route = obj("Service", "s"), obj("HTTPRoute", "r")
    given = step(children=[child(service)], routes=[route], created=[service, route])
    blind = Bearings(settle=5.0, incomplete=frozenset({("", "Service")}))
    assert names(planned(given, bearings=blind)) == [{"r"}]
