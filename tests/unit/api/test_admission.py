"""What admission refuses: each refusal carries the path of the field and a remedy."""

from __future__ import annotations

import copy
import datetime
from typing import Any

import pytest
from hypothesis import given

from ingressctl.api import admission
from ingressctl.api.admission import gpus, scaling
from ingressctl.api.inferenceservices import MODE_ANNOTATION, InferenceService, ViewFault
from ingressctl.core.differences import BETTER, KSERVE, Compat
from tests.unit.api import making
from tests.unit.api.making import MODEL, STANDARD, canary, canary_service, refuse, runtime, service


@given(making.OBJECTS, making.OBJECTS, making.KINDS, making.COMPATS)
def test_arbitrary_json_is_no_exception(
    new: dict[str, Any], old: dict[str, Any], kind: Any, compat: Compat
) -> None:
    for operation in ("create", "update", "delete"):
        admission.validate(
            {**new, "kind": kind},
            old=old if operation == "update" else None,
            operation=operation,
            config=making.CONFIG,
            differs=compat.differs,
            peers=[old, {**new, "kind": kind}],
        )


@given(making.SERVICES | making.broken(), making.COMPATS)
def test_admission_of_a_service_is_no_exception(obj: dict[str, Any], compat: Compat) -> None:
    admitted = admission.admit(
        obj, operation="create", config=making.CONFIG, differs=compat.differs
    )
    assert all(refusal.path and refusal.remedy for refusal in admitted.refusals)


@pytest.mark.parametrize(
    ("field", "bits"),
    [
        ("minReplicas", 32),
        ("maxReplicas", 32),
        ("scaleTarget", 32),
        ("timeout", 64),
        ("containerConcurrency", 64),
        ("canaryTrafficPercent", 64),
    ],
)
def test_a_number_that_go_has_no_room_for_is_refused(field: str, bits: int) -> None:
    """By admission, and by the view of the reconcile where one was stored all the same."""
    path, most = f"spec.predictor.{field}", 2 ** (bits - 1) - 1
    told = refuse(canary_service(**{field: most + 1}))
    assert f"{most + 1} into Go value of type int{bits}" in told[path]
    with pytest.raises(ViewFault) as caught:
        InferenceService(service({"predictor": {field: most + 1}}))
    assert caught.value.path == path
    InferenceService(service({"predictor": {field: most}}))


def test_every_fault_of_the_schema_is_told_at_once() -> None:
    obj = canary_service(canary("10"), minReplicas="two", model={"storageUri": 3})
    obj["metadata"]["labels"] = {"team": True}
    assert refuse(obj) == {
        "metadata.labels.team": 'InferenceService.serving.kserve.io "iris" is invalid: '
        'metadata.labels.team: Invalid value: "boolean": metadata.labels.team in body must be '
        'of type string: "boolean"',
        "spec.predictor.minReplicas": 'InferenceService.serving.kserve.io "iris" is invalid: '
        'spec.predictor.minReplicas: Invalid value: "string": spec.predictor.minReplicas in body '
        'must be of type integer: "string"',
        "spec.predictor.model.storageUri": 'InferenceService.serving.kserve.io "iris" is '
        'invalid: spec.predictor.model.storageUri: Invalid value: "integer": '
        'spec.predictor.model.storageUri in body must be of type string: "integer"',
        "spec.predictor.model.modelFormat": 'InferenceService.serving.kserve.io "iris" is '
        "invalid: spec.predictor.model.modelFormat: Required value",
        "spec.canary[0].trafficPercent": 'InferenceService.serving.kserve.io "iris" is invalid: '
        'spec.canary[0].trafficPercent: Invalid value: "string": spec.canary[0].trafficPercent '
        'in body must be of type integer: "string"',
    }


