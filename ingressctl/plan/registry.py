"""Providers by name, found through the entry-point group ``ingressctl.providers``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import metadata
from types import MappingProxyType

from ingressctl.core.ports import Provider
from ingressctl.core.world import Kind

GROUP = "ingressctl.providers"


@cache
def providers() -> Mapping[str, Provider]:
    """Every installed provider."""
    found = {point.name: point.load() for point in metadata.entry_points(group=GROUP)}
    return MappingProxyType(dict(sorted(found.items())))


def routing_kinds(given: Mapping[str, Provider]) -> tuple[Kind, ...]:
    """All kinds that some of these providers writes: what pruning looks through."""
    return tuple(dict.fromkeys(kind for provider in given.values() for kind in provider.kinds))
