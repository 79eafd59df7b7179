"""The Ingress that KServe makes in Standard mode, wrong hosts included (Q9).

Used only while difference Q9 is off: with a transformer the transformer host leads to the
predictor, and with an explainer beside it the explainer gets the transformer's host.
"""

from __future__ import annotations

from ingressctl.core.model import Route
from ingressctl.core.values import replace
from ingressctl.sources.kserve import standard_routes
from ingressctl.sources.kserve.draft import Context


def ingress_routes(context: Context) -> tuple[Route, ...]:
    """The routes in the order of KServe's rules. Raises naming.NameFault."""
    spec = context.service.spec
    top = _without_explain(standard_routes.top_level_route(context))
    predictor = standard_routes.component_route(context, "predictor")
    if spec.transformer is None:
        if spec.explainer is None:
            return (top, predictor)
        return (top, standard_routes.component_route(context, "explainer"), predictor)
    transformer = standard_routes.component_route(context, "transformer")
    wrong = _under_hosts_of(transformer, predictor)
    if spec.explainer is None:
        return (top, wrong, predictor)
    explainer = _under_hosts_of(transformer, _explainer_rules(context, transformer))
    return (explainer, top, wrong, predictor)


def _under_hosts_of(hosts: Route, rules: Route) -> Route:
    return hosts.with_groups((replace(hosts.groups[0], rules=rules.groups[0].rules),))


def _explainer_rules(context: Context, route: Route) -> Route:
    rules = standard_routes.protocol_rules(context, "explainer")
    return route.with_groups((replace(route.groups[0], rules=rules),))


def _without_explain(route: Route) -> Route:
    group = route.groups[0]
    rules = tuple(rule for rule in group.rules if rule.name != "explain")
    return route.with_groups((replace(group, rules=rules), *route.groups[1:]))
