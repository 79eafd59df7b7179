"""`provider.yaml`: what a templated gateway is, checked once when it is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import pydantic
import yaml

from ingressctl.api import wording
from ingressctl.core.ports import Capability

Unit = Literal["owner", "route", "group", "host", "rule"]


class DefinitionFault(ValueError):
    """A provider folder that cannot be used; one sentence with file and field path."""


@dataclass(frozen=True, slots=True)
class TemplateSet:
    """A provider folder as texts: `files` are (name, text) pairs without provider.yaml."""

    folder: str
    definition: str
    files: tuple[tuple[str, str], ...]


class Kind(pydantic.BaseModel):
    """A kind that the templates write."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    group: str
    kind: str


class Readiness(pydantic.BaseModel):
    """Where an object of `kind` says that the gateway serves it.

    `list` is a path to a list of statuses (one a router), `condition` a condition type in
    each; `""` as condition means that the kind tells nothing.
    """

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    kind: str
    list: str = ""
    condition: str = ""


class Definition(pydantic.BaseModel):
    """The fields of provider.yaml.

    `unit` tells for what a template is rendered: each owner, route, group of hosts, host,
    or rule under a host. `maxBackends` is how many splits a rule may have (0: any).
    """

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    name: str = pydantic.Field(pattern=r"^[a-z][a-z0-9_-]*$")
    kinds: tuple[Kind, ...] = pydantic.Field(min_length=1)
    capabilities: tuple[Capability, ...] = ()
    unit: Unit = "route"
    maxBackends: int = 0
    readiness: tuple[Readiness, ...] = ()


def parse(given: TemplateSet) -> Definition:
    """The checked definition. Raises DefinitionFault."""
    file = f"{given.folder}/provider.yaml"
    try:
        values: Any = yaml.load(given.definition, yaml.CSafeLoader)
    except yaml.YAMLError as fault:
        raise DefinitionFault(f"{file}: no YAML: {_first_line(fault)}") from None
    try:
        return Definition.model_validate(values)
    except pydantic.ValidationError as fault:
        first = fault.errors()[0]
        path = ".".join(str(part) for part in first["loc"]) or "."
        hint = ""
        if first["type"] == "literal_error" and "capabilities" in path:
            hint = f"; the capabilities are {', '.join(sorted(get_args(Capability)))}"
        raise DefinitionFault(f"{file}: {path}: {wording.said(first)}{hint}") from None


def _first_line(fault: BaseException) -> str:
    return str(fault).splitlines()[0]
