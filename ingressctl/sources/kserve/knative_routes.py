"""Routes of a service in Knative mode (spec/kserve-ingress.md 7 and 8).

A request for the service host is sent to Knative's local gateway with the Host of the
entry component, and Knative's own route of that component takes it from there: splitting
between revisions is the second hop's business (sources/knative/traffic.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ingressctl.api.inferenceservices import GATEWAYS_ANNOTATION
from ingressctl.core import naming
from ingressctl.core.kserve import configuration, hosts, metadata
from ingressctl.core.model import (
    ANY,
    MESH,
    Entry,
    External,
    Group,
    Host,
    Match,
    PathMatch,
    Retries,
    RewriteHost,
    RewritePath,
    Route,
    Rule,
    Split,
)
from ingressctl.core.values import replace
from ingressctl.sources.kserve import patterns
from ingressctl.sources.kserve.draft import Context


@dataclass(frozen=True, slots=True)
class Exposure:
    """How far a service is visible: its public host ("" if none) and rendered path."""

    host: str
    local: bool
    path: str


def make_route(context: Context, exposure: Exposure) -> Route:
    """The one route of the service, with all its hosts."""
    labels, annotations = metadata.route_metadata(
        context.service, context.config, context.labels, context.provider, context.reads
    )
    return Route(
        ref=context.service.ref,
        owner=context.service.owner,
        groups=_groups(context, exposure),
        labels=labels,
        annotations=annotations,
        alias=context.ingress.localGatewayService,
    )


def make_alias(context: Context) -> Route:
    """Only the in-cluster alias, which KServe makes whatever the readiness."""
    return Route(
        ref=context.service.ref,
        owner=context.service.owner,
        groups=(),
        alias=context.ingress.localGatewayService,
    )


def _groups(context: Context, exposure: Exposure) -> tuple[Group, ...]:
    rules = _host_rules(context)
    public = public_entries(context)
    groups = [Group(hosts.internal_hosts(context.service, context.reads), _inside(context), rules)]
    if not exposure.local:
        own = (Host(exposure.host, "exact", "public", "url"),)
        groups += _told(Group(own, public, rules), context)
    if exposure.path and (not exposure.local or _has_dead_path_rules(context)):
        below = _path_rules(context, exposure.path)
        shared = Group(_shared_hosts(context), public, below, "path", dead=exposure.local)
        groups += _told(shared, context)
    if not exposure.local:
        extra = _additional(context, exposure.host)
        groups += _told(Group(extra, public, rules, "additional"), context) if extra else []
    return tuple(groups)


def _told(group: Group, context: Context) -> Iterator[Group]:
    """The group; with F119 one for each public host, whose rules tell the model that host."""
    if not context.reads.differs("F119"):
        yield group
        return
    for place, host in enumerate(group.hosts):
        rules = group.rules
        if host.kind != "wildcard":
            rules = tuple(patterns.with_public_host(rule, host.name) for rule in rules)
        suffix = f"{group.suffix}-{place}" if place else group.suffix
        yield replace(group, hosts=(host,), rules=rules, suffix=suffix)


def _has_dead_path_rules(context: Context) -> bool:
    """KServe writes an internal service's path rules for a gateway that its VirtualService
    does not name (Q13)."""
    return context.provider == "istio" and not context.reads.differs("Q13")


def _inside(context: Context) -> tuple[Entry, ...]:
    local = context.ingress.localGateway
    return (Entry("gateway", local, reach="local"), MESH)


def public_entries(context: Context) -> tuple[Entry, ...]:
    """The public gateways: those of the service's annotation, else of the configuration.

    Another provider than Istio's, which KServe does not have for Knative mode, serves at the
    gateway or class that Standard mode has.
    """
    if context.provider == "ingress":
        return (Entry("class", context.ingress.ingressClassName or ""),)
    if context.provider == "gateway_api" and context.ingress.kserveIngressGateway:
        return (Entry("gateway", context.ingress.kserveIngressGateway),)
    chosen = context.service.annotations.get(GATEWAYS_ANNOTATION, "")
    names = [name.strip() for name in chosen.split(",") if name.strip()]
    allowed = [name for name in names if name in context.ingress.ingressGateways]
    return tuple(Entry("gateway", name) for name in allowed or context.ingress.gateways)


def _shared_hosts(context: Context) -> tuple[Host, ...]:
    names = context.ingress.pathTemplateHosts or (context.ingress.ingressDomain,)
    return tuple(
        Host(name, "wildcard" if "*" in name else "exact", "public", "shared") for name in names
    )


def _additional(context: Context, host: str) -> tuple[Host, ...]:
    if not context.ingress.additionalIngressDomains:
        return ()
    return hosts.additional_hosts(
        host,
        configuration.domains(context.reads),
        context.ingress.additionalIngressDomains,
        context.reads,
    )


def _host_rules(context: Context) -> tuple[Rule, ...]:
    rules = [_rule(context, "predict", context.service.entry, ANY)]
    if context.service.spec.explainer is not None:
        rules.insert(0, _rule(context, "explain", "explainer", patterns.explain(context.reads)))
    return tuple(rules)


def _path_rules(context: Context, path: str) -> tuple[Rule, ...]:
    below = (Match(PathMatch("prefix", path)),)
    rules = [
        _rule(context, "path-predict", context.service.entry, below, RewritePath("prefix", "/"))
    ]
    if context.service.spec.explainer is not None:
        pattern = patterns.path_explain(path, context.reads)
        rules.insert(
            0,
            _rule(
                context,
                "path-explain",
                "explainer",
                (Match(PathMatch("regex", pattern)),),
                RewritePath("regex", r"\1", pattern),
            ),
        )
    return tuple(rules)


def _rule(
    context: Context,
    name: str,
    component: str,
    matches: tuple[Match, ...],
    rewrite: RewritePath | None = None,
) -> Rule:
    service, reads = context.service, context.reads
    backend = hosts.internal_host(service, service.object_name(component), reads)
    target = External(context.ingress.knativeLocalGatewayService, context.ingress.localGateway)
    filters = (
        *((rewrite,) if rewrite else ()),
        RewriteHost(backend),
        patterns.service_headers(service.name, service.namespace),
    )
    return Rule(
        name=name,
        matches=matches,
        splits=(Split(target, 80, 100, role="gateway"),),
        filters=filters,
        retries=Retries(0) if reads.differs("F29") else None,
        reason=f"{component} of {service.namespace}/{service.name} by Knative's local gateway",
    )


def rendered_path(context: Context) -> str:
    """The service's path without a trailing slash; "" without pathTemplate.

    Raises naming.NameFault.
    """
    if not context.ingress.pathTemplate:
        return ""
    path = naming.render_path(
        context.ingress.pathTemplate,
        name=context.service.name,
        namespace=context.service.namespace,
    )
    return path.removesuffix("/") or "/"
