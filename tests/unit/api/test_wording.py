"""Faults of shape are told with the shape that is wanted, and in nobody's jargon."""

from __future__ import annotations

from typing import Any

import pydantic
import pytest

from ingressctl.api import wording
from ingressctl.api.admission import schema
from ingressctl.api.models.inferenceservices import InferenceService


def remedies(predictor: dict[str, Any]) -> list[str]:
    obj = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": "iris"},
        "spec": {"predictor": predictor},
    }
    _, refusals = schema.parse(InferenceService, obj)
    return [refusal.remedy for refusal in refusals]


@pytest.mark.parametrize(
    ("predictor", "remedy"),
    [
        ({"model": {"modelFormat": "xgboost"}}, "write modelFormat: {name: xgboost}"),
        ({"model": "gs://m"}, "write model: {modelFormat: {name: sklearn}, storageUri: ...}"),
        ({"sklearn": "gs://m"}, "write sklearn: {storageUri: gs://m}"),
        ({"logger": "all"}, "write a mapping: logger: {...: ...}"),
    ],
)
def test_the_shape_of_a_mapping_is_shown(predictor: dict[str, Any], remedy: str) -> None:
    assert remedies(predictor) == [remedy]


def test_a_validators_exception_is_not_named() -> None:
    class Model(pydantic.BaseModel):
        value: str

        @pydantic.field_validator("value")
        @classmethod
        def refused(cls, value: str) -> str:
            raise ValueError(f"{value!r} is not wanted")

    with pytest.raises(pydantic.ValidationError) as caught:
        Model(value="xml")
    assert wording.said(caught.value.errors()[0]) == "'xml' is not wanted"
