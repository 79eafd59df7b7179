"""Every value is described, checked by the schema, and used by a template."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import jsonschema
import pytest
import yaml

from ingressctl import __version__
from ingressctl.cli import plugins
from ingressctl.core.settings import Part
from ingressctl.plan import rights
from tests.unit.chart import files

SCHEMA: dict[str, Any] = json.loads((files.CHART / "values.schema.json").read_text("utf-8"))
VALUES = files.values()
LINES = (files.CHART / "values.yaml").read_text("utf-8").splitlines()
TEMPLATES = "".join(
    path.read_text("utf-8") for path in sorted((files.CHART / "templates").rglob("*.*"))
)
FREE = frozenset({"resources", "ingress"})
"""Mappings of Kubernetes' own form: a value as a whole."""


def leaves(values: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in values.items():
        if isinstance(value, dict) and value and key not in FREE:
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key)


def described(lines: list[str]) -> Iterator[str]:
    """Keys directly below a comment of a value, which begins with two dashes."""
    comment = False
    for line in lines:
        text = line.strip()
        if text.startswith("# -- "):
            comment = True
        elif not text.startswith("#"):
            if comment:
                yield text.partition(":")[0]
            comment = False


def in_schema(schema: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, inner in schema["properties"].items():
        if "properties" in inner:
            yield from in_schema(inner, (*path, key))
        else:
            yield (*path, key)


def test_every_value_has_its_comment() -> None:
    assert list(described(LINES)) == [path[-1] for path in leaves(VALUES)]


def test_the_schema_has_the_values_and_no_others() -> None:
    assert set(in_schema(SCHEMA)) - {("global",)} == set(leaves(VALUES))


def test_the_shipped_values_are_valid() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    jsonschema.validate(VALUES, SCHEMA)


@pytest.mark.parametrize(
    "wrong",
    [
        {"provider": "nginx"},
        {"providers": []},
        {"provders": ["istio"]},
        {"write": ["everything"]},
        {"gateway": {"service": {"port": "80"}}},
        {"compat": "worse"},
        {"namespaces": ["Not_A_Name"]},
    ],
    ids=str,
)
def test_a_wrong_value_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**VALUES, **wrong}, SCHEMA)


@pytest.mark.parametrize("path", list(leaves(VALUES)), ids=".".join)
def test_every_value_is_used(path: tuple[str, ...]) -> None:
    assert re.search(rf"\.Values\.{re.escape('.'.join(path))}\b", TEMPLATES)


def test_the_templates_know_no_further_values() -> None:
    known = {".".join(path) for path in leaves(VALUES)}
    used = set(re.findall(r"\.Values\.([A-Za-z.]+)", TEMPLATES))
    assert used == known


def test_the_schema_knows_the_providers() -> None:
    names = sorted(plugins.providers())
    assert SCHEMA["properties"]["providers"]["items"]["enum"] == names
    assert SCHEMA["properties"]["provider"]["enum"] == ["", *names]


def test_the_schema_knows_the_parts() -> None:
    assert SCHEMA["properties"]["write"]["items"]["enum"] == list(get_args(Part))


def test_the_names_that_replicas_agree_on_are_those_of_the_rights() -> None:
    assert f"secretName: {rights.CERTIFICATES}\n" in TEMPLATES


def test_the_chart_is_of_the_programs_version() -> None:
    chart = yaml.safe_load((files.CHART / "Chart.yaml").read_text("utf-8"))
    assert chart["version"] == chart["appVersion"] == __version__


def test_custom_resources_are_left_to_others() -> None:
    """Helm never upgrades a folder crds/, and KServe's kinds are KServe's."""
    assert not (files.CHART / "crds").exists()
    assert "CustomResourceDefinition" not in TEMPLATES
