"""The chain of owners, its first cause, and what else is told of an object."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ingressctl.api.refs import Ref, ref_of
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import chain, describing, describing_text, registry, states
from tests.unit.plan import chains
from tests.unit.plan.chains import held, ready

NOW = datetime(2026, 5, 1, 12, 5, tzinfo=UTC)
KNATIVE = "serving.knative.dev/v1"


def describe(obj: dict[str, Any], *others: dict[str, Any]) -> describing.Description:
    return describing.describe(
        obj,
        World.of([obj, *others]),
        Settings(),
        now=NOW,
        providers=registry.providers(),
    )


def text(told: describing.Description) -> list[str]:
    return list(describing_text.lines(told, now=NOW))


def test_the_deepest_object_that_is_not_ready_is_the_first_cause() -> None:
    objects = chains.stuck()
    told = describe(objects[0], *objects[1:])
    assert told.cause is not None
    assert str(told.cause.ref) == "Pod a/m-two-predictor-1-x"
    first, remedy = text(told)[:2]
    assert first == (
        "InferenceService a/m is not ready: Pod a/m-two-predictor-1-x: ImagePullBackOff: "
        "container storage-initializer: no such image"
    )
    assert remedy == "  help: kubectl -n a describe pod m-two-predictor-1-x"


def test_what_is_below_a_ready_object_does_no_harm() -> None:
    objects = chains.stuck()
    objects[0]["status"] = ready("True")
    told = describe(objects[0], *objects[1:])
    assert told.cause is None
    assert text(told)[0] == "InferenceService a/m is ready"


def test_ingress_not_configured_leads_down_to_the_ingress() -> None:
    """Knative's words for: nobody has looked at the KIngress (ux.md 9, question 4)."""
    isvc = chains.service(**ready("False", "IngressNotConfigured"))
    ksvc = held(KNATIVE, "Service", "m-predictor", owner=isvc,
                status=ready("Unknown", "IngressNotConfigured"))  # fmt: skip
    route = held(KNATIVE, "Route", "m-predictor", owner=ksvc,
                 status=ready("Unknown", "IngressNotConfigured"))  # fmt: skip
    king = held("networking.internal.knative.dev/v1alpha1", "Ingress", "m-predictor", owner=route)
    first, remedy = text(describe(isvc, ksvc, route, king, chains.RUNTIME))[:2]
    assert first == (
        "InferenceService a/m is not ready: KIngress a/m-predictor: NoStatus: no controller has "
        "written its status yet"
    )
    assert remedy == "  help: see whether the controller of KIngress runs, and what it logs"


def test_the_chain_leads_up_to_what_a_person_wrote() -> None:
    """Who wrote this VirtualService (question 10)."""
    isvc = chains.service(**ready("True"))
    vs = held("networking.istio.io/v1", "VirtualService", "m", owner=isvc,
              metadata={"managedFields": [
                  {"manager": "manager", "operation": "Update", "time": "2026-05-01T12:00:00Z"},
                  {"manager": "istiod", "operation": "Update", "subresource": "status"},
              ]},
              spec={"hosts": ["m.x.org"], "gateways": ["b/gate", "mesh"], "http": []})  # fmt: skip
    gate = {"apiVersion": "networking.istio.io/v1", "kind": "Gateway",
            "metadata": {"name": "gate", "namespace": "b", "uid": "g"},
            "spec": {"selector": {}, "servers": []}}  # fmt: skip
    told = describe(vs, isvc, gate)
    shown = text(told)
    assert shown[0].startswith("VirtualService a/m says nothing of its state")
    assert "Written by:  manager, istiod (status)" in shown
    assert "Belongs to:  InferenceService a/m" in shown
    assert shown[-3:] == [
        "  ++ InferenceService a/m",
        "       VirtualService a/m",
        "         Gateway b/gate",
    ]


def test_an_owner_that_cannot_be_read_is_named() -> None:
    isvc = chains.service()
    deployment = held("apps/v1", "Deployment", "d", owner=isvc, status=ready("True", kind="x"))
    told = describe(deployment)
    assert [str(node.ref) for node in told.owners] == ["InferenceService a/m"]
    assert told.owners[0].obj is None


def test_a_virtual_service_of_another_namespace_is_found_by_label() -> None:
    route = held(KNATIVE, "Route", "r", status=ready("True"))
    labels = {"serving.knative.dev/route": "r", "serving.knative.dev/routeNamespace": "a"}
    vs = held("networking.istio.io/v1", "VirtualService", "far", metadata={
        "namespace": "istio", "labels": labels,
    }, spec={})  # fmt: skip
    world = World.of([route, vs])
    assert chain.owners(vs, world) == (ref_of(route),)
    assert [node.ref for node in chain.tree(route, world).walk()] == [ref_of(route), ref_of(vs)]


def test_owners_in_a_circle_end() -> None:
    one = held("v1", "Service", "one")
    two = held("v1", "Service", "two", owner=one)
    one["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "Service", "name": "two", "uid": "Service-two",
         "controller": True}
    ]  # fmt: skip
    world = World.of([one, two])
    assert len(list(chain.tree(one, world).walk())) == 2
    assert chain.owners(one, world) == (ref_of(two), ref_of(one))


