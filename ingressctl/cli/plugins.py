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
from ingressctl.providers.template import definition
from ingressctl.providers.template.definition import TemplateSet


def providers(folder: Path | None = None) -> Mapping[str, Provider]:
    """Providers by name; a template of `folder` goes before one of the same name or kinds:
    two readers of one kind would answer twice.

    Raises definition.DefinitionFault or sandbox.TemplateFault for a folder that cannot be used.
    """
    given = [_load(item) for item in templates.given(folder)] if folder else []
    taken = {kind for provider in given for kind in provider.kinds}
    shipped = (Deferred(item) for item in templates.shipped())
    templated: dict[str, Provider] = {
        provider.name: provider for provider in shipped if not taken & set(provider.kinds)
    }
    templated.update((provider.name, provider) for provider in given)
    return {**templated, **registry.providers()}


def _load(given: TemplateSet) -> Provider:
    from ingressctl.providers.template import provider  # noqa: PLC0415 - Jinja2 is slow to import

    return provider.load(given)


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
        return _load(self._given)

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
