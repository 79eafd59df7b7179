"""The routing step of a graph in Standard mode: gate, route, and the gateway's word."""

from __future__ import annotations

from ingressctl.api.configmaps import ConfigFault
from ingressctl.core import findings, naming, passes
from ingressctl.core.conditions import Status
from ingressctl.core.kserve import mode
from ingressctl.core.model import Route
from ingressctl.core.outcome import Fault, Finding, Keep
from ingressctl.core.values import Value, replace
from ingressctl.sources.graph import knative, routes
from ingressctl.sources.graph.observing import Said
from ingressctl.sources.graph.scope import Scope

NOT_PUBLISHED = Said("True", "ClusterLocal", "the graph is reached within the cluster alone")


class Routing(Value, frozen=True):
    """What is routed, what the gateway says, and under which URL the graph is told of.

    `url` is "" while no URL is served yet; `lost` tells that its host is somebody else's.
    """

    said: Said
    routes: tuple[Route, ...] = ()
    provider: str = ""
    url: str = ""
    lost: bool = False
    keep: Keep = Keep()
    findings: tuple[Finding, ...] = ()
    faults: tuple[Fault, ...] = ()
    again: float | None = None


def none(said: Said) -> Routing:
    """No route is wanted; one that is there goes."""
    return Routing(said)


def by_knative(scope: Scope) -> Routing:
    """Nothing to route; but Knative must not give out a host that somebody else has."""
    try:
        host = knative.public_host(scope)
    except (ConfigFault, naming.NameFault):  # Knative says so itself
        return none(Said("True"))
    found = passes.ownership.loss(host, scope.graph.ref, scope.reads)
    if found is None:
        return none(Said("True"))
    said = Said("False", "HostInUse", findings.message(found))
    return Routing(said, lost=True, findings=(found,))


def reconcile(scope: Scope, router: Said) -> Routing:
    """The route once the router serves. Raises configmaps.ConfigFault."""
    ingress = scope.ingress()
    if routes.is_private(scope, ingress):
        return Routing(NOT_PUBLISHED, url=routes.address(scope), keep=Keep(hidden=True))
    provider = mode.provider(scope.mode, ingress, scope.reads)
    if lacking := mode.not_followed(provider, scope.reads):
        said = Said("False", "ProviderNotFollowed", lacking)
        return Routing(said, keep=Keep(everything=True), faults=(Fault(lacking, "routes"),))
    if not router.ready:
        text = "the route is made when the router is ready"
        kept = Keep(names=frozenset({routes.name(scope)}))
        return Routing(Said("Unknown", "RouterNotReady", text), keep=kept)
    try:
        route = routes.route(scope, ingress, provider)
        url = f"{ingress.urlScheme}://{routes.host(scope, ingress)}"
    except naming.NameFault as fault:
        return _bad_host(scope, str(fault))
    passed, found = passes.apply((route,), scope.reads)
    lost = [finding for finding in found if finding.code == passes.ownership.CODE]
    if lost:
        said = Said("False", "HostInUse", "; ".join(map(findings.message, lost)))
        return Routing(said, passed, provider, lost=True, findings=found)
    verdict = scope.reads.providers[provider].readiness(passed[0], reads=scope.reads)
    made = Routing(Said("True"), passed, provider, url=url, findings=found)
    if verdict.ready:
        return made
    status: Status = "Unknown" if verdict.ready is None else "False"
    said = Said(status, verdict.reason, verdict.message)
    return replace(made, said=said, url="", again=verdict.again)


def _bad_host(scope: Scope, text: str) -> Routing:
    return Routing(
        Said("False", "InvalidHost", text),
        keep=Keep(everything=True),
        findings=(Finding.of("IC2001", scope.graph.ref, text=text),),
        faults=(Fault(text, "routes"),),
    )