@pytest.mark.parametrize(
    ("fields", "path", "wanted", "found"),
    [
        ({"timeout": 1.5}, "timeout", "integer", "number"),
        ({"timeout": True}, "timeout", "integer", "boolean"),
        ({"timeout": datetime.date(2026, 1, 1)}, "timeout", "integer", "date"),
        ({"containers": {}}, "containers", "array", "object"),
        ({"containers": [None]}, "containers[0]", "object", "null"),
        ({"containers": [[]]}, "containers[0]", "object", "array"),
        ({"labels": {"a": 1}}, "labels.a", "string", "integer"),
        ({"batcher": "on"}, "batcher", "object", "string"),
        (
            {"automountServiceAccountToken": "no"},
            "automountServiceAccountToken",
            "boolean",
            "string",
        ),
    ],
)
def test_wrong_types_are_told_in_the_words_of_the_api_server(
    fields: dict[str, Any], path: str, wanted: str, found: str
) -> None:
    told = refuse(service({"predictor": {"model": MODEL, **fields}}))
    path = f"spec.predictor.{path}"
    assert told == {
        path: f'InferenceService.serving.kserve.io "iris" is invalid: {path}: Invalid value: '
        f'"{found}": {path} in body must be of type {wanted}: "{found}"'
    }


def test_other_words_are_told_with_those_that_hold() -> None:
    told = refuse(service({"predictor": {"model": MODEL, "scaleMetric": "gpu"}}))
    assert told["spec.predictor.scaleMetric"].endswith(
        'Unsupported value: "gpu": supported values: "cpu", "memory", "concurrency", "rps"'
    )


def test_null_is_absent() -> None:
    spec = {"predictor": {"model": MODEL, "timeout": None, "logger": None}, "transformer": None}
    assert refuse(service(spec)) == {}


def test_a_canary_model_needs_no_name() -> None:
    """The full CRD of the reference demands one there (spec/kserve-observed.md 1)."""
    assert refuse(canary_service(canary(10))) == {}


@pytest.mark.parametrize(
    ("obj", "path"),
    [
        (service(name="Iris"), "metadata.name"),
        (service({"predictor": {"minReplicas": 1}}), "spec.predictor"),
        (service({"predictor": {"sklearn": {}, "onnx": {}}}), "spec.predictor"),
        (
            service({"predictor": {"sklearn": {}, "containers": [{"name": "kserve-container"}]}}),
            "spec.predictor",
        ),
        (service({"predictor": {"model": MODEL}, "transformer": {}}), "spec.transformer"),
        (service({"predictor": {"model": MODEL}, "explainer": {}}), "spec.explainer"),
        (
            service({"predictor": {"model": MODEL, "containerConcurrency": -1}}),
            "spec.predictor.containerConcurrency",
        ),
        (service({"predictor": {"model": MODEL, "logger": {}}}), "spec.predictor.logger.mode"),
        (
            service({"predictor": {"model": MODEL, "deploymentStrategy": {}}}),
            "spec.predictor.deploymentStrategy",
        ),
        (
            service({"predictor": {"model": MODEL, "scaleMetric": "cpu"}}),
            "spec.predictor.scaleMetric",
        ),
        (
            service({"predictor": {"model": {**MODEL, "name": "mine"}}}),
            "spec.predictor.model.name",
        ),
        (
            service(annotations={scaling.CLASS_ANNOTATION: "vpa"}),
            f"metadata.annotations[{scaling.CLASS_ANNOTATION}]",
        ),
        (
            service(
                {
                    "predictor": {
                        "model": MODEL,
                        "containers": [
                            {"name": "transformer-container", "env": [{"name": "STORAGE_URI"}]}
                        ],
                    }
                }
            ),
            "spec.predictor.containers[0].env",
        ),
    ],
)
def test_the_path_names_the_field(obj: dict[str, Any], path: str) -> None:
    assert list(refuse(obj)) == [path]


@pytest.mark.parametrize("metric", ["cpu", "memory"])
def test_standard_mode_scales_by_resources(metric: str) -> None:
    annotations = {**STANDARD, scaling.CLASS_ANNOTATION: "hpa"}
    spec = {"predictor": {"model": MODEL, "scaleMetric": metric, "deploymentStrategy": {}}}
    assert refuse(service(spec, annotations=annotations)) == {}
    spec["predictor"]["scaleTarget"] = 0
    assert list(refuse(service(spec, annotations=annotations))) == ["spec.predictor.scaleTarget"]


