"""The quick view of the reconcile and the full model of admission name the same fields."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from pydantic import BaseModel

from ingressctl.api import inferencegraphs as graph_view
from ingressctl.api import inferenceservices as view
from ingressctl.api.models import inferencegraphs as graph_model
from ingressctl.api.models import inferenceservices as model

ADMISSION_ONLY = {
    "Component": {
        # every implementation becomes `model` before the view is read
        *view.FRAMEWORKS,
        # no route depends on them
        "autoScaling",
        "automountServiceAccountToken",
        "deploymentStrategy",
        "initContainers",
        "storageUris",
    },
    "Canary": set(),
    "Spec": set(),
    "Metadata": set(),
}
GRAPH_PAIRS: list[tuple[type[msgspec.Struct], type[BaseModel]]] = [
    (getattr(graph_view, name), getattr(graph_model, name))
    for name in ("Retries", "Fallback", "Step", "Node", "RouterTimeouts", "Spec")
]
PAIRS: list[tuple[type[msgspec.Struct], type[BaseModel]]] = [
    (view.Component, model.Predictor),
    (view.Canary, model.Canary),
    (view.Spec, model.Spec),
    (view.Metadata, model.Metadata),
    *GRAPH_PAIRS,
]
pairs = pytest.mark.parametrize(("quick", "full"), PAIRS, ids=lambda kind: kind.__name__)


def json_type(schema: dict[str, Any], definitions: dict[str, Any]) -> set[str]:
    """What JSON a field takes, null aside. Any JSON: all types."""
    if "$ref" in schema:
        return json_type(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        found = [json_type(inner, definitions) for inner in schema["anyOf"]]
        return set().union(*found) - {"null"}
    if "enum" in schema:
        return {"string"} if all(isinstance(word, str) for word in schema["enum"]) else {"any"}
    return {schema.get("type", "any")} - {"null"}


@pairs
def test_one_list_of_fields(quick: type[msgspec.Struct], full: type[BaseModel]) -> None:
    only = set() if (quick, full) in GRAPH_PAIRS else ADMISSION_ONLY[quick.__name__]
    assert set(full.model_fields) - set(quick.__struct_fields__) == only
    assert set(quick.__struct_fields__) <= set(full.model_fields)


@pairs
def test_one_type_of_each(quick: type[msgspec.Struct], full: type[BaseModel]) -> None:
    (ours,), definitions = msgspec.json.schema_components([quick], ref_template="#/$defs/{name}")
    ours = definitions[ours["$ref"].rpartition("/")[2]]
    theirs = full.model_json_schema()
    for name, schema in ours["properties"].items():
        assert json_type(schema, definitions) == json_type(
            theirs["properties"][name], theirs.get("$defs", {})
        ), name


def test_transformers_and_explainers_have_what_components_have() -> None:
    shared = set(model.Component.model_fields)
    assert set(model.Transformer.model_fields) == shared
    assert set(model.Explainer.model_fields) == shared | {"art"}
