"""Where an object may have been served: at hosts that it tells or claims, not at others'."""

from __future__ import annotations

from typing import Any

import pytest

from ingressctl.api.refs import Raw, ref_of
from ingressctl.core.picture import Picture
from ingressctl.core.settings import Settings
from ingressctl.core.world import Claim, Claimant, Reads
from ingressctl.plan import told

KIND = ("serving.kserve.io", "InferenceService")


def service(
    name: str, url: Any = None, *, claims: str = "", created: str = "1", **more: Any
) -> Raw:
    status = {"url": url, **more}
    meta = {"name": name, "namespace": "ns", "creationTimestamp": created, "claims": claims}
    return {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": meta,
        "status": status,
    }


def claimed(obj: Raw, _: Reads) -> tuple[Claim, ...]:
    meta = obj["metadata"]
    hosts = meta["claims"].split()
    return tuple(Claim(ref_of(obj), host, True, meta["creationTimestamp"]) for host in hosts)


def hosts(obj: Raw, *others: Raw) -> set[str]:
    picture = Picture(Settings(), (Claimant(KIND, claimed),))
    picture.change([(ref_of(one), one) for one in (obj, *others)])
    picture.claim_later()
    while picture.pending:
        picture.renew()
    return set(told.hosts(obj, picture, "cluster.local"))


def test_all_urls_of_a_status_count_at_any_depth() -> None:
    components = {
        "predictor": {
            "restUrl": "http://rest.example.com:8080",
            "grpcUrl": "grpc.example.com",
            "storageUrl": "s3://bucket/model",
            "traffic": [{"tag": "prev", "url": "https://prev.example.com."}],
        }
    }
    conditions = [{"type": "Ready", "message": "http://no.example.com"}]
    obj = service("a", "http://A.Example.com/v1", components=components, conditions=conditions)
    assert hosts(obj) == {"a.example.com", "rest.example.com", "prev.example.com"}


def test_a_host_inside_the_cluster_has_short_forms() -> None:
    obj = service("a", address={"url": "http://a.ns.svc.cluster.local"})
    assert hosts(obj) == {"a.ns.svc.cluster.local", "a.ns.svc", "a.ns"}


def test_claims_count_of_whoever_was_served() -> None:
    assert hosts(service("a", "http://a.b", claims="a.b a.c")) == {"a.b", "a.c"}
    assert hosts(service("a", claims="a.b a.c")) == set()


def test_a_host_that_somebody_else_has_by_now_does_not() -> None:
    other = service("b", claims="a.b c.d", created="0")
    assert hosts(service("a", "http://a.b", claims="a.b c.d x.y"), other) == {"x.y"}
    later = service("b", claims="a.b", created="2")
    assert hosts(service("a", "http://a.b", claims="a.b"), later) == {"a.b"}
    assert hosts(service("a", "http://a.b"), later) == set()


@pytest.mark.parametrize("status", [None, {}, {"url": 7}, {"url": "http://[x"}, {"url": "/path"}])
def test_a_status_without_a_url_tells_none(status: object) -> None:
    assert hosts({**service("a", claims="a.b"), "status": status}) == set()
