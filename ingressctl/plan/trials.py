"""Trying a configuration: ``--set CONFIGMAP.data.KEY=VALUE`` and into JSON values.

``config-domain.data.models.example.com=`` sets a key, whatever dots it has;
``inferenceservice-config.ingress.ingressDomain=x.org`` sets a field of the JSON in key
`ingress`. The result is a document like those of files, so it shows as a change. Where there
is no inferenceservice-config, the values that KServe ships stand below the setting: one key
is tried, and the others stay what they are without it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ingressctl.api import configmaps
from ingressctl.api.refs import Raw, Ref
from ingressctl.core.kserve import configuration
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import admitting, overlay
from ingressctl.plan.manifests import Document


class TrialFault(ValueError):
    """The text of a --set cannot be applied. Its message is for people."""


def documents(texts: Iterable[str], world: World, settings: Settings) -> tuple[Document, ...]:
    """The ConfigMaps as the texts change them. Raises TrialFault."""
    changed: dict[Ref, dict[str, Any]] = {}
    for text in texts:
        place, equals, value = text.partition("=")
        name, _, path = place.partition(".")
        if not (equals and name and path):
            raise TrialFault(
                f"{text!r} is not CONFIGMAP.data.KEY=VALUE or CONFIGMAP.KEY.FIELD=VALUE"
            )
        ref = Ref("", "ConfigMap", _namespace(name, place, settings), name)
        stored = changed.get(ref) or _config_map(ref, world)
        changed[ref] = {**stored, "data": _with(stored.get("data") or {}, path, value, text)}
    return tuple(Document(obj, overlay.TRIED) for obj in changed.values())


def _namespace(name: str, place: str, settings: Settings) -> str:
    if name == configuration.NAME:
        return settings.config_namespace
    if name.startswith("config-"):
        return settings.knative_namespace
    if name in configmaps.SHIPPED or name in admitting.SHIPPED:
        raise TrialFault(f"{place}: {name} is a key, write {configuration.NAME}.{place}")
    raise TrialFault(
        f"ConfigMap {name!r} is not one that routes follow from: "
        "inferenceservice-config, or config-domain and its like"
    )


def _config_map(ref: Ref, world: World) -> dict[str, Any]:
    stored: Raw | None = world.get(ref)
    if stored is not None:
        return dict(stored)
    metadata = {"name": ref.name, "namespace": ref.namespace}
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    return {**made, "data": _shipped()} if ref.name == configuration.NAME else made


def _shipped() -> dict[str, str]:
    """What holds where there is no inferenceservice-config: of routing, and of admission."""
    routing = {key: json.dumps(value, indent=2) for key, value in configmaps.SHIPPED.items()}
    return {**routing, **admitting.SHIPPED}


def _with(data: Mapping[str, str], path: str, value: str, text: str) -> dict[str, str]:
    if path.startswith("data."):
        return {**data, path.removeprefix("data."): value}
    key, *fields = path.split(".")
    if not fields:
        raise TrialFault(f"{text!r}: write data.{key} to set the whole key {key}")
    try:
        held = json.loads(data.get(key) or "{}")
    except ValueError:
        held = None
    if not isinstance(held, dict):
        raise TrialFault(f"{text!r}: key {key} does not hold a JSON object")
    _set(held, fields, value, text)
    return {**data, key: json.dumps(held, indent=2)}


def _set(held: dict[str, Any], fields: list[str], value: str, text: str) -> None:
    *way, last = fields
    for part in way:
        held = held.setdefault(part, {})
        if not isinstance(held, dict):
            raise TrialFault(f"{text!r}: {part} is not a JSON object")
    held[last] = _value(value, held.get(last))


def _value(text: str, before: Any) -> Any:
    """Text stays text where text stood; elsewhere true, 3 and [] are JSON."""
    if isinstance(before, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
