"""What admission fills in, beyond what the cases of the reference show."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given

from ingressctl.api import configmaps
from ingressctl.api.inferenceservices import MODE_ANNOTATION
from ingressctl.core.differences import BETTER, KSERVE, Compat
from tests.unit.api import making
from tests.unit.api.making import CONFIG, default, service

STANDARD_DEFAULT = {"deploy": '{"defaultDeploymentMode": "Standard"}'}


def annotations(obj: dict[str, Any]) -> dict[str, str]:
    found: dict[str, str] = obj["metadata"].get("annotations") or {}
    return found


@given(making.SERVICES)
def test_a_second_pass_changes_nothing(obj: dict[str, Any]) -> None:
    once = default(obj, config=CONFIG)
    assert default(once, config=CONFIG) == once
    assert default(once, config=CONFIG, old=once) == once


@given(making.SERVICES, making.COMPATS)
def test_the_input_is_never_changed(obj: dict[str, Any], compat: Compat) -> None:
    before = copy.deepcopy(obj)
    default(obj, config=CONFIG, compat=compat)
    assert obj == before


@given(making.OBJECTS, making.OBJECTS, making.KINDS, making.COMPATS)
def test_arbitrary_json_is_no_exception(
    obj: dict[str, Any], old: dict[str, Any], kind: Any, compat: Compat
) -> None:
    default({**obj, "kind": kind}, config=CONFIG, compat=compat, old=old)


def test_wrong_types_are_left_for_validation() -> None:
    spec = {"predictor": {"sklearn": "yes", "containers": 3}, "canary": {"a": 1}}
    assert default(service(spec, annotations=[1])) == service(spec, annotations=[1])


def test_what_is_unknown_stays() -> None:
    spec = {"predictor": {"model": {**making.MODEL, "later": [1]}, "further": {"a": None}}}
    stored = default(service(spec))["spec"]["predictor"]
    assert stored["model"]["later"] == [1]
    assert stored["further"] == {"a": None}


@pytest.mark.parametrize(
    ("mode", "written"), [("Standard", "Standard"), ("ModelMesh", "ModelMesh"), ("Knative", None)]
)
def test_the_mode_is_written_unless_it_is_knative(mode: str, written: str | None) -> None:
    stored = default(service(), config={"deploy": f'{{"defaultDeploymentMode": "{mode}"}}'})
    assert annotations(stored).get(MODE_ANNOTATION) == written


def test_a_running_service_keeps_its_mode_when_the_default_changes() -> None:
    """Q44: the reference writes Standard here, and then refuses every update."""
    running = service(status={"deploymentMode": "Serverless"})
    assert MODE_ANNOTATION not in annotations(default(running, config=STANDARD_DEFAULT))
    assert MODE_ANNOTATION not in annotations(
        default(service(), old=running, config=STANDARD_DEFAULT)
    )
    reference = default(running, config=STANDARD_DEFAULT, compat=KSERVE)
    assert annotations(reference)[MODE_ANNOTATION] == "Standard"


def test_the_format_annotation_of_a_user_stays() -> None:
    """R3: only what equals the format of the stored object follows."""
    xgboost = {"predictor": {"model": {"modelFormat": {"name": "xgboost"}}}}
    written = service(xgboost, annotations={"modelFormat": "mine"})
    assert annotations(default(written, old=service()))["modelFormat"] == "mine"
    stale = service(xgboost, annotations={"modelFormat": "sklearn"})
    assert annotations(default(stale, old=service()))["modelFormat"] == "xgboost"
    assert annotations(default(stale))["modelFormat"] == "sklearn"


@pytest.mark.parametrize("key", ["triton", "onnx", "huggingface"])
def test_key_and_format_have_one_protocol(key: str) -> None:
    """R2: under `kserve` the formats onnx and huggingface get none."""
    by_key = default(service({"predictor": {key: {}}}))
    by_format = default(service({"predictor": {"model": {"modelFormat": {"name": key}}}}))
    assert by_key["spec"] == by_format["spec"]
    assert by_key["spec"]["predictor"]["model"]["protocolVersion"] == "v2"


def test_a_mesh_predictor_is_left_alone() -> None:
    spec = {"predictor": {"sklearn": {"name": "", "resources": {}}}}
    mesh = service(spec, annotations={MODE_ANNOTATION: "ModelMesh"})
    assert default(mesh)["spec"] == spec


class TestResources:
    def stored(self, resources: Any, compat: Compat = BETTER) -> Any:
        spec = {"predictor": {"containers": [{"image": "x", "resources": resources}]}}
        obj = default(service(spec), config=CONFIG, compat=compat)
        return obj["spec"]["predictor"]["containers"][0]["resources"]

    def test_absent_ones_are_filled_in_one_by_one(self) -> None:
        assert self.stored({"limits": {"cpu": "1"}, "requests": {"memory": "2Gi"}}) == {
            "limits": {"cpu": "1", "memory": "2Gi"},
            "requests": {"cpu": "1", "memory": "2Gi"},
        }

    def test_a_default_limit_is_raised_to_the_own_request(self) -> None:
        """W3, and its mirror image: the API server refuses either contradiction."""
        assert self.stored({"requests": {"cpu": "1500m"}})["limits"]["cpu"] == "1500m"
        assert self.stored({"requests": {"cpu": "1500m"}}, KSERVE)["limits"]["cpu"] == "1"
        assert self.stored({"limits": {"memory": "1Gi"}})["requests"]["memory"] == "1Gi"

    def test_own_values_are_never_touched(self) -> None:
        own = {"requests": {"cpu": "4", "memory": "1"}, "limits": {"cpu": "2", "memory": "2"}}
        assert self.stored(own) == own

    def test_a_model_gets_none(self) -> None:
        assert default(service(), config=CONFIG)["spec"]["predictor"]["model"]["resources"] == {}


@pytest.mark.parametrize(
    ("security", "better", "reference"),
    [
        (None, None, False),
        ("", None, False),
        ("{}", None, False),
        ('{"autoMountServiceAccountToken": false}', False, False),
        ('{"AUTOmountServiceAccountToken": true}', None, None),
    ],
)
def test_the_token_is_withheld_only_when_said_so(
    security: str | None, better: bool | None, reference: bool | None
) -> None:
    """W4: for the reference an absent key says no."""
    config = {} if security is None else {"security": security}
    for compat, wanted in ((BETTER, better), (KSERVE, reference)):
        predictor = default(service(), config=config, compat=compat)["spec"]["predictor"]
        assert predictor.get("automountServiceAccountToken") is wanted


def test_a_broken_configuration_is_told() -> None:
    with pytest.raises(configmaps.ConfigFault, match="unable to parse deploy config json"):
        default(service(), config={"deploy": "{"})
