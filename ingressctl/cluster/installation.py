"""What one `ingressctl run` is to be: its settings, its parts, and what it follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ingressctl.api.refs import Kind, Ref
from ingressctl.cluster.carrying import Carrier
from ingressctl.cluster.controller import Options
from ingressctl.cluster.informers import Timing
from ingressctl.cluster.leases import Terms
from ingressctl.core.ports import Provider
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import rights
from ingressctl.plan.cascade import Reconcile
from ingressctl.plan.kinds import Resource


class Follower(Carrier, Protocol):
    """A carrier that looks at the cluster itself: it needs Services and their endpoints."""

    @property
    def unready(self) -> str:
        """Why proxies are not answered yet; "" when they are."""
        ...

    def start(self, world: World, wake: Callable[[Ref], None]) -> None:
        """Know the picture; who waits for proxies is woken so."""
        ...

    def trust(self, authority: bytes, certificate: bytes, key: bytes) -> None:
        """Show this certificate from now on, and admit whom these authorities know."""
        ...

    async def serve(self) -> None:
        """Answer proxies, once the first picture is complete and there is a certificate."""
        ...

    def moved(self, ref: Ref) -> None:
        """A Service or an EndpointSlice changed."""
        ...

    async def stop(self) -> None:
        """No answer any more."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run. Ports of 0 are left out; `namespaces` () means everywhere, and with some
    `cluster_scoped` tells whether kinds outside of namespaces are read all the same."""

    settings: Settings
    providers: Mapping[str, Provider]
    sources: Mapping[Kind, Reconcile]
    options: Options
    namespaces: tuple[str, ...] = ()
    knative: bool = True
    cluster_scoped: bool = True
    elect: bool = True
    lease_namespace: str = ""
    identity: str = ""
    health_port: int = 8081
    metrics_port: int = 9090
    resync: float = 0.0
    timing: Timing = field(default_factory=Timing)
    terms: Terms = field(default_factory=Terms)
    request_seconds: float = 30.0


def watched(plan: Plan) -> Iterator[tuple[Resource, str]]:
    """Every kind with the namespace to follow it in; "" is everywhere."""
    on = rights.features(providers=plan.providers, write=plan.settings.write, knative=plan.knative)
    roles = rights.roles(plan.providers.values())
    seen: set[tuple[Resource, str]] = set()
    for resource, place in rights.watched(roles, on):
        for namespace in _namespaces(resource, place, plan):
            if (resource, namespace) not in seen:
                seen.add((resource, namespace))
                yield resource, namespace


def _namespaces(resource: Resource, place: rights.Place, plan: Plan) -> tuple[str, ...]:
    if place == "config":
        return (plan.settings.config_namespace,)
    if place == "knative":
        return (plan.settings.knative_namespace,)
    if not resource.namespaced:
        # A role in one namespace cannot grant what lies in none.
        return ("",) if plan.cluster_scoped or not plan.namespaces else ()
    return plan.namespaces or ("",)
