"""`--assume ready`: files without a status count as ready (design.md section 5)."""

from __future__ import annotations

from typing import Any

from ingressctl.api.refs import Raw, ref_of
from tests.unit.kserve.components import making

PREDICTOR = {"predictor": {"model": making.model()}}
READY = making.settings(assume="ready", write=frozenset({"routes"}))


def with_condition(status: str, **fields: Any) -> Raw:
    told = [{"type": "PredictorReady", "status": status}]
    return {**making.service(PREDICTOR), "status": {"conditions": told, **fields}}


def test_one_file_alone_is_rendered_with_the_runtimes_that_kserve_installs() -> None:
    outcome = making.reconcile(making.service(PREDICTOR), chosen=READY)
    assert not outcome.faults
    assert [route.ref.name for route in outcome.routes] == ["iris-predictor", "iris"]
    assert outcome.status is not None
    assert outcome.status["clusterServingRuntimeName"] == "kserve-sklearnserver"
    assert [finding.code for finding in outcome.findings] == ["IC1203"]


def test_canaries_are_ready_and_get_their_share() -> None:
    canary = {"trafficPercent": 30, "predictor": {"name": "b", "model": making.model()}}
    outcome = making.reconcile(making.service({**PREDICTOR, "canary": [canary]}), chosen=READY)
    splits = outcome.routes[0].groups[0].rules[0].splits
    assert [split.weight for split in splits] == [70, 30]


def test_a_knative_service_is_ready_as_its_first_revision() -> None:
    outcome = making.reconcile(making.service(PREDICTOR), mode="Knative", chosen=READY)
    assert outcome.status is not None
    component = outcome.status["components"]["predictor"]
    assert component["url"] == "http://iris-predictor.team-a.example.com"
    assert component["latestRolledoutRevision"] == "iris-predictor-00001"
    assert [host.name for host in outcome.routes[0].hosts()][:2] == [
        "iris.team-a.svc.cluster.local",
        "iris.team-a.svc",
    ]
    assert "iris.team-a.example.com" in [host.name for host in outcome.routes[0].hosts()]


def test_the_url_follows_knatives_own_names() -> None:
    domain = making.configmap("config-domain", "knative-serving", {"models.org": ""})
    network = making.configmap(
        "config-network",
        "knative-serving",
        {"domain-template": "{{.Name}}-{{.Namespace}}.{{.Domain}}"},
    )
    outcome = making.reconcile(
        making.service(PREDICTOR), domain, network, mode="Knative", chosen=READY
    )
    assert outcome.status is not None
    url = outcome.status["components"]["predictor"]["url"]
    assert url == "http://iris-predictor-team-a.models.org"


def test_what_a_status_says_holds() -> None:
    """Somebody saw that the predictor is not ready: that is no absence of a word."""
    told = making.reconcile(with_condition("False"), chosen=READY)
    assert making.condition(told, "PredictorReady")["status"] == "False"
    assert told.routes == ()
    fresh = making.settings(fresh=frozenset({ref_of(making.service(PREDICTOR))}))
    again = making.reconcile(with_condition("False"), chosen=fresh)
    assert making.condition(again, "PredictorReady")["status"] == "True"


def test_nothing_is_assumed_of_a_cluster() -> None:
    """Ours to write: a Deployment without a status is not ready. Beside KServe: no word."""
    runtime = making.runtime("rt", making.SKLEARN)
    ours = making.reconcile(with_condition("True"), runtime)
    assert making.condition(ours, "PredictorReady")["status"] == "False"
    beside = making.settings(write=frozenset({"routes"}))
    theirs = making.reconcile(with_condition("True"), runtime, chosen=beside)
    assert making.condition(theirs, "PredictorReady")["status"] == "True"


def test_an_existing_service_that_is_not_ours_to_write_wins() -> None:
    """Routes follow the ports that are there."""
    obj = with_condition("True")
    ports = [{"name": "http1", "port": 8081}, {"name": "grpc", "port": 9000}]
    stored = making.owned("Service", "iris-predictor", spec={"ports": ports})
    runtime = making.runtime("rt", making.SKLEARN)
    beside = making.settings(write=frozenset({"routes"}))
    rules = making.reconcile(obj, runtime, stored, chosen=beside).routes[0].groups[0].rules
    assert [rule.splits[0].port for rule in rules] == [9000, 8081]


TAG = {"serving.kserve.io/enable-tag-routing": "true"}


def test_a_tag_that_makes_the_host_too_long_is_left_out() -> None:
    """F28: Knative could not reconcile the route at all."""
    name = "m" * 44
    obj = making.service(PREDICTOR, name=name, annotations=TAG)
    network = making.configmap(
        "config-network",
        "knative-serving",
        {"domain-template": "{{.Name}}-{{.Namespace}}.{{.Domain}}"},
    )
    outcome = making.reconcile(obj, network, mode="Knative", chosen=READY)
    traffic = outcome.children[0].body["spec"]["traffic"]
    assert traffic == [{"latestRevision": True, "percent": 100}]
    finding = next(finding for finding in outcome.findings if finding.code == "IC3201")
    assert dict(finding.args)["length"] == len(f"latest-{name}-predictor-team-a")
    tagged = making.reconcile(obj, mode="Knative", chosen=READY)
    assert tagged.children[0].body["spec"]["traffic"][0]["tag"] == "latest"
