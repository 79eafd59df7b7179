"""The route to a graph in Standard mode, through the providers that services use (IG-R4).

KServe publishes a URL there and makes no route. Here the host of the domain template leads to
the router's Service at the gateway of the configuration, unless the graph is private.
"""

from __future__ import annotations

from ingressctl.api import dns, durations
from ingressctl.api.configmaps import IngressConfig
from ingressctl.api.refs import Ref
from ingressctl.core.kserve import (
    configuration,
    gateways,
    hosts,
    ingress_extras,
    metadata,
    visibility,
)
from ingressctl.core.model import Group, Host, Retries, Route, Rule, Service, Split
from ingressctl.sources.graph import pods, standard
from ingressctl.sources.graph.scope import Scope

DEFAULT_TIMEOUT = 60
"""Seconds that the router's server takes for a request when the graph says nothing."""


def is_private(scope: Scope, ingress: IngressConfig) -> bool:
    """Whether nothing outside of the cluster may lead to the graph."""
    local = visibility.standard_local(scope.graph, ingress, scope.reads)
    return local or ingress.disableIngressCreation


def host(scope: Scope, ingress: IngressConfig) -> str:
    """The public host. Raises naming.NameFault."""
    return hosts.standard_host(scope.graph, scope.graph.name, ingress, scope.reads)


def address(scope: Scope) -> str:
    """The URL within the cluster; a headless Service has no port of its own."""
    port = f":{pods.PORT}" if configuration.headless(scope.reads) else ""
    return f"http://{hosts.internal_host(scope.graph, scope.graph.name, scope.reads)}{port}"


def additional(scope: Scope, ingress: IngressConfig, top: str) -> tuple[Host, ...]:
    """The same host under each further domain."""
    known = (ingress.ingressDomain,)
    return hosts.additional_hosts(top, known, ingress.additionalIngressDomains, scope.reads)


def name(scope: Scope) -> str:
    """What the route's objects are called: those of a service may have the graph's own name."""
    return dns.cut(f"{scope.graph.name}-graph", dns.SUBDOMAIN_LIMIT)


def route(scope: Scope, ingress: IngressConfig, provider: str) -> Route:
    """The one route of a graph. Raises naming.NameFault."""
    graph, reads = scope.graph, scope.reads
    top = host(scope, ingress)
    names = [Host(top), *additional(scope, ingress, top)]
    taken = [name.name for name in names]
    names += hosts.former(graph.status.get("url"), taken, reads)
    rule = Rule(
        name="graph",
        splits=(Split(Service(graph.namespace, graph.name), standard.PORT),),
        timeout=_timeout(scope, ingress, provider),
        retries=Retries(0) if reads.differs("F29") else None,
        reason=f"router of {graph.namespace}/{graph.name}",
    )
    labels, annotations = metadata.route_metadata(graph, scope.config, {}, provider, reads)
    made = Route(
        ref=Ref(graph.ref.group, graph.ref.kind, graph.namespace, name(scope)),
        owner=graph.owner,
        groups=(Group(tuple(names), gateways.entries(ingress, provider), (rule,)),),
        labels=labels,
        annotations=annotations,
    )
    return ingress_extras.add((made,), graph, ingress)[0] if provider == "ingress" else made


def _timeout(scope: Scope, ingress: IngressConfig, provider: str) -> str:
    """The deadline of the graph; without one the router's own limit, where limits can be set."""
    if ingress.disableHTTPRouteTimeout:
        return ""
    spec = scope.graph.spec
    seconds = spec.timeout if scope.reads.differs("IG-D6") else None
    if seconds is None and spec.routerTimeouts is not None:
        seconds = spec.routerTimeouts.serverWrite
    if seconds is None:
        known = "timeout" in scope.reads.providers[provider].capabilities
        return f"{DEFAULT_TIMEOUT}s" if known else ""
    return durations.of_seconds(max(seconds, 0))
