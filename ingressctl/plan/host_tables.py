"""The tables that one question needs: read by host, kept by host.

Only objects that name a host on the way are read, beside what Knative makes of its Services;
so a question costs the same among ten thousand services as among ten.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ingressctl.api import configmaps, inferencegraphs, inferenceservices
from ingressctl.api.refs import Raw, Ref, group_of, ref_of
from ingressctl.core import naming
from ingressctl.core.kserve import configuration as config
from ingressctl.core.settings import Settings
from ingressctl.core.table import Request, Table
from ingressctl.core.world import Reads, World
from ingressctl.plan.host_index import HostIndex
from ingressctl.sources.knative import traffic

_NAME = re.compile(r"\.Name\b")


class HostTables:
    """Tables of a world by host. Those of providers without objects are `carried`; they hold
    what Knative makes as well.
    """

    __slots__ = (
        "_carried",
        "_groups",
        "_indexes",
        "_knative",
        "_tables",
        "reads",
    )

    def __init__(self, reads: Reads, carried: tuple[Table, ...]) -> None:
        self.reads = reads
        self._carried = carried
        domain = reads.settings.cluster_domain
        self._indexes = {
            name: HostIndex(
                (obj for kind in provider.kinds for obj in reads.list(kind)), cluster_domain=domain
            )
            for name, provider in sorted(reads.providers.items())
            if provider.kinds
        }
        self._knative = reads.list(traffic.KNATIVE_SERVICE)
        self._tables: dict[str, tuple[Table, ...]] = {}
        self._groups = {group_of(str(obj.get("apiVersion"))) for obj in reads.world}

    @property
    def has_knative(self) -> bool:
        """Whether Knative Services are in the world."""
        return bool(self._knative)

    def of(self, host: str) -> tuple[Table, ...]:
        """One table a provider, of what may act on requests for a bare lower-case host."""
        if host not in self._tables:
            knative = () if self._carried else self._knative
            second = tuple(_second_hop(knative, host, self.reads))
            by_host = (
                self._table(name, (*index.named(host).values(), *second))
                for name, index in self._indexes.items()
            )
            self._tables[host] = (*self._carried, *by_host)
        return self._tables[host]

    def everything(self) -> tuple[Table, ...]:
        """One table a provider of all objects: for a question that no host narrows."""
        every = (
            self._table(
                name, tuple(obj for kind in provider.kinds for obj in self.reads.list(kind))
            )
            for name, provider in sorted(self.reads.providers.items())
            if provider.kinds
        )
        return (*self._carried, *every)

    def _table(self, name: str, found: tuple[Raw, ...]) -> Table:
        """What the provider reads; nothing where the world knows none of its API groups."""
        provider = self.reads.providers[name]
        groups = {group for group, _ in provider.kinds if group}
        if groups & self._groups or any(ref_of(obj).group in groups for obj in found):
            return provider.read(found, reads=self.reads)
        return Table(name, ())


def relevant(
    refs: Iterable[Ref], request: Request, world: World, settings: Settings
) -> frozenset[Ref]:
    """The objects without the InferenceServices and graphs that cannot concern the request.

    Its name is part of an object's hosts and paths, unless the templates say otherwise: then
    all stay. With a graph stay those that it leads to. Who explains one request reconciles
    these, not ten thousand services.
    """
    try:
        ingress = config.ingress(Reads(world, settings, providers={}))
    except configmaps.ConfigFault:
        return frozenset(refs)
    templates = (ingress.domainTemplate, *filter(None, [ingress.pathTemplate]))
    if not all(_NAME.search(template) for template in templates):
        return frozenset(refs)
    text = f"{request.bare_host} {request.path}".lower()
    given = frozenset(refs)
    kept = frozenset(ref for ref in given if ref[:2] not in _NAMED or ref.name in text)
    return kept | (given & _reached(kept, world))


_NAMED = (inferenceservices.KIND, inferencegraphs.KIND)
"""Kinds whose objects have their name in their hosts."""


def _reached(refs: Iterable[Ref], world: World) -> frozenset[Ref]:
    """The services and graphs that graphs among `refs` lead to, by however many steps."""
    found: set[Ref] = set()
    waiting = [ref for ref in refs if ref[:2] == inferencegraphs.KIND]
    while waiting:
        ref = waiting.pop()
        spec = inferencegraphs.loose(world.get(ref) or {})
        for target in inferencegraphs.targets(spec) if spec is not None else ():
            for kind, name in zip(_NAMED, (target.serviceName, target.graphName), strict=True):
                other = Ref(*kind, ref.namespace, name)
                if name and other not in found:
                    found.add(other)
                    waiting += [other] if kind == inferencegraphs.KIND else []
    return frozenset(found)


def _second_hop(services: tuple[Raw, ...], host: str, reads: Reads) -> Iterator[Raw]:
    """What net-istio would write for the Knative Services that a host may name.

    A Service's name is part of its hosts; one whose objects are there already is left out.
    """
    emitter = reads.providers.get("istio")
    if emitter is None:
        return
    for service in services:
        if ref_of(service).name not in host:
            continue
        try:
            route = traffic.route(service, reads=reads)
        except (naming.NameFault, configmaps.ConfigFault):
            continue
        if route is not None and reads.get(_written(route.ref)) is None:
            yield from emitter.emit((route,), reads=reads).objects


def _written(ref: Ref) -> Ref:
    return Ref("networking.istio.io", "VirtualService", ref.namespace, ref.name)
