"""The traffic table of a Knative Service as a Route (spec/knative-routing.md 6)."""

from __future__ import annotations

from typing import Any

from ingressctl.api.refs import Raw, Ref
from ingressctl.core.model import Group, Route, Service
from ingressctl.core.settings import Assume, Settings
from ingressctl.core.world import Reads, World
from ingressctl.sources.knative import traffic


def config(name: str, **data: str) -> Raw:
    keys = {key.replace("_", "-"): value for key, value in data.items()}
    metadata = {"name": name, "namespace": "knative-serving"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": keys}


DOMAIN = {**config("config-domain"), "data": {"x.org": ""}}


def service(
    targets: list[dict[str, Any]] | None = None,
    *,
    labels: dict[str, str] | None = None,
    status: dict[str, Any] | None = None,
    container: dict[str, Any] | None = None,
) -> Raw:
    return {
        "apiVersion": "serving.knative.dev/v1",
        "kind": "Service",
        "metadata": {"name": "m", "namespace": "ns", "labels": labels or {}, "generation": 2},
        "spec": {
            **({"traffic": targets} if targets is not None else {}),
            "template": {"spec": {"containers": [container or {}]}},
        },
        "status": {"latestReadyRevisionName": "m-00002"} if status is None else status,
    }


def made(obj: Raw, *others: Raw, assume: Assume = "observed") -> Route | None:
    reads = Reads(World.of([DOMAIN, *others]), Settings(assume=assume), providers={})
    return traffic.route(obj, reads=reads)


def shares(group: Group) -> dict[str, int | None]:
    found = {}
    for split in group.rules[-1].splits:
        assert isinstance(split.target, Service)
        found[split.target.name] = split.weight
    return found


def groups(route: Route | None) -> dict[str, Group]:
    assert route is not None
    return {group.hosts[0].name: group for group in route.groups}


CANARY = [
    {"latestRevision": True, "percent": 10, "tag": "latest"},
    {"revisionName": "m-00001", "percent": 90, "tag": "prev"},
]


def test_default_and_tags_inside_and_outside() -> None:
    found = groups(made(service(CANARY)))
    assert set(found) == {
        "m.ns.svc.cluster.local",
        "m.ns.x.org",
        "latest-m.ns.svc.cluster.local",
        "latest-m.ns.x.org",
        "prev-m.ns.svc.cluster.local",
        "prev-m.ns.x.org",
    }
    assert shares(found["m.ns.x.org"]) == {"m-00002": 10, "m-00001": 90}
    assert shares(found["prev-m.ns.x.org"]) == {"m-00001": 100}
    inside = found["m.ns.svc.cluster.local"]
    assert [host.name for host in inside.hosts][1:] == ["m.ns.svc", "m.ns"]
    assert [entry.name for entry in inside.entries] == [
        "knative-serving/knative-local-gateway",
        "mesh",
    ]
    assert dict(inside.rules[0].splits[0].headers) == {
        "Knative-Serving-Revision": "m-00002",
        "Knative-Serving-Namespace": "ns",
    }


def test_one_revision_gets_everything_whatever_it_says() -> None:
    both = [{"latestRevision": True, "percent": 10}, {"revisionName": "m-00002", "percent": 90}]
    assert shares(groups(made(service(both)))["m.ns.x.org"]) == {"m-00002": 100}
    assert shares(groups(made(service()))["m.ns.x.org"]) == {"m-00002": 100}


def test_what_is_served_wins_over_what_is_wanted_at_the_present_generation_only() -> None:
    served = [{"revisionName": "m-00001", "percent": 100}]
    status = {"latestReadyRevisionName": "m-00002", "traffic": served, "observedGeneration": 2}
    assert shares(groups(made(service(CANARY, status=status)))["m.ns.x.org"]) == {"m-00001": 100}
    outdated = {**status, "observedGeneration": 1}
    assert shares(groups(made(service(CANARY, status=outdated)))["m.ns.x.org"]) == {
        "m-00002": 10,
        "m-00001": 90,
    }


def test_without_a_ready_revision_nothing_is_served_unless_assumed() -> None:
    assert made(service(status={})) is None
    assumed = made(service(status={}), assume="ready")
    assert shares(groups(assumed)["m.ns.x.org"]) == {"m-00001": 100}


def test_private_by_label_or_by_the_placeholder_of_a_tag() -> None:
    local = service(CANARY, labels={"networking.knative.dev/visibility": "cluster-local"})
    assert all(name.endswith(".svc.cluster.local") for name in groups(made(local)))
    placeholder = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "prev-m",
            "namespace": "ns",
            "labels": {
                "serving.knative.dev/route": "m",
                "networking.knative.dev/visibility": "cluster-local",
            },
        },
    }
    found = groups(made(service(CANARY), placeholder))
    assert "prev-m.ns.x.org" not in found
    assert "latest-m.ns.x.org" in found


def test_h2c_revisions_are_called_on_their_own_port() -> None:
    obj = service(container={"ports": [{"name": "h2c", "containerPort": 9000}]})
    assert groups(made(obj))["m.ns.x.org"].rules[0].splits[0].port == 81


def test_tag_headers_when_the_feature_is_on() -> None:
    features = config("config-features", tag_header_based_routing="Enabled")
    rules = groups(made(service(CANARY), features))["m.ns.x.org"].rules
    assert [rule.name for rule in rules] == ["tag-latest", "tag-prev", "traffic"]
    assert rules[1].matches[0].headers[0].value == "prev"


def test_gateways_of_both_formats_and_layers() -> None:
    new = config(
        "config-istio",
        local_gateways="- {namespace: a, name: inner, service: inner.a.svc.cluster.local}",
        external_gateways="- {namespace: a, name: outer, service: outer.a.svc.cluster.local}",
    )
    old = {**config("config-istio"), "data": {"gateway.b.edge": "edge.b.svc.cluster.local."}}
    other = config("config-network", ingress_class="gateway-api.ingress.networking.knative.dev")
    for objects, names in (
        ((new,), ("a/inner", "a/outer")),
        ((old,), ("knative-serving/knative-local-gateway", "b/edge")),
        ((other,), ("istio-system/knative-local-gateway", "istio-system/knative-gateway")),
    ):
        found = groups(made(service(), *objects))
        assert found["m.ns.svc.cluster.local"].entries[0].name == names[0]
        assert found["m.ns.x.org"].entries[0].name == names[1]


def test_beside_a_pinned_revision_the_assumed_latest_is_the_next_one() -> None:
    """A canary that is only in a file is a split between two revisions."""
    pinned = [
        {"latestRevision": True, "percent": 25, "tag": "latest"},
        {"revisionName": "m-00004", "percent": 75, "tag": "prev"},
    ]
    assumed = made(service(pinned, status={}), assume="ready")
    assert shares(groups(assumed)["m.ns.x.org"]) == {"m-00005": 25, "m-00004": 75}


def test_what_a_fresh_object_makes_is_assumed_ready_with_it() -> None:
    """An InferenceService that is only in a file is served down to its revision."""
    owner = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "name": "m",
        "controller": True,
    }
    obj = service(status={})
    obj = {**obj, "metadata": {**obj["metadata"], "ownerReferences": [owner]}}
    fresh = Settings(fresh=frozenset({Ref("serving.kserve.io", "InferenceService", "ns", "m")}))
    made_now = traffic.route(obj, reads=Reads(World.of([DOMAIN]), fresh, providers={}))
    assert shares(groups(made_now)["m.ns.x.org"]) == {"m-00001": 100}
