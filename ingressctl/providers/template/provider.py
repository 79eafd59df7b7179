"""A provider made of a `TemplateSet`: the five functions of core.ports.Provider."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any

import jinja2
import yaml

from ingressctl.api import dns
from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core import lowering
from ingressctl.core.model import Route
from ingressctl.core.outcome import Finding
from ingressctl.core.ports import Capability, Emission, Verdict, nothing, side_by_side
from ingressctl.core.table import Table
from ingressctl.core.world import Kind, Reads
from ingressctl.providers.template import context, definition, reading, sandbox
from ingressctl.providers.template.definition import Definition, DefinitionFault, TemplateSet

READ = "read.yaml.j2"


def _object_name(name: str, suffix: str = "") -> str:
    """A name that fits 63 characters; the suffix tells objects of one route apart.

    Two dashes, because with one the second object of route `a` could be called like the
    route of component `a-transformer`.
    """
    return dns.cut(f"{name}--{suffix}" if suffix else name)


_FILTERS: Mapping[str, Callable[..., Any]] = {
    "objectName": _object_name,
    "regex_groups": reading.regex_groups,
}


@lru_cache(maxsize=32)
def load(given: TemplateSet) -> TemplateProvider:
    """The provider of a folder. Raises DefinitionFault or sandbox.TemplateFault."""
    parsed = definition.parse(given)
    environment = sandbox.environment(_FILTERS)
    compiled = {
        name: sandbox.compile_template(environment, text, f"{given.folder}/{name}")
        for name, text in given.files
        if name.endswith(".yaml.j2")
    }
    if READ not in compiled:
        raise DefinitionFault(
            f"{given.folder}: {READ} is missing: explain could not see the routes"
        )
    if len(compiled) == 1:
        raise DefinitionFault(f"{given.folder}: no template beside {READ}")
    return TemplateProvider(parsed, given.folder, compiled)


class TemplateProvider:
    """One templated gateway."""

    def __init__(
        self, parsed: Definition, folder: str, templates: Mapping[str, jinja2.Template]
    ) -> None:
        self.name = parsed.name
        self.kinds: tuple[Kind, ...] = tuple((kind.group, kind.kind) for kind in parsed.kinds)
        self.capabilities: frozenset[Capability] = frozenset(parsed.capabilities)
        self._definition = parsed
        self._folder = folder
        self._templates = {name: templates[name] for name in sorted(templates) if name != READ}
        self._read = templates[READ]

    def emit(self, routes: tuple[Route, ...], *, reads: Reads) -> Emission:
        """The rendered objects of one owner; a template that fails is an error finding."""
        if not routes:
            return nothing()
        limits = lowering.Limits(self.name, self.capabilities, self._definition.maxBackends)
        lowered, findings = lowering.lower(routes, limits)
        owner = routes[0].owner
        try:
            objects = tuple(self._render(lowered, _globals(reads)))
        except sandbox.TemplateFault as fault:
            failed = Finding.of("IC4101", owner.ref, provider=self.name, text=str(fault))
            return Emission(owner, findings=(*findings, failed))
        return Emission(owner, objects, findings=findings)

    def _render(
        self, routes: tuple[Route, ...], shared: Mapping[str, Any]
    ) -> Iterator[dict[str, Any]]:
        seen: set[Ref] = set()
        namespace, owner = routes[0].ref.namespace, routes[0].owner
        for values in context.units(routes, self._definition.unit):
            for name, template in self._templates.items():
                file = f"{self._folder}/{name}"
                text = sandbox.render(template, file, {**values, **shared})
                for obj in _documents(text, file):
                    self._check(obj, namespace, file, seen)
                    obj["metadata"]["ownerReferences"] = [owner.reference()]
                    yield obj

    def _check(self, obj: dict[str, Any], namespace: str, file: str, seen: set[Ref]) -> None:
        """A rendered object is of a declared kind, in the route's namespace, and alone."""
        ref = ref_of(obj)
        if ref[:2] not in self.kinds:
            raise sandbox.TemplateFault(f"{file}: {ref} is not among the kinds of provider.yaml")
        if not ref.name or dns.subdomain_fault(ref.name):
            raise sandbox.TemplateFault(f"{file}: metadata.name {ref.name!r} cannot be")
        if ref.namespace != namespace:
            raise sandbox.TemplateFault(
                f"{file}: {ref} must be in the namespace {namespace} of its route"
            )
        if ref in seen:
            raise sandbox.TemplateFault(f"{file}: {ref} is rendered twice")
        seen.add(ref)

    def merge(self, emissions: Iterable[Emission]) -> Emission:
        """Nothing is shared: all objects side by side."""
        return side_by_side(emissions)

    def read(self, objects: Iterable[Raw], *, reads: Reads) -> Table:
        """The objects of the provider's kinds, as read.yaml.j2 describes them."""
        mine = sorted((obj for obj in objects if ref_of(obj)[:2] in self.kinds), key=ref_of)
        file = f"{self._folder}/{READ}"
        peers = {
            f"{obj['kind']}/{ref.namespace}/{ref.name}": obj
            for obj in mine
            for ref in [ref_of(obj)]
        }
        described = []
        for obj in mine:
            values = {"object": obj, "peers": peers, **_globals(reads)}
            text = sandbox.render(self._read, file, values)
            described.append((ref_of(obj), _documents(text, file)))
        return reading.table(self.name, described, file)

    def readiness(self, route: Route, *, reads: Reads) -> Verdict:
        """By the conditions that provider.yaml names, of every object of the route."""
        for rule in self._definition.readiness:
            if not rule.condition:
                continue
            group = next(kind.group for kind in self._definition.kinds if kind.kind == rule.kind)
            for obj in reads.list((group, rule.kind), route.ref.namespace):
                if not route.owner.controls(obj):
                    continue
                verdict = reading.verdict(obj, rule)
                if verdict.ready is not True:
                    return verdict
        return Verdict(True)


def _globals(reads: Reads) -> dict[str, Any]:
    """What every template sees besides its unit or object."""
    return {
        "settings": {"clusterDomain": reads.settings.cluster_domain},
        "targetPort": partial(context.target_port, reads),
        "servicePort": partial(context.service_port, reads),
    }


def _documents(text: str, file: str) -> list[dict[str, Any]]:
    try:
        found = [item for item in yaml.load_all(text, yaml.CSafeLoader) if item is not None]
    except yaml.YAMLError as fault:
        line = str(fault).splitlines()[0]
        raise sandbox.TemplateFault(f"{file}: the rendered text is no YAML: {line}") from None
    for item in found:
        if not isinstance(item, dict) or not isinstance(item.get("metadata", {}), dict):
            raise sandbox.TemplateFault(f"{file}: the rendered text is no object")
    return found
