"""The shipped provider templates, field by field against the vendors' CRDs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from ingressctl.api.refs import Raw
from ingressctl.cli import templates
from ingressctl.core.model import HeaderMatch, Match, PathMatch, Tls
from ingressctl.core.values import replace
from ingressctl.providers.template import provider
from tests.unit.providers import routes
from tests.vendors import modules

CRDS = {
    "openshift": (modules.OPENSHIFT, "route/v1/zz_generated.crd-manifests/routes.crd.yaml"),
    "traefik": (modules.TRAEFIK, "integration/fixtures/k8s/01-traefik-crd.yml"),
}


def schemas(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for crd in yaml.load_all(path.read_text(), yaml.CSafeLoader):
        if crd and crd.get("kind") == "CustomResourceDefinition":
            for version in crd["spec"]["versions"]:
                yield crd["spec"]["names"]["kind"], version["schema"]["openAPIV3Schema"]


def closed(schema: Any) -> Any:
    """The schema with every object closed: a field that the vendor lacks is a fault."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    made = {key: closed(value) for key, value in schema.items() if value is not None}
    if "properties" in schema and not schema.get("x-kubernetes-preserve-unknown-fields"):
        made.setdefault("additionalProperties", False)
    return made


def everything() -> tuple[routes.Route, ...]:
    """A route that makes the templates write every field they can."""
    header = HeaderMatch("content-type", "regex", "^application/grpc.*")
    exact = Match(PathMatch("exact", "/a"), (HeaderMatch("x", "exact", "y"),), "POST")
    grpc = replace(routes.PREDICT, name="grpc", matches=(Match(headers=(header,)), exact))
    group = replace(routes.ROUTE.groups[0], rules=(grpc, *routes.ROUTE.groups[0].rules))
    tls = (Tls(("iris-team-a.example.com",), "wildcard"),)
    return (replace(routes.ROUTE, groups=(group, routes.ROUTE.groups[1]), tls=tls),)


def emitted(name: str) -> tuple[Raw, ...]:
    given = next(item for item in templates.shipped() if item.folder == name)
    return provider.load(given).emit(everything(), reads=routes.reads()).objects


@pytest.mark.parametrize("name", CRDS)
def test_every_field_is_in_the_vendors_schema(name: str) -> None:
    module, path = CRDS[name]
    by_kind = dict(schemas(modules.folder(module) / path))
    objects = emitted(name)
    assert {obj["kind"] for obj in objects} >= {"Route"} or name != "openshift"
    for obj in objects:
        schema = closed(by_kind[str(obj["kind"])])
        schema["properties"]["metadata"] = {"type": "object"}
        faults = [
            f"{obj['kind']} {'.'.join(map(str, fault.absolute_path))}: {fault.message}"
            for fault in jsonschema.Draft7Validator(schema).iter_errors(obj)
        ]
        assert not faults


def test_the_check_sees_a_field_that_the_vendor_lacks() -> None:
    module, path = CRDS["openshift"]
    schema = closed(dict(schemas(modules.folder(module) / path))["Route"])
    schema["properties"]["metadata"] = {"type": "object"}
    obj: dict[str, Any] = {**emitted("openshift")[0]}
    obj["spec"] = {**obj["spec"], "weight": 3}
    assert list(jsonschema.Draft7Validator(schema).iter_errors(obj))
