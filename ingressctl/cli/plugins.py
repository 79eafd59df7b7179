"""Every provider that a command may name: installed ones, shipped and given templates."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ingressctl.cli import templates
from ingressctl.core.ports import Provider
from ingressctl.plan import registry
from ingressctl.providers import template


def providers(folder: Path | None = None) -> Mapping[str, Provider]:
    """Providers by name; a template of `folder` goes before one of the same name.

    Raises template.DefinitionFault or template.TemplateFault for a folder that cannot be used.
    """
    sets = (*templates.shipped(), *(templates.given(folder) if folder else ()))
    templated = {provider.name: provider for provider in map(template.load, sets)}
    return {**templated, **registry.providers()}
