"""CustomResourceDefinitions from the models of admission.

The models are the one place where fields are named; a test holds the files of crds/ to
what is made here. Schemas are structural: references inlined, null left out. Where a
component or container takes any field of a pod, further fields are preserved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from pydantic import BaseModel

from ingressctl.api.inferenceservices import GROUP
from ingressctl.api.models.inferencegraphs import InferenceGraph
from ingressctl.api.models.inferenceservices import InferenceService
from ingressctl.api.models.servingruntimes import ServingRuntime

Schema = dict[str, Any]

_DROPPED = frozenset({"title", "additionalProperties", "default", "$defs"})


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`, with the title that users know."""

    name: str
    path: str
    type: str = "string"


@dataclass(frozen=True, slots=True)
class Definition:
    """One kind."""

    kind: str
    plural: str
    version: str
    namespaced: bool
    model: type[BaseModel]
    columns: tuple[Column, ...]
    short: tuple[str, ...] = ()
    status: bool = False

    @property
    def file(self) -> str:
        """The name of its file in crds/."""
        return f"{GROUP}_{self.plural}.yaml"


_TRAFFIC = ".status.components.predictor.traffic"
_AGE = Column("Age", ".metadata.creationTimestamp", "date")
_RUNTIME_COLUMNS = (
    Column("Disabled", ".spec.disabled", "boolean"),
    Column("ModelType", ".spec.supportedModelFormats[*].name"),
    Column("Containers", ".spec.containers[*].name"),
    _AGE,
)

DEFINITIONS = (
    Definition(
        "InferenceService",
        "inferenceservices",
        "v1beta1",
        namespaced=True,
        model=InferenceService,
        columns=(
            Column("URL", ".status.url"),
            Column("Ready", ".status.conditions[?(@.type=='Ready')].status"),
            Column("Prev", f"{_TRAFFIC}[?(@.tag=='prev')].percent", "integer"),
            Column("Latest", f"{_TRAFFIC}[?(@.latestRevision==true)].percent", "integer"),
            Column("PrevRolledoutRevision", f"{_TRAFFIC}[?(@.tag=='prev')].revisionName"),
            Column("LatestReadyRevision", f"{_TRAFFIC}[?(@.latestRevision==true)].revisionName"),
            _AGE,
        ),
        short=("isvc",),
        status=True,
    ),
    Definition(
        "ServingRuntime",
        "servingruntimes",
        "v1alpha1",
        namespaced=True,
        model=ServingRuntime,
        columns=_RUNTIME_COLUMNS,
    ),
    Definition(
        "ClusterServingRuntime",
        "clusterservingruntimes",
        "v1alpha1",
        namespaced=False,
        model=ServingRuntime,
        columns=_RUNTIME_COLUMNS,
    ),
    Definition(
        "InferenceGraph",
        "inferencegraphs",
        "v1alpha1",
        namespaced=True,
        model=InferenceGraph,
        columns=(
            Column("URL", ".status.url"),
            Column("Ready", ".status.conditions[?(@.type=='Ready')].status"),
            _AGE,
        ),
        short=("ig",),
        status=True,
    ),
)


class _Plain(yaml.SafeDumper):
    """YAML without anchors, as people and `kubectl` write it."""

    def ignore_aliases(self, data: Any) -> bool:
        """Every value is written out."""
        return True


def texts() -> Mapping[str, str]:
    """The files of crds/ by name."""
    return {
        definition.file: yaml.dump(manifest(definition), Dumper=_Plain, sort_keys=False, width=100)
        for definition in DEFINITIONS
    }


def manifest(definition: Definition) -> dict[str, Any]:
    """The CustomResourceDefinition of one kind."""
    names: dict[str, Any] = {
        "kind": definition.kind,
        "listKind": f"{definition.kind}List",
        "plural": definition.plural,
        "singular": definition.kind.lower(),
    }
    if definition.short:
        names["shortNames"] = list(definition.short)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{definition.plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": names,
            "scope": "Namespaced" if definition.namespaced else "Cluster",
            "versions": [_version(definition)],
        },
    }


def _version(definition: Definition) -> dict[str, Any]:
    columns = [
        {"name": column.name, "type": column.type, "jsonPath": column.path}
        for column in definition.columns
    ]
    version: dict[str, Any] = {
        "name": definition.version,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": columns,
        "schema": {"openAPIV3Schema": _root(definition.model)},
    }
    return version | ({"subresources": {"status": {}}} if definition.status else {})


def _root(model: type[BaseModel]) -> Schema:
    """The schema of the whole object; metadata is the API server's own."""
    whole = model.model_json_schema()
    schema = structural(whole, whole.get("$defs", {}))
    schema["properties"] = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        **schema["properties"],
        "metadata": {"type": "object"},
    }
    schema["required"] = [name for name in schema["required"] if name != "metadata"]
    return schema


def structural(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """A JSON schema of pydantic as Kubernetes wants it."""
    schema = _plain(schema, definitions)
    made: Schema = {key: value for key, value in schema.items() if key not in _DROPPED}
    if schema.get("default"):
        made["default"] = schema["default"]
    if "properties" in schema:
        made["properties"] = {
            name: structural(inner, definitions) for name, inner in schema["properties"].items()
        }
    if "items" in schema:
        made["items"] = structural(schema["items"], definitions)
    values = schema.get("additionalProperties")
    if isinstance(values, dict):
        made["additionalProperties"] = structural(values, definitions)
    return made


def _plain(schema: Schema, definitions: Mapping[str, Schema]) -> Schema:
    """The schema with its reference followed and its null taken away."""
    if "anyOf" in schema:
        (schema,) = [inner for inner in schema["anyOf"] if inner.get("type") != "null"]
    if "$ref" in schema:
        return definitions[schema["$ref"].rpartition("/")[2]]
    return schema
