"""Knative's ConfigMaps that decide host names: config-domain and config-network.

spec/knative-routing.md 6.5 and 15. Parsing is cached by text: every service of a cluster
shares the two maps. Legacy camelCase keys of config-network are read; kebab-case wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import yaml

from ingressctl.api.configmaps import EXAMPLE_KEY, ConfigFault

DOMAIN_TEMPLATE = "{{.Name}}.{{.Namespace}}.{{.Domain}}"
TAG_TEMPLATE = "{{.Tag}}-{{.Name}}"

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Domain:
    """One domain of config-domain and the labels it is for; no labels: the default."""

    name: str
    selector: Pairs = ()


@dataclass(frozen=True, slots=True)
class Network:
    """The keys of config-network that name hosts and URLs."""

    domain_template: str = DOMAIN_TEMPLATE
    tag_template: str = TAG_TEMPLATE
    scheme: str = "http"
    tls: bool = False


def pairs(data: Mapping[str, object] | None) -> Pairs:
    """A ConfigMap's data as a hashable value."""
    return tuple(sorted((key, str(value or "")) for key, value in (data or {}).items()))


@lru_cache(maxsize=64)
def parse_domains(data: Pairs) -> tuple[Domain, ...]:
    """The domains of config-domain. Raises ConfigFault."""
    return tuple(Domain(name, _selector(name, text)) for name, text in data if name != EXAMPLE_KEY)


def _selector(domain: str, text: str) -> Pairs:
    try:
        value = yaml.load(text, yaml.CSafeLoader)
    except yaml.YAMLError:
        raise ConfigFault(f"config-domain: the value of {domain} is no YAML") from None
    if value is None:
        return ()
    selector = value.get("selector") if isinstance(value, dict) else False
    if selector is None:
        return ()
    if not isinstance(selector, dict):
        raise ConfigFault(f"config-domain: the value of {domain} must be empty or hold a selector")
    return pairs(selector)


@lru_cache(maxsize=64)
def parse_network(data: Pairs) -> Network:
    """The keys of config-network that hosts need."""
    values = dict(data)

    def value(key: str, legacy: str, default: str) -> str:
        return values.get(key) or values.get(legacy) or default

    tls = value("external-domain-tls", "auto-tls", values.get("autoTLS", ""))
    return Network(
        value("domain-template", "domainTemplate", DOMAIN_TEMPLATE),
        value("tag-template", "tagTemplate", TAG_TEMPLATE),
        value("default-external-scheme", "defaultExternalScheme", "http"),
        tls.lower() == "enabled",
    )