def test_wanted_and_served_stand_side_by_side() -> None:
    """The route has the weights of before; the canary's Deployment failed."""
    objects = chains.stuck()
    refs = [{"name": "m-predictor", "port": 80, "weight": 100}]
    gateway = {
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
        "metadata": {"name": "g", "namespace": "a", "uid": "g"},
        "spec": {"gatewayClassName": "c",
                 "listeners": [{"name": "h", "port": 80, "protocol": "HTTP"}]},
    }  # fmt: skip
    route = held("gateway.networking.k8s.io/v1", "HTTPRoute", "m", owner=objects[0],
                 spec={"hostnames": ["m.x.org"], "parentRefs": [{"name": "g"}],
                       "rules": [{"backendRefs": refs}]},
                 status={"parents": [ready("True", kind="Accepted")]})  # fmt: skip
    told = describe(objects[0], *objects[1:], route, gateway)
    shown = text(told)
    place = shown.index("Split (wanted, served):")
    assert shown[place + 1 : place + 4] == [
        "    90%  100% % m-predictor",
        "    10%    0% ! m-two-predictor (canary)",
        "                Error: MinimumReplicasUnavailable",
    ]
    route["status"] = {"parents": [ready("False", "NoMatchingParent", kind="Accepted")]}
    refused = describe(objects[0], *objects[1:], route, gateway)
    assert [share.served for share in refused.splittings[0].shares] == [None, None]


def test_a_traffic_table_is_read_as_wanted_and_served() -> None:
    ksvc = held(
        KNATIVE, "Service", "s",
        spec={"traffic": [
            {"revisionName": "s-1", "percent": 70},
            {"latestRevision": True, "percent": 30, "tag": "next"},
        ]},
        status={
            **ready("True"),
            "latestCreatedRevisionName": "s-3",
            "url": "http://s.x.org",
            "traffic": [
                {"revisionName": "s-1", "percent": 80},
                {"revisionName": "s-2", "latestRevision": True, "percent": 20, "tag": "next",
                 "url": "http://next-s.x.org"},
            ],
        },
    )  # fmt: skip
    failed = held(KNATIVE, "Revision", "s-2", owner=ksvc, status=ready("False", "ExitCode1"))
    shown = text(describe(ksvc, failed))
    place = shown.index("Split (wanted, served):")
    assert shown[place + 1 : place + 4] == [
        "    70%   80% ? s-1",
        "    30%   20% ! @latest (s-2) #next",
        "                Error: ExitCode1",
    ]
    assert "  http://next-s.x.org (#next)" in shown


def test_a_paused_object_says_so() -> None:
    isvc = chains.service(**ready("True"))
    isvc["metadata"]["annotations"]["ingressctl.dev/paused"] = "true"
    assert "Paused:      ingressctl.dev/paused: true" in text(describe(isvc))


def test_a_foreign_object_in_the_way_is_the_cause() -> None:
    """Nothing below the service has failed: what its reconcile says comes first."""
    isvc = chains.service(**ready("Unknown"))
    foreign = held("networking.k8s.io/v1", "Ingress", "m", spec={})
    deployments = [
        held("apps/v1", "Deployment", name, owner=isvc, status=ready("True", kind="Available"))
        for name in ("m-predictor", "m-two-predictor")
    ]
    told = describe(isvc, foreign, *deployments, chains.RUNTIME)
    assert told.cause is not None
    assert (told.cause.reason, told.cause.ref) == (
        "IC5101",
        Ref("networking.k8s.io", "Ingress", "a", "m"),
    )
    assert "delete the object" in told.cause.help


def test_what_nobody_has_made_is_in_the_chain() -> None:
    isvc = chains.service(**ready("Unknown"))
    told = describe(isvc, chains.RUNTIME)
    lacking = {node.ref.name for node in told.node.walk() if node.obj is None}
    assert "m-predictor" in lacking


@pytest.mark.parametrize(
    ("kind", "status", "state"),
    [
        ("Deployment", {}, states.UNSEEN),
        ("Pod", {"phase": "Succeeded"}, states.READY),
        (
            "Pod",
            {"containerStatuses": [{"name": "c", "state": {"waiting": {"reason":
             "ContainerCreating"}}}], **ready("False", "ContainersNotReady")},
            states.State("False", "ContainersNotReady"),
        ),
        (
            "Pod",
            {"containerStatuses": [{
                "name": "c",
                "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
                "lastState": {"terminated": {"message": "no module named x\n"}},
            }]},
            states.State("False", "CrashLoopBackOff", "container c: no module named x"),
        ),
        (
            "Pod",
            ready("False", "Unschedulable", "0/3 nodes", kind="PodScheduled"),
            states.State("False", "Unschedulable", "0/3 nodes"),
        ),
    ],
)  # fmt: skip
def test_what_objects_say(kind: str, status: dict[str, Any], state: states.State) -> None:
    group = "apps/v1" if kind == "Deployment" else "v1"
    assert states.of(held(group, kind, "x", status=status)) == state


def test_a_status_of_an_earlier_generation_says_nothing_of_this_one() -> None:
    obj = chains.service(**ready("True"), observedGeneration=1)
    obj["metadata"]["generation"] = 2
    assert states.of({**obj, "apiVersion": "x/v1", "kind": "Service"}).reason == "StatusOutdated"
    assert states.of(obj).status == "True", "KServe writes the generation of the Deployment there"


def test_a_summary_without_reason_speaks_by_what_it_sums_up() -> None:
    status = {
        "conditions": [
            {"type": "Ready", "status": "False"},
            {"type": "Stopped", "status": "False", "severity": "Info", "reason": "no"},
            {"type": "PredictorReady", "status": "Unknown"},
            {"type": "IngressReady", "status": "False", "reason": "HostInUse"},
        ]
    }
    assert states.of(chains.service(**status)) == states.State("False", "IngressReady", "HostInUse")
