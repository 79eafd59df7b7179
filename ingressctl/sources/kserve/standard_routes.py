"""Routes of a service in Standard mode (spec/kserve-ingress.md 9 and 10).

A route a component under its own host, and the top-level route under the service host.
Providers differ in what they make of them: HTTPRoute one object a route, Ingress one
object in all.
"""

from __future__ import annotations

from ingressctl.api import durations
from ingressctl.api.inferenceservices import Component
from ingressctl.api.refs import Ref
from ingressctl.core import naming
from ingressctl.core.kserve import gateways, hosts, metadata
from ingressctl.core.model import (
    ANY,
    Group,
    Host,
    Match,
    PathMatch,
    Retries,
    RewritePath,
    Role,
    Route,
    Rule,
    Service,
    Split,
)
from ingressctl.core.values import replace
from ingressctl.sources.kserve import canary, component_hosts, patterns, ports
from ingressctl.sources.kserve.draft import Context

ROLES: dict[str, Role] = {
    "predictor": "stable",
    "transformer": "transformer",
    "explainer": "explainer",
}
DEFAULT_TIMEOUT = 60


def component_route(context: Context, component: str) -> Route:
    """The route under the component's own host. Raises naming.NameFault."""
    name = component_hosts.component_name(
        context.service, component, context.provider, context.reads
    )
    host = hosts.standard_host(context.service, name, context.ingress, context.reads)
    rules = protocol_rules(context, component)
    if component == "predictor":
        rules = canary.weigh(rules, context)
    stored = (context.service.status.get("components") or {}).get(component) or {}
    names = (Host(host), *hosts.former(stored.get("url"), (host,), context.reads))
    group = Group(names, gateways.entries(context.ingress, context.provider), rules)
    return _route(context, f"{context.service.name}-{component}", (group,))


def top_level_route(context: Context) -> Route:
    """The route under the service host. Raises naming.NameFault."""
    service, ingress, reads = context.service, context.ingress, context.reads
    host = hosts.standard_host(service, service.name, ingress, reads)
    names = (Host(host), *_additional(context, host))
    taken = [name.name for name in names]
    names = (*names, *hosts.former(service.status.get("url"), taken, reads))
    rules = canary.weigh((*_explain_rules(context), *_entry_rules(context)), context)
    groups = [Group(names, gateways.entries(context.ingress, context.provider), rules)]
    path = rendered_path(context)
    if path and (reads.differs("Q10") or not expressions(context)):
        shared = ingress.pathTemplateHosts or (ingress.ingressDomain,)
        below = canary.weigh(_path_rules(context, path), context)
        groups.append(
            Group(
                tuple(map(_shared, shared)),
                gateways.entries(context.ingress, context.provider),
                below,
                "path",
            )
        )
    elif path:
        groups = [_with_shared_path(context, groups[0], path)]
    return _route(context, service.name, tuple(groups))


def _with_shared_path(context: Context, group: Group, path: str) -> Group:
    """KServe's way: the shared host beside the service host, all rules under both (Q10)."""
    rules = canary.weigh(_regex_path_rules(context, path), context)
    shared = _shared(context.ingress.ingressDomain)
    return replace(group, hosts=(*group.hosts, shared), rules=(*group.rules, *rules))


def _shared(name: str) -> Host:
    return Host(name, "wildcard" if "*" in name else "exact", "public", "shared")


def protocol_rules(context: Context, component: str) -> tuple[Rule, ...]:
    """A rule, or one for gRPC before one for REST when the Service has both ports."""
    service = context.service
    found = ports.of_service(service.namespace, service.object_name(component), context.reads)
    if found.dual:
        return (
            _rule(context, f"{component}-grpc", component, _grpc_matches(context), found.grpc),
            _rule(context, component, component, ANY, found.rest),
        )
    port = found.single(existing=context.reads.differs("F25"))
    return (_rule(context, component, component, ANY, port),)


def _entry_rules(context: Context) -> tuple[Rule, ...]:
    return protocol_rules(context, context.service.entry)


def _explain_rules(context: Context) -> tuple[Rule, ...]:
    if context.service.spec.explainer is None:
        return ()
    matches = patterns.explain(context.reads)
    if not expressions(context):
        paths = patterns.explain_paths(context.service.name, context.reads)
        matches = tuple(Match(PathMatch("exact", path)) for path in paths)
    return (_rule(context, "explain", "explainer", matches, _port(context, "explainer")),)


def _grpc_matches(context: Context) -> tuple[Match, ...]:
    if _refuses_expressions(context):
        return patterns.grpc_exact()
    return patterns.grpc(context.reads)


def expressions(context: Context) -> bool:
    """Whether paths may be matched by expression: by provider, and by setting (F11)."""
    provider = context.reads.providers[context.provider]
    return "regex-path" in provider.capabilities and not _refuses_expressions(context)


