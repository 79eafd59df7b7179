"""The components phase as a whole: what is made, what is deleted, what the status says."""

from __future__ import annotations

from typing import Any

from ingressctl.api.refs import Raw, Ref
from tests.unit.kserve.components import making
from tests.unit.kserve.components.making import AVAILABLE, SKLEARN, XGBOOST

RUNTIME = making.runtime("rt", SKLEARN)
PREDICTOR = {"predictor": {"model": making.model()}}
STANDARD_NAMES = ["Deployment team-a/iris-predictor", "Service team-a/iris-predictor"]


def wanted(outcome: Any) -> list[str]:
    return [str(child.ref) for child in outcome.children]


def test_a_service_comes_before_its_deployment() -> None:
    outcome = making.reconcile(making.service(PREDICTOR), RUNTIME)
    assert wanted(outcome) == STANDARD_NAMES[::-1]
    service, deployment = outcome.children
    assert deployment.after == (service.ref,)


def test_deployments_are_made_only_where_they_are_ours_to_write() -> None:
    ours = making.settings(write=frozenset({"routes"}))
    outcome = making.reconcile(making.service(PREDICTOR), RUNTIME, chosen=ours)
    assert wanted(outcome) == ["Service team-a/iris-predictor"]


def test_no_runtime_leaves_everything_and_says_why() -> None:
    """R16: the condition tells; nothing of the service is touched."""
    step = making.step(making.service(PREDICTOR), making.owned("Service", "iris-predictor"))
    assert step.settlement.quiet
    assert step.outcome.keep.everything
    condition = making.condition(step.outcome, "PredictorReady")
    assert (condition["status"], condition["reason"]) == ("False", "NoSupportingRuntime")
    assert [event.reason for event in step.outcome.events] == ["InternalError"]
    silent = making.reconcile(making.service(PREDICTOR), chosen=making.settings("kserve"))
    assert making.condition(silent, "PredictorReady")["status"] == "Unknown"


def canary(**model: Any) -> dict[str, Any]:
    return {"trafficPercent": 20, "predictor": {"name": "b", "model": making.model(**model)}}


def test_a_canary_without_runtime_leaves_the_stable_alone() -> None:
    """R10: its objects stay, it gets no traffic, and a finding names the field."""
    spec = {**PREDICTOR, "canary": [canary(name="xgboost")]}
    stored = making.owned("Deployment", "iris-b-predictor", status={"availableReplicas": 0})
    step = making.step(making.service(spec), RUNTIME, stored)
    assert wanted(step.outcome) == STANDARD_NAMES[::-1]
    assert not step.outcome.faults
    assert step.settlement.deleted == ()
    assert [finding.path for finding in step.outcome.findings] == ["spec.canary[0].predictor"]
    assert making.condition(step.outcome, "CanaryPredictorReady")["status"] == "False"
    failed = making.reconcile(making.service(spec), RUNTIME, chosen=making.settings("kserve"))
    assert "fails to build resources for canary b" in failed.faults[0].message


def test_a_canary_of_another_format_chooses_for_itself() -> None:
    spec = {**PREDICTOR, "canary": [canary(name="xgboost")]}
    outcome = making.reconcile(making.service(spec), RUNTIME, making.runtime("xgb", XGBOOST))
    deployment = making.child(outcome, "apps/Deployment", "iris-b-predictor")
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "example/xgb:1"
    assert outcome.status is not None
    assert outcome.status["clusterServingRuntimeName"] == "rt"


def test_removed_components_go_with_all_that_was_theirs() -> None:
    """Q29 and W29; without them both stay."""
    conditions = [{"type": "TransformerReady", "status": "True", "severity": "Info"}]
    status = {"components": {"transformer": {"url": "http://t"}}, "conditions": conditions}
    obj = {**making.service(PREDICTOR), "status": status}
    stored = making.owned("Deployment", "iris-transformer", status=AVAILABLE)
    stored["metadata"]["labels"]["component"] = "transformer"
    step = making.step(obj, RUNTIME, stored)
    assert step.settlement.deleted == (Ref("apps", "Deployment", "team-a", "iris-transformer"),)
    assert not making.condition(step.outcome, "TransformerReady")
    kept = making.step(obj, RUNTIME, stored, chosen=making.settings("kserve"))
    assert kept.settlement.deleted == ()
    assert making.condition(kept.outcome, "TransformerReady")["status"] == "True"


def test_a_foreign_object_of_a_component_name_is_left_alone() -> None:
    foreign = making.owned("Service", "iris-predictor", spec={"ports": [{"port": 1}]})
    foreign["metadata"]["ownerReferences"] = []
    step = making.step(making.service(PREDICTOR), RUNTIME, foreign)
    assert "IC5101" in [finding.code for finding in step.settlement.findings]
    assert foreign not in step.settlement.changed


def test_workers_of_a_multi_node_predictor_are_not_cleaned_up() -> None:
    """Q6: only what a canary could have been is an orphan."""
    runtime = making.runtime("rt", SKLEARN, workerSpec={"containers": []})
    spec = {"predictor": {"model": making.model(), "workerSpec": {}}}
    worker = making.owned("Deployment", "iris-predictor-worker")
    orphan = making.owned("Deployment", "iris-old-predictor")
    step = making.step(making.service(spec), runtime, worker, orphan)
    assert [ref.name for ref in step.settlement.deleted] == ["iris-old-predictor"]
    hot = making.step(
        making.service(spec), runtime, worker, orphan, chosen=making.settings("kserve")
    )
    assert [ref.name for ref in hot.settlement.deleted] == [
        "iris-old-predictor",
        "iris-predictor-worker",
    ]


