"""crds/ are what the models say, and are what an API server takes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ingressctl.api import crds

FOLDER = Path(__file__).parents[3] / "crds"
WRITE = (
    'python -c "from pathlib import Path; from ingressctl.api import crds; '
    "[Path('crds', name).write_text(text) for name, text in crds.texts().items()]\""
)

definitions = pytest.mark.parametrize(
    "definition", crds.DEFINITIONS, ids=lambda definition: definition.kind
)


def schemas(schema: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield path, schema
    for name, inner in (schema.get("properties") or {}).items():
        yield from schemas(inner, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield from schemas(schema[key], f"{path}[{key}]")


def root(definition: crds.Definition) -> dict[str, Any]:
    (version,) = crds.manifest(definition)["spec"]["versions"]
    schema: dict[str, Any] = version["schema"]["openAPIV3Schema"]
    return schema


@pytest.mark.parametrize("file", sorted(crds.texts()))
def test_the_files_are_those_of_the_models(file: str) -> None:
    assert (FOLDER / file).read_text() == crds.texts()[file], f"write them anew: {WRITE}"


@definitions
def test_schemas_are_structural(definition: crds.Definition) -> None:
    """Rules of apiextensions.k8s.io/v1: a type everywhere, no references, no null."""
    allowed = {"type", "description", "properties", "items", "additionalProperties", "required"}
    allowed |= {"enum", "minimum", "maximum", "default", "x-kubernetes-preserve-unknown-fields"}
    allowed |= {"pattern", "x-kubernetes-int-or-string"}
    for path, schema in schemas(root(definition), definition.kind):
        free = schema.get("x-kubernetes-preserve-unknown-fields")
        free = free or schema.get("x-kubernetes-int-or-string")
        assert "type" in schema or free, path
        assert set(schema) <= allowed, path
        assert not ("properties" in schema and "additionalProperties" in schema), path
        assert set(schema.get("required", ())) <= set(schema.get("properties", ())), path


@definitions
def test_fields_of_pods_are_kept(definition: crds.Definition) -> None:
    for path, schema in schemas(root(definition), ""):
        if "containers" in schema.get("properties", {}):
            assert schema["x-kubernetes-preserve-unknown-fields"] is True, path


def test_misspelt_fields_outside_of_pods_are_not_kept() -> None:
    """So that `kubectl --validate=strict` tells them."""
    spec = root(crds.DEFINITIONS[0])["properties"]["spec"]
    for schema in (spec, spec["properties"]["canary"]["items"]):
        assert "x-kubernetes-preserve-unknown-fields" not in schema


def test_columns_are_those_that_users_know() -> None:
    """ux.md 3."""
    (version,) = crds.manifest(crds.DEFINITIONS[0])["spec"]["versions"]
    titles = [column["name"].upper() for column in version["additionalPrinterColumns"]]
    assert titles == [
        "URL",
        "READY",
        "PREV",
        "LATEST",
        "PREVROLLEDOUTREVISION",
        "LATESTREADYREVISION",
        "AGE",
    ]


def test_graphs_have_the_columns_that_users_know() -> None:
    (definition,) = [item for item in crds.DEFINITIONS if item.kind == "InferenceGraph"]
    assert [column.name.upper() for column in definition.columns] == ["URL", "READY", "AGE"]
    assert definition.short == ("ig",)


def test_canaries_name_their_bounds_and_need_no_model_name() -> None:
    canary = root(crds.DEFINITIONS[0])["properties"]["spec"]["properties"]["canary"]["items"]
    percent = canary["properties"]["trafficPercent"]
    assert (percent["minimum"], percent["maximum"]) == (0, 100)
    assert canary["properties"]["predictor"]["properties"]["model"]["required"] == ["modelFormat"]


def test_no_anchors() -> None:
    assert all("&id" not in text for text in crds.texts().values())
    assert all(yaml.safe_load(text)["kind"] for text in crds.texts().values())
