"""What a proxy would serve of a world: the routes of InferenceServices, and those of the
Knative Services that they lead to, by owner.

Both hops belong to one picture: in Knative mode the first one ends at the local gateway, and
the traffic table behind it decides which revision answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from ingressctl.api import configmaps
from ingressctl.api.refs import Ref, ref_of
from ingressctl.core import naming
from ingressctl.core.model import Route
from ingressctl.core.outcome import Fault, Finding
from ingressctl.core.ports import Emission, Provider
from ingressctl.core.settings import Settings
from ingressctl.core.table import Table
from ingressctl.core.world import Reads, World
from ingressctl.plan import applying, cascade
from ingressctl.plan.checks import inputs
from ingressctl.plan.overlay import Laid
from ingressctl.sources.knative import traffic

LOSS = "IC4001"
"""The code of what a provider cannot express."""

Owned = Mapping[Ref, tuple[Route, ...]]


@dataclass(frozen=True, slots=True)
class Served:
    """Routes by owner, and what there is to say about each of them.

    What owners have to share is settled, and told, where their routes are put together.
    `refused` are objects that admission does not let in; `faults` name the owners whose
    routes are not known because their reconcile did not come to its end.
    """

    world: World
    routes: Owned
    findings: tuple[Finding, ...]
    faults: tuple[tuple[Ref, Fault], ...]
    refused: tuple[Finding, ...]


def served(
    laid: Laid,
    settings: Settings,
    *,
    now: datetime,
    providers: Mapping[str, Provider],
    provider: str = "envoy",
) -> Served:
    """What `provider` serves of the written objects on top of their base."""
    settings = replace(settings, provider=provider)
    written = laid.world
    laid, refused = applying.apply(laid, settings)
    settings = replace(settings, fresh=settings.fresh | laid.fresh)
    done = cascade.run(laid.world, settings, now=now, providers=providers)
    faults = [(step.ref, fault) for step in done.steps for fault in step.faults]
    emissions = _emissions(done, settings, providers[provider], providers, faults)
    findings = (
        *inputs.of_objects(written),
        *(finding for step in done.steps for finding in step.findings),
    )
    routes = {ref: emission.routes for ref, emission in emissions.items() if emission.routes}
    return Served(
        done.world, routes, tuple(dict.fromkeys((*laid.twice, *findings))), tuple(faults), refused
    )


def losses(
    served: Served, settings: Settings, *, now: datetime, providers: Mapping[str, Provider]
) -> Mapping[str, tuple[Finding, ...]]:
    """What the providers that the configuration chooses could not express of the same world."""
    steps: dict[Ref, cascade.Step] = {}
    cascade.one_pass(
        served.world,
        replace(settings, provider=""),
        now=now,
        sources=cascade.SOURCES,
        steps=steps,
        providers=providers,
    )
    found: dict[str, tuple[Finding, ...]] = {}
    for step in steps.values():
        lost = tuple(item for item in step.emission.findings if item.code == LOSS)
        if lost:
            name = step.outcome.provider
            found[name] = (*found.get(name, ()), *lost)
    return found


def carried(
    done: cascade.Cascade, settings: Settings, providers: Mapping[str, Provider]
) -> tuple[Table, ...]:
    """The tables of providers without objects of their own, for whoever asks of a world."""
    used = sorted({step.outcome.provider for step in done.steps if step.emission.routes})
    reads = Reads(done.world, settings, providers=providers)
    return tuple(_table(providers[name], done, reads) for name in used)


def _table(provider: Provider, done: cascade.Cascade, reads: Reads) -> Table:
    emissions = _emissions(done, reads.settings, provider, reads.providers, [])
    return provider.read(provider.merge(emissions.values()).objects, reads=reads)


def _emissions(
    done: cascade.Cascade,
    settings: Settings,
    provider: Provider,
    providers: Mapping[str, Provider],
    faults: list[tuple[Ref, Fault]],
) -> dict[Ref, Emission]:
    """What the provider carries of every owner, Knative Services among them."""
    reads = Reads(done.world, settings, providers=providers)
    found = {step.ref: step.emission for step in done.steps if step.emission.routes}
    return {**found, **dict(_knative(reads, provider, faults))}


def _knative(
    reads: Reads, provider: Provider, faults: list[tuple[Ref, Fault]]
) -> Iterator[tuple[Ref, Emission]]:
    """The traffic of every Knative Service that has a revision."""
    for obj in reads.world.list(traffic.KNATIVE_SERVICE):
        try:
            route = traffic.route(obj, reads=reads)
        except (naming.NameFault, configmaps.ConfigFault) as fault:
            faults.append((ref_of(obj), Fault(str(fault), "routes")))
            continue
        if route is not None:
            yield ref_of(obj), provider.emit((route,), reads=reads)