@pytest.mark.parametrize(
    ("annotations", "fields", "wanted"),
    [
        ({**STANDARD, scaling.CLASS_ANNOTATION: "keda"}, {"scaleMetric": "cpu"}, "scaleMetric"),
        ({**STANDARD, scaling.CLASS_ANNOTATION: "hpa"}, {"scaleMetric": "rps"}, "scaleMetric"),
        ({**STANDARD, scaling.CLASS_ANNOTATION: "hpa"}, {"scaleTarget": 101}, "scaleTarget"),
        ({**STANDARD, scaling.CLASS_ANNOTATION: "none"}, {"scaleTarget": 101}, None),
        ({}, {"scaleMetric": "rps", "scaleTarget": 0}, "scaleTarget"),
        ({}, {"scaleMetric": "rps", "scaleTarget": 1}, None),
        ({scaling.KNATIVE_CLASS_ANNOTATION: scaling.KNATIVE_HPA}, {"scaleMetric": "cpu"}, None),
    ],
)
def test_the_autoscaler_decides_on_the_metric(
    annotations: dict[str, str], fields: dict[str, Any], wanted: str | None
) -> None:
    obj = service({"predictor": {"model": MODEL, **fields}}, annotations=annotations)
    assert list(refuse(obj)) == ([f"spec.predictor.{wanted}"] if wanted else [])


class TestCanaries:
    """Rules of spec.canary (spec/kserve-ingress.md 19)."""

    def test_the_sum_may_be_a_hundred(self) -> None:
        assert refuse(canary_service(canary(50), canary(50, "v3"))) == {}

    def test_a_sum_over_a_hundred_is_refused(self) -> None:
        told = refuse(canary_service(canary(60), canary(50, "v3")))
        assert told == {"spec.canary": "sum of canary trafficPercent values (110) must be <= 100"}

    @pytest.mark.parametrize("percent", [-1, 101])
    def test_a_percentage_has_its_own_path(self, percent: int) -> None:
        assert "spec.canary[0].trafficPercent" in refuse(canary_service(canary(percent)))

    @pytest.mark.parametrize("name", [None, ""])
    def test_a_name_is_required(self, name: str | None) -> None:
        told = refuse(canary_service(canary(10, name)))
        assert "predictor.name is required" in told["spec.canary[0].predictor.name"]

    def test_two_names_are_told_by_the_second(self) -> None:
        told = refuse(canary_service(canary(1), canary(2)))
        assert "is duplicated" in told["spec.canary[1].predictor.name"]

    def test_what_would_scale_a_canary_is_refused_field_by_field(self) -> None:
        scaled = canary(
            1, workerSpec={}, maxReplicas=1, scaleTarget=1, scaleMetric="cpu", autoScaling={}
        )
        assert set(refuse(canary_service(scaled))) == {
            f"spec.canary[0].predictor.{field}"
            for field in ("workerSpec", "maxReplicas", "scaleTarget", "scaleMetric", "autoScaling")
        }

    def test_a_stopped_stable_allows_no_replicas(self) -> None:
        told = refuse(canary_service(canary(1, minReplicas=1), minReplicas=0))
        assert list(told) == ["spec.canary[0].predictor.minReplicas"]


@pytest.mark.parametrize("name", ["V2", "v_2", "-v2", "V-", "v.2", "v" * 64])
def test_names_of_predictors_must_fit_a_service(name: str) -> None:
    """F52: the reference stores them, and the API server refuses the Service for ever."""
    obj = canary_service(canary(10, name), name=name + "x")
    assert set(refuse(obj)) == {"spec.predictor.name", "spec.canary[0].predictor.name"}
    assert refuse(obj, compat=KSERVE) == {}


class TestTrafficPercent:
    """Q39, F6: canaryTrafficPercent is Knative's, and is a percentage."""

    def percent(self, value: int, **others: Any) -> dict[str, Any]:
        return service({"predictor": {"model": MODEL, "canaryTrafficPercent": value}}, **others)

    @pytest.mark.parametrize("value", [-5, 150])
    def test_it_is_a_percentage(self, value: int) -> None:
        assert list(refuse(self.percent(value))) == ["spec.predictor.canaryTrafficPercent"]
        assert refuse(self.percent(value), compat=KSERVE) == {}

    def test_it_has_no_effect_in_standard_mode(self) -> None:
        told = refuse(self.percent(20, annotations=STANDARD))
        assert "spec.canary" in told["spec.predictor.canaryTrafficPercent"]
        by_default = {"deploy": '{"defaultDeploymentMode": "RawDeployment"}'}
        assert refuse(self.percent(20), config=by_default)
        assert (
            refuse(self.percent(20, status={"deploymentMode": "Knative"}), config=by_default) == {}
        )

    def test_a_stored_one_does_not_lock_the_service(self) -> None:
        """It came through the reference: only a change of it is refused."""
        stored = self.percent(20, annotations=STANDARD)
        moved = copy.deepcopy(stored)
        moved["spec"]["predictor"]["timeout"] = 5
        assert refuse(moved, old=stored) == {}
        path = "spec.predictor.canaryTrafficPercent"
        assert list(refuse(self.percent(20, annotations=STANDARD), old=service())) == [path]
        assert list(refuse(self.percent(150), old=self.percent(50))) == [path]

    def test_a_broken_configuration_is_no_exception(self) -> None:
        assert refuse(self.percent(20), config={"deploy": "{"}) == {}


