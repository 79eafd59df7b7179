"""What a person should know of a ConfigMap, beside whether it can be used.

Faults: everything that KServe refuses, of all keys at once. Notices: keys that have no
effect or another spelling, and settings that stand only in the `_example` text, where they
have none (F112). Knative guards its examples with a checksum; KServe does not, so there a
setting counts as the user's if it is neither what holds nor what KServe ships.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ValidationError

from ingressctl.api import configmaps, dns, spelling
from ingressctl.api.configmaps import EXAMPLE_KEY, ConfigFault

MODELS: Mapping[str, type[BaseModel]] = {
    "ingress": configmaps.IngressConfig,
    "deploy": configmaps.DeployConfig,
    "service": configmaps.ServiceConfig,
    "inferenceService": configmaps.InferenceServiceConfig,
    "security": configmaps.SecurityConfig,
    "router": configmaps.RouterConfig,
}
"""The keys of inferenceservice-config that routing and admission read."""

KNOWN_KEYS = frozenset(
    [
        *MODELS,
        *(
            "agent autoscaler batcher credentials explainers localModel logger "
            "metricsAggregator opentelemetryCollector storageInitializer"
        ).split(),
    ]
)
"""All keys of inferenceservice-config, also those of other parts of KServe."""

CHECKSUM_ANNOTATION = "knative.dev/example-checksum"

STOCK_HEADING = "EXAMPLE CONFIGURATION"


@dataclass(frozen=True, slots=True)
class KeyFault:
    """Why a key cannot be used. `path` is like ``ingress.enableGatewayApi``."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A setting that does not do what its writer may think.

    `unknown`: no effect; `known` is the nearest known key or "". `other-case`: read as
    `known`. `overridden`: the same key comes again as `known`. `example`: set only inside
    `_example`. `ignored`: KServe falls back to defaults. `dropped`: a part of a value,
    `known`, that has no effect, and `why`.
    """

    kind: Literal["unknown", "other-case", "overridden", "example", "ignored", "dropped"]
    path: str
    known: str = ""
    why: str = ""


def faults(
    data: Mapping[str, str], *, gateway_optional: bool, graphs: bool = False
) -> tuple[KeyFault, ...]:
    """Everything in inferenceservice-config that cannot be used.

    `gateway_optional` is difference Q28; `graphs` tells that there are InferenceGraphs, which
    cannot do without the key `router`.
    """
    found = [fault for key in MODELS if key in data for fault in _faults_of_types(key, data[key])]
    if found:
        return tuple(found)
    rules: list[tuple[str, Callable[[str | None], object]]] = [
        ("ingress", lambda text: configmaps.parse_ingress(text, gateway_optional=gateway_optional)),
        ("deploy", configmaps.parse_default_mode),
    ]
    if graphs or "router" in data:
        rules.append(("router", configmaps.parse_router))
    for key, parse in rules:
        try:
            parse(data.get(key))
        except ConfigFault as fault:
            found.append(KeyFault(key, str(fault)))
    return tuple(found)


def domain_template_faults(data: Mapping[str, str]) -> tuple[KeyFault, ...]:
    """A domainTemplate that does not parse: KServe takes it and every service fails by it."""
    try:
        ingress = configmaps.parse_ingress(data.get("ingress"), gateway_optional=True)
    except ConfigFault:
        return ()  # told by `faults`
    fault = configmaps.path_template_fault(ingress.domainTemplate)
    text = f"invalid ingress config - unable to parse domainTemplate: {fault}"
    return (KeyFault("ingress.domainTemplate", text),) if fault else ()


def _faults_of_types(key: str, text: str) -> Iterator[KeyFault]:
    """A key `service` that does not parse is no fault: KServe goes on with its default."""
    model = MODELS[key]
    if key == "service" or (key == "security" and not text):
        return
    try:
        model.model_validate(configmaps.fold_keys(model, configmaps.decode(text, key=key)))
    except ConfigFault as fault:
        yield KeyFault(key, str(fault))
    except ValidationError as error:
        for path, message in configmaps.type_faults(error, key=key):
            yield KeyFault(f"{key}.{path}", message)


def notices(data: Mapping[str, str], *, annotations: Mapping[str, str]) -> tuple[Notice, ...]:
    """What to tell of inferenceservice-config; `annotations` are those of the ConfigMap."""
    return (
        *_misspelt_keys(data),
        *(notice for key, model in MODELS.items() for notice in _inside(key, model, data.get(key))),
        *_dropped(data.get("ingress")),
        *example_notices(data, annotations=annotations),
    )


def _dropped(text: str | None) -> Iterator[Notice]:
    """Parts of key `ingress` that KServe takes and leaves out without a word."""
    try:
        ingress = configmaps.parse_ingress(text, gateway_optional=True)
    except ConfigFault:
        return  # told by `faults`
    for place, domain in enumerate(ingress.additionalIngressDomains):
        if fault := dns.subdomain_fault(domain):
            path = f"ingress.additionalIngressDomains[{place}]"
            yield Notice("dropped", path, domain, f"it is no domain: {fault}")
    written = _ACTION.sub("", ingress.pathTemplate)
    if found := re.search("[?#].*", written, re.DOTALL):
        why = "routes match the path alone, without query and fragment"
        yield Notice("dropped", "ingress.pathTemplate", found[0], why)


_ACTION = re.compile(r"\{\{.*?\}\}", re.DOTALL)
"""What a template fills in."""


def _misspelt_keys(data: Mapping[str, str]) -> Iterator[Notice]:
    """Keys of `data` are compared exactly. Only what looks like a known one is told."""
    for key in sorted(set(data) - KNOWN_KEYS - {EXAMPLE_KEY}):
        nearest = spelling.closest(key, KNOWN_KEYS)
        if nearest and nearest not in data:
            yield Notice("unknown", key, nearest)


def _inside(key: str, model: type[BaseModel], text: str | None) -> Iterator[Notice]:
    if not text:
        return
    try:
        values = configmaps.decode(text, key=key)
        if key == "service":
            model.model_validate(configmaps.fold_keys(model, values))
    except (ConfigFault, ValidationError):
        if key == "service":
            yield Notice("ignored", key)
        return
    yield from _key_notices(key, model, values)


def _key_notices(path: str, model: type[BaseModel], values: Mapping[str, Any]) -> Iterator[Notice]:
    known = {name.lower(): name for name in model.model_fields}
    last = {name.lower(): name for name in values}
    for name, value in values.items():
        right = known.get(name.lower())
        if right is None:
            yield Notice("unknown", f"{path}.{name}", spelling.closest(name, known.values()))
            continue
        if last[name.lower()] != name:
            yield Notice("overridden", f"{path}.{name}", last[name.lower()])
        elif right != name:
            yield Notice("other-case", f"{path}.{name}", right)
        inner: Any = model.model_fields[right].annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel) and isinstance(value, dict):
            yield from _key_notices(f"{path}.{name}", inner, value)


def example_notices(
    data: Mapping[str, str], *, annotations: Mapping[str, str]
) -> tuple[Notice, ...]:
    """Settings that somebody made inside `_example`, of any ConfigMap.

    With Knative's checksum only a changed text counts; in a shipped text without checksum
    only values that are known not to be shipped.
    """
    example = data.get(EXAMPLE_KEY) or ""
    checksum = annotations.get(CHECKSUM_ANNOTATION)
    if checksum is not None and checksum in checksums(example):
        return ()
    stock = checksum is None and STOCK_HEADING in example
    return tuple(
        Notice("example", path)
        for name, value in _settings(example).items()
        for path in _set_in_example(name, value, data.get(name), stock=stock)
    )


def checksums(example: str) -> frozenset[str]:
    """Knative's checksums of an example: by the present rule, and by the one before it."""
    bare = example.strip()
    # the replacement is a backslash and an n, as in knative/pkg: configmap/example.go
    texts = (re.sub(r"(?:\r?\n)+", r"\\n", bare), bare)
    return frozenset(f"{zlib.crc32(text.encode()):08x}" for text in texts)


def _settings(example: str) -> Mapping[str, str]:
    """Settings that stand uncommented in the text; none if it is no YAML mapping."""
    try:
        loaded = yaml.load(example, yaml.CSafeLoader)
    except yaml.YAMLError:
        return {}
    if not isinstance(loaded, dict):
        return {}
    return {
        name: value if isinstance(value, str) else str(value)
        for name, value in loaded.items()
        if isinstance(name, str)
    }


def _set_in_example(name: str, value: str, held: str | None, *, stock: bool) -> Iterator[str]:
    inside, outside = _object(value), _object(held)
    if inside is None or name not in configmaps.SHIPPED:
        if not stock and value != held:
            yield name
        return
    for key, setting in inside.items():
        if setting not in ((outside or {}).get(key), configmaps.SHIPPED[name].get(key)):
            yield f"{name}.{key}"


def _object(text: str | None) -> Mapping[str, Any] | None:
    try:
        return configmaps.decode(text, key="") if text is not None else None
    except ConfigFault:
        return None