def _refuses_expressions(context: Context) -> bool:
    prefix = context.ingress.httpRoutePathMatchType == "PathPrefix"
    return prefix and context.provider == "gateway_api"


def _path_rules(context: Context, path: str) -> tuple[Rule, ...]:
    """Below the rendered path, which is cut off; nothing else of the shared host (Q10)."""
    service = context.service
    below = (Match(PathMatch("prefix", path)),)
    entry = service.entry
    predict = _rule(context, "path", entry, below, _port(context, entry))
    rules = [replace(predict, filters=(RewritePath("prefix", "/"), *predict.filters))]
    if service.spec.explainer is not None:
        paths = patterns.explain_paths(service.name, context.reads)
        rules[:0] = [
            _path_explain_rule(context, f"path-explain{number or ''}", path, explained)
            for number, explained in enumerate(paths)
        ]
    return tuple(rules)


def _path_explain_rule(context: Context, name: str, path: str, explained: str) -> Rule:
    exact = (Match(PathMatch("exact", f"{path.removesuffix('/')}{explained}")),)
    rule = _rule(context, name, "explainer", exact, _port(context, "explainer"))
    return replace(rule, filters=(RewritePath("full", explained), *rule.filters))


def _regex_path_rules(context: Context, path: str) -> tuple[Rule, ...]:
    entry = context.service.entry
    below = (Match(PathMatch("regex", path.removesuffix("/") + "/")),)
    rules = [_rule(context, "path", entry, below, ports.COMMON_PORT)]
    if context.service.spec.explainer is not None:
        pattern = patterns.path_explain(path, context.reads)
        matches = (Match(PathMatch("regex", pattern)),)
        rules.insert(0, _rule(context, "path-explain", "explainer", matches, ports.COMMON_PORT))
    return tuple(rules)


def _port(context: Context, component: str) -> int:
    service = context.service
    found = ports.of_service(service.namespace, service.object_name(component), context.reads)
    return found.single(existing=context.reads.differs("F25"))


def _rule(
    context: Context, name: str, component: str, matches: tuple[Match, ...], port: int
) -> Rule:
    service = context.service
    target = Service(service.namespace, service.object_name(component))
    return Rule(
        name=name,
        matches=matches,
        splits=(Split(target, port, role=ROLES[component]),),
        filters=(patterns.service_headers(service.name, service.namespace),),
        timeout=_timeout(context, component),
        retries=Retries(0) if context.reads.differs("F29") else None,
        reason=f"{component} of {service.namespace}/{service.name}",
    )


def _timeout(context: Context, component: str) -> str:
    """The component's timeout in seconds, 60 by default; "" where switched off.

    The default is one of HTTPRoutes: a provider that has no limits is not asked for it. A
    negative one, which admission refuses (F5), is none where it is stored already.
    """
    if context.ingress.disableHTTPRouteTimeout:
        return ""
    parts: dict[str, Component] = dict(context.service.components)
    seconds = parts[component].timeout
    if seconds is None and "timeout" not in context.reads.providers[context.provider].capabilities:
        return ""
    if seconds is None:
        return f"{DEFAULT_TIMEOUT}s"
    return durations.of_seconds(max(seconds, 0)) if context.reads.differs("F5") else f"{seconds}s"


def _additional(context: Context, host: str) -> tuple[Host, ...]:
    if context.provider == "ingress":
        return ()
    return hosts.additional_hosts(
        host,
        (context.ingress.ingressDomain,),
        context.ingress.additionalIngressDomains,
        context.reads,
    )


def rendered_path(context: Context) -> str:
    """The service's path without a trailing slash; "" without pathTemplate.

    An Ingress cannot cut the path off, so it has no path rules. Raises naming.NameFault.
    """
    provider = context.reads.providers[context.provider]
    if not context.ingress.pathTemplate or "path-rewrite" not in provider.capabilities:
        return ""
    try:
        path = naming.render_path(
            context.ingress.pathTemplate,
            name=context.service.name,
            namespace=context.service.namespace,
        )
    except naming.PathFault as fault:
        raise naming.PathFault(f"failed to generate URL from pathTemplate: {fault}") from None
    return path.removesuffix("/") or "/"


def _route(context: Context, name: str, groups: tuple[Group, ...]) -> Route:
    labels, annotations = metadata.route_metadata(
        context.service, context.config, context.labels, context.provider, context.reads
    )
    ref = context.service.ref
    return Route(
        ref=Ref(ref.group, ref.kind, ref.namespace, name),
        owner=context.service.owner,
        groups=groups,
        labels=labels,
        annotations=annotations,
        regex_paths=expressions(context),
    )