def test_stop_deletes_the_workloads_and_wipes_the_status_once() -> None:
    stopped = {"serving.kserve.io/stop": "True"}
    status = {"url": "http://u", "deploymentMode": "Standard", "servingRuntimeName": "rt"}
    obj: Raw = {**making.service(PREDICTOR, annotations=stopped), "status": status}
    step = making.step(obj, RUNTIME, making.owned("Deployment", "iris-predictor", AVAILABLE))
    assert [str(ref) for ref in step.settlement.deleted] == STANDARD_NAMES[:1]
    assert step.outcome.status is not None
    assert step.outcome.status.keys() == {"deploymentMode", "conditions"}
    assert making.condition(step.outcome, "PredictorReady")["reason"] == "Stopped"
    assert making.condition(step.outcome, "Stopped")["status"] == "True"


def test_ready_needs_every_component() -> None:
    """Q20: KServe looks at the predictor alone."""
    spec = {**PREDICTOR, "transformer": {"containers": [{"name": "t", "image": "example/t:1"}]}}
    objects = (
        RUNTIME,
        making.owned("Deployment", "iris-predictor", AVAILABLE),
        making.owned("Deployment", "iris-transformer", {"conditions": []}),
    )
    better = making.reconcile(making.service(spec), *objects)
    assert making.condition(better, "TransformerReady")["status"] == "False"
    assert "severity" not in making.condition(better, "TransformerReady")
    kserve = making.reconcile(making.service(spec), *objects, chosen=making.settings("kserve"))
    assert making.condition(kserve, "TransformerReady")["severity"] == "Info"


def test_placeholders_with_quotes() -> None:
    """W7: each string is a template of its own."""
    runtime = making.runtime("rt", SKLEARN)
    runtime["spec"]["containers"][0]["args"] = ['--x={{index .Labels "team"}}']
    obj = making.service(PREDICTOR, labels={"team": "blue"})
    outcome = making.reconcile(obj, runtime)
    pod = making.child(outcome, "apps/Deployment", "iris-predictor")["spec"]["template"]["spec"]
    assert pod["containers"][0]["args"] == ["--x=blue"]
    refused = making.reconcile(obj, runtime, chosen=making.settings("kserve"))
    assert "failed to replace placeholders" in refused.faults[0].message


def test_a_component_may_be_stopped_alone() -> None:
    """By its own annotation; the others go on."""
    spec = {
        **PREDICTOR,
        "transformer": {
            "annotations": {"serving.kserve.io/stop": "TRUE"},
            "containers": [{"name": "t", "image": "example/t:1"}],
        },
    }
    stored = making.owned("Deployment", "iris-transformer", AVAILABLE)
    step = making.step(making.service(spec), RUNTIME, stored)
    assert wanted(step.outcome) == STANDARD_NAMES[::-1]
    assert [ref.name for ref in step.settlement.deleted] == ["iris-transformer"]


def test_model_mesh_waits_for_the_url_of_the_predictor() -> None:
    """Its predictor is another controller's; the transformer is a Knative Service."""
    mesh = {"serving.kserve.io/deploymentMode": "ModelMesh"}
    transformer = {"containers": [{"name": "t", "image": "example/t:1"}]}
    obj = making.service({"predictor": {}, "transformer": transformer}, annotations=mesh)
    waiting = making.reconcile(obj, mode="Knative")
    assert (waiting.again, waiting.status, waiting.children) == (3.0, None, ())
    assert waiting.keep.everything
    url = {"components": {"predictor": {"url": "http://mesh"}}}
    served = making.reconcile({**obj, "status": url}, mode="Knative")
    assert wanted(served) == ["KService team-a/iris-transformer"]


def test_a_custom_predictor_has_no_runtime_in_its_status() -> None:
    """The reference leaves the last one's name there."""
    custom = {"predictor": {"containers": [{"name": "x", "image": "example/x:1"}]}}
    obj = {**making.service(custom), "status": {"clusterServingRuntimeName": "rt"}}
    better = making.reconcile(obj, RUNTIME).status or {}
    assert "clusterServingRuntimeName" not in better
    kserve = making.reconcile(obj, RUNTIME, chosen=making.settings("kserve")).status or {}
    assert kserve["clusterServingRuntimeName"] == "rt"


def test_what_is_asked_of_knative_mode_is_not_asked_of_others() -> None:
    """ModelMesh needs no config-autoscaler and has no RoutesReady (kserve-ingress.md 3)."""
    mesh = making.reconcile(
        making.service(
            {"predictor": {"model": making.model()}, "transformer": {"containers": [{}]}},
            annotations={"serving.kserve.io/deploymentMode": "ModelMesh"},
        )
        | {"status": {"components": {"predictor": {"url": "grpc://mesh:8033"}}}},
        chosen=making.settings("kserve"),
    )
    assert not mesh.faults
    assert making.condition(mesh, "RoutesReady") == {}
    assert [ref.name for ref in (child.ref for child in mesh.children)] == ["iris-transformer"]
