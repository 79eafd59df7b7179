"""What runs on this machine beside Envoy for `up`: stubs of Services, and routers of graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ingressctl.core.model import Service
from ingressctl.core.ports import Provider
from ingressctl.core.settings import Settings
from ingressctl.core.values import replace
from ingressctl.plan import graphs
from ingressctl.plan.graphs import Runnable
from ingressctl.plan.overlay import Laid
from ingressctl.plan.serving import Served
from ingressctl.providers.envoy import snapshot
from ingressctl.providers.envoy.facts import WorldFacts
from ingressctl.proxy import backends, routers
from ingressctl.proxy.backends import Backend, LocalFacts
from ingressctl.proxy.routers import Places, Routers
from ingressctl.proxy.stubs import Identity, Stubs


@dataclass(frozen=True, slots=True)
class Input:
    """The files as they are now, and by which rules they are read."""

    laid: Laid
    settings: Settings
    providers: Mapping[str, Provider]


class Local:
    """`told` are the backends of the command line; with `stub` the rest is stood in for."""

    def __init__(
        self, told: tuple[Backend, ...], *, stub: bool, warn: Callable[[str], None]
    ) -> None:
        self._told = told
        self.stubs = Stubs() if stub else None
        self.routers = Routers(warn)

    def facts(self, served: Served) -> LocalFacts:
        """Where things are as far as they run now."""
        world = WorldFacts.of(served.world)
        return LocalFacts(world, self._told, self.stubs, self.routers)

    async def running(self, served: Served, read: Input, port: int) -> LocalFacts:
        """The same when all that routes and graphs lead to runs; `port` is Envoy's.

        Raises OSError for a stub that cannot be started, envoy.EnvoyFault for a router.
        """
        domain = read.settings.cluster_domain
        wanted = graphs.of_owners(served.routes, served.world, read.settings, read.providers)
        self.routers.claim(wanted)
        facts = self.facts(served)
        if self.stubs is not None:
            await self.stubs.serve(_identities(served, wanted, facts, domain))
        places = Places(facts.addresses, _public(served), port, domain)
        await self.routers.serve(
            {
                service: replace(graph, spec=graphs.with_urls(graph.spec, places.url))
                for service, graph in wanted.items()
            },
            compat=read.settings.compat.text,
        )
        return facts

    def published(self) -> None:
        """Envoy knows of the last facts: what is not among them may go."""
        self.routers.let_go()

    @property
    def has_graphs(self) -> bool:
        """Whether some route leads to a graph, which takes no GET."""
        return self.routers.any

    async def stop(self) -> None:
        """End all of it."""
        if self.stubs is not None:
            await self.stubs.stop()
        await self.routers.stop()


def _identities(
    served: Served, wanted: Mapping[Service, Runnable], facts: LocalFacts, domain: str
) -> set[Identity]:
    """The stubs behind routes, and behind steps of graphs that no route leads to.

    A step at an InferenceService that only a gateway knows goes through Envoy, and comes to the
    stubs behind its routes.
    """
    public = _public(served)
    routes = (route for owned in served.routes.values() for route in owned)
    found = set(backends.identities(snapshot.upstreams_of(routes, facts), facts))
    for service, port in routers.called(wanted.values(), domain):
        if facts.wants_stub(service, port) and not public(service):
            found.add(Identity(service.name, service.namespace, port))
    return found


def _public(served: Served) -> Callable[[Service], str]:
    return lambda service: graphs.public_host(service, served.world)
