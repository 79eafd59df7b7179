"""Every provider that a command may name: installed ones, shipped and given templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ingressctl.api.refs import Raw
from ingressctl.cli import templates
from ingressctl.core.model import Route
from ingressctl.core.ports import Emission, Provider, Verdict
from ingressctl.core.table import Table
from ingressctl.core.world import Reads
from ingressctl.plan import registry
from ingressctl.providers import template
from ingressctl.providers.template import TemplateSet, definition


def providers(folder: Path | None = None) -> Mapping[str, Provider]:
    """Providers by name; a template of `folder` goes before one of the same name.

    Raises template.DefinitionFault or template.TemplateFault for a folder that cannot be used.
    """
    given = [template.load(item) for item in templates.given(folder)] if folder else []
    shipped = (Deferred(item) for item in templates.shipped())
    templated: dict[str, Provider] = {provider.name: provider for provider in shipped}
    templated.update((provider.name, provider) for provider in given)
    return {**templated, **registry.providers()}


class Deferred:
    """A shipped template provider that is compiled when it is first used.

    Compiling takes longer than most commands; what its name and kinds are is known before.
    """

    def __init__(self, given: TemplateSet) -> None:
        parsed = definition.parse(given)
        self._given = given
        self.name = parsed.name
        self.kinds = tuple((kind.group, kind.kind) for kind in parsed.kinds)
        self.capabilities = frozenset(parsed.capabilities)

    @property
    def _provider(self) -> Provider:
        return template.load(self._given)

    def emit(self, routes: tuple[Route, ...], *, reads: Reads) -> Emission:
        """As core.ports.Provider."""
        return self._provider.emit(routes, reads=reads)

    def merge(self, emissions: Iterable[Emission]) -> Emission:
        """As core.ports.Provider."""
        return self._provider.merge(emissions)

    def read(self, objects: Iterable[Raw], *, reads: Reads) -> Table:
        """As core.ports.Provider."""
        return self._provider.read(objects, reads=reads)

    def readiness(self, route: Route, *, reads: Reads) -> Verdict:
        """As core.ports.Provider."""
        return self._provider.readiness(route, reads=reads)