class TestUpdates:
    def test_the_mode_sticks(self) -> None:
        old = service(status={"deploymentMode": "Serverless"})
        told = refuse(service(annotations=STANDARD), old=old)
        path = f"metadata.annotations[{MODE_ANNOTATION}]"
        assert told == {
            path: "update rejected: deploymentMode cannot be changed from 'Knative' to 'Standard'"
        }

    def test_a_promotion_brings_the_model(self) -> None:
        renamed = service({"predictor": {"model": MODEL, "name": "v2"}})
        told = refuse(renamed, old=service())
        assert told == {"spec.predictor.name": "predictor.name change requires a model change"}
        moved = {**MODEL, "storageUri": "gs://models/v2"}
        promoted = service({"predictor": {"model": moved, "name": "v2"}})
        assert refuse(promoted, old=service()) == {}

    def test_what_is_deleted_is_not_judged(self) -> None:
        bad = service({"predictor": 3}, name="Iris")
        bad["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        assert refuse(bad, old=bad) == {}
        assert refuse(bad)


class TestMultiNode:
    def worker(self, **worker: Any) -> dict[str, Any]:
        model = {"modelFormat": {"name": "huggingface"}, "storageUri": "pvc://claim/m"}
        return service(
            {"predictor": {"model": {**model, "runtime": "rt"}, "workerSpec": worker}},
            annotations={scaling.CLASS_ANNOTATION: "none"},
        )

    def test_a_named_runtime_needs_workers(self) -> None:
        """R12. The runtime of the namespace hides the cluster's of that name."""
        bare, with_workers = runtime("rt"), runtime("rt", workerSpec={})
        assert list(refuse(self.worker(), peers=(bare,))) == ["spec.predictor.model.runtime"]
        assert refuse(self.worker(), peers=(with_workers,)) == {}
        assert refuse(self.worker(), peers=(bare,), compat=KSERVE) == {}
        hiding = runtime("rt", namespace="team-a", workerSpec={})
        assert refuse(self.worker(), peers=(bare, hiding)) == {}
        assert refuse(self.worker(), peers=(runtime("rt", namespace="team-b"),)) == {}

    def test_a_stored_one_stays_editable(self) -> None:
        """Also when the runtimes can be looked at once only."""
        peers = (peer for peer in [runtime("rt")])
        found = admission.validate(
            self.worker(),
            old=self.worker(),
            operation="update",
            config={},
            differs=BETTER.differs,
            peers=peers,
        )
        assert found == ()

    def test_sizes_and_containers(self) -> None:
        told = refuse(
            self.worker(
                pipelineParallelSize=0,
                tensorParallelSize=0,
                containers=[{"resources": {"limits": {"acme.io/gpu": 1}}}, {}],
            )
        )
        assert set(told) == {
            "spec.predictor.workerSpec.pipelineParallelSize",
            "spec.predictor.workerSpec.tensorParallelSize",
            "spec.predictor.workerSpec.containers",
            "spec.predictor.workerSpec.containers[0].resources",
        }

    @pytest.mark.parametrize(
        ("annotation", "refused"),
        [(None, True), ('["acme.io/gpu"]', False), ("acme.io/gpu", True), ('{"a": 1}', True)],
    )
    def test_other_gpus_are_named_in_an_annotation(
        self, annotation: str | None, refused: bool
    ) -> None:
        obj = self.worker()
        model = obj["spec"]["predictor"]["model"]
        model["resources"] = {"requests": {"cpu": 1, "nvidia.com/gpu": 1, "acme.io/gpu": "1"}}
        if annotation:
            obj["metadata"]["annotations"][gpus.ANNOTATION] = annotation
        path = "spec.predictor.model.resources"
        assert list(refuse(obj)) == ([path] if refused else [])

    def test_a_model_without_storage_cannot_be_shared(self) -> None:
        obj = self.worker()
        del obj["spec"]["predictor"]["model"]["storageUri"]
        assert list(refuse(obj)) == ["spec.predictor.model.storageUri"]

    def test_the_model_lies_on_a_claim(self) -> None:
        obj = self.worker()
        obj["spec"]["predictor"]["model"]["storageUri"] = "s3://bucket"
        told = refuse(obj)
        assert "Storage Protocol(s3)" in told["spec.predictor.model.storageUri"]


def test_several_containers_need_a_serving_one() -> None:
    """R9: the reference stores them and panics in every pass."""
    obj = service({"predictor": {"containers": [{"name": "a"}, {"name": "b"}]}})
    assert list(refuse(obj)) == ["spec.predictor.containers"]
    assert refuse(obj, compat=KSERVE) == {}


class TestStorageUris:
    def told(self, *uris: dict[str, Any], **fields: Any) -> dict[str, str]:
        model = {"modelFormat": {"name": "sklearn"}, **fields}
        return refuse(service({"predictor": {"model": model, "storageUris": list(uris)}}))

    def test_several_lie_under_one_folder(self) -> None:
        one = {"uri": "s3://b/one", "mountPath": "/mnt/models/one"}
        two = {"uri": "s3://b/two", "mountPath": "/mnt/models/two"}
        claim = {"uri": "pvc://c/m", "mountPath": "/data"}
        assert self.told(one, two, claim) == {}
        apart = self.told(one, {**two, "mountPath": "/srv/two"})
        assert (
            "[/mnt/models/one /srv/two] have no common parent"
            in apart["spec.predictor.storageUris"]
        )
        assert self.told(one, two, claim, claim) == {
            "spec.predictor.storageUris": "PVC storage paths must be unique"
        }

    def test_one_and_several_are_two(self) -> None:
        told = self.told({"uri": "s3://b/one"}, storageUri="s3://b/two")
        text = "Setting both StorageURI and StorageURIs is not supported."
        assert told == {"spec.predictor.storageUris": text}
        serving = {
            "name": "kserve-container",
            "env": [{"name": "STORAGE_URI", "value": "s3://b/m"}],
        }
        custom = {"containers": [serving], "storageUris": [{"uri": "s3://b/one"}]}
        assert list(refuse(service({"predictor": custom}))) == ["spec.predictor.storageUris"]

    @pytest.mark.parametrize(
        ("uri", "path"),
        [
            ({"uri": ""}, "uri"),
            ({"uri": "s3://b", "mountPath": "/"}, "mountPath"),
            ({"uri": "s3://b", "mountPath": "models"}, "mountPath"),
            ({"uri": "s3://b", "mountPath": "/mnt/../etc"}, "mountPath"),
        ],
    )
    def test_paths_are_absolute(self, uri: dict[str, Any], path: str) -> None:
        assert list(self.told(uri)) == [f"spec.predictor.storageUris[0].{path}"]

    def test_the_path_has_a_default(self) -> None:
        spec = {"predictor": {"model": MODEL, "storageUris": [{"uri": "s3://b/one"}]}}
        stored = making.default(service(spec))["spec"]["predictor"]["storageUris"]
        assert stored == [{"uri": "s3://b/one", "mountPath": "/mnt/models"}]


def test_no_container_sets_the_path_of_python() -> None:
    env = [{"name": "PYTHONPATH", "value": "/tmp"}]
    spec = {
        "predictor": {"model": {**MODEL, "env": env}, "initContainers": [{"env": env}]},
        "transformer": {"containers": [{"name": "kserve-container", "env": env}]},
        "explainer": {"art": {"env": env}},
    }
    assert set(refuse(service(spec))) == {
        "spec.predictor.model.env",
        "spec.predictor.initContainers[0].env",
        "spec.transformer.containers[0].env",
        "spec.explainer.art.env",
    }
    serving = {"name": "kserve-container", "env": env}
    told = refuse(runtime("a", containers=[serving], workerSpec={"containers": [serving]}))
    assert set(told) == {"spec.containers[0].env", "spec.workerSpec.containers[0].env"}


def test_no_implementation_is_the_panic_of_the_reference() -> None:
    """Q51: through the whole of admission, where its defaulting comes first."""
    empty = service({"predictor": {"minReplicas": 1}})
    texts = {
        compat.text: admission.admit(empty, operation="create", config={}, differs=compat.differs)
        .refusals[0]
        .message
        for compat in (KSERVE, BETTER)
    }
    assert texts["kserve"].startswith("panic: runtime error: index out of range [0]")
    assert texts["better"].startswith("exactly one of [Name, SKLearn")


ONE = {"name": "sklearn", "version": "1", "autoSelect": True, "priority": 1}


class TestRuntimes:
    """spec/kserve-runtimes.md 13."""

    def test_one_priority_is_for_one_runtime(self) -> None:
        told = refuse(runtime("b", ONE), peers=(runtime("a", {**ONE, "name": "SKLearn"}),))
        assert told == {
            "spec.supportedModelFormats[0].priority": "same priority assigned for the model "
            "format sklearn in the clusterservingruntimes a and b"
        }

    def test_in_a_namespace_the_text_names_it(self) -> None:
        one, two = (runtime(name, ONE, namespace="team-a") for name in "ab")
        (text,) = refuse(two, peers=(one,)).values()
        assert text.endswith(" sklearn in the servingruntimes a and b in namespace team-a")

    @pytest.mark.parametrize(
        "other",
        [
            runtime("b", ONE),
            runtime("a", ONE, disabled=True),
            runtime("a", ONE, multiModel=True),
            runtime("a", ONE, protocolVersions=["v2"]),
            runtime("a", ONE, protocolVersions=[]),
            runtime("a", {**ONE, "priority": 2}),
            runtime("a", {**ONE, "version": "2"}),
            runtime("a", {**ONE, "autoSelect": False}),
            runtime("a", ONE, namespace="team-a"),
        ],
    )
    def test_what_is_no_clash(self, other: dict[str, Any]) -> None:
        assert refuse(runtime("b", ONE), peers=(other,)) == {}

    def test_one_format_has_one_priority(self) -> None:
        """R14: the reference asks only if another runtime is there."""
        twice = runtime("a", ONE, {**ONE, "version": "2", "priority": 2})
        path = "spec.supportedModelFormats[1].priority"
        assert list(refuse(twice)) == [path]
        assert refuse(twice, compat=KSERVE) == {}
        assert list(refuse(twice, compat=KSERVE, peers=(runtime("z"),))) == [path]

    def test_a_disabled_one_passes(self) -> None:
        twice = runtime("a", ONE, {**ONE, "priority": 2}, disabled=True)
        assert refuse(twice) == {}

    def test_workers_cannot_be_removed(self) -> None:
        told = refuse(runtime("a"), old=runtime("a", workerSpec={}))
        assert told == {
            "spec.workerSpec": "the ClusterServingRuntime a is invalid: removing workerSpec "
            "where it already exists is not allowed"
        }

    def test_unknown_gpus(self) -> None:
        resources = {"limits": {"acme.io/gpu": 1}}
        serving = {"name": "kserve-container", "resources": resources}
        worker = {"containers": [{"name": "worker-container", "resources": resources}]}
        told = refuse(runtime("a", containers=[serving], workerSpec=worker))
        assert set(told) == {
            "spec.containers[0].resources",
            "spec.workerSpec.containers[0].resources",
        }

    def test_a_priority_is_positive(self) -> None:
        path = "spec.supportedModelFormats[0].priority"
        told = refuse(runtime("a", {**ONE, "priority": 0}))
        assert told[path].endswith(f"{path} in body should be greater than or equal to 1")

    def test_sizes_are_no_variables(self) -> None:
        serving = {"name": "kserve-container", "env": [{"name": "TENSOR_PARALLEL_SIZE"}]}
        told = refuse(runtime("a", containers=[serving], workerSpec={}))
        assert list(told) == ["spec.containers[0].env"]


def test_other_kinds_are_not_judged() -> None:
    assert refuse({"kind": "Service", "metadata": {"name": "Iris"}}) == {}


def test_a_negative_timeout_is_refused_unless_it_is_stored_already() -> None:
    """KServe stores it, and what it writes then is refused by others (F5)."""
    stored = service({"predictor": {"model": MODEL, "timeout": -1}})
    path = "spec.predictor.timeout"
    assert refuse(stored) == {path: f"{path} must not be negative, it is -1"}
    assert refuse(stored, compat=KSERVE) == {}
    assert refuse(stored, old=stored) == {}
    assert refuse(service({"predictor": {"model": MODEL, "timeout": 0}})) == {}
