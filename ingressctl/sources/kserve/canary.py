"""Canary weights of Standard mode (spec/kserve-ingress.md 14.3)."""

from __future__ import annotations

from ingressctl.api.inferenceservices import Canary
from ingressctl.core.model import Rule, Service, Split
from ingressctl.core.values import replace
from ingressctl.sources.kserve import ports
from ingressctl.sources.kserve.draft import Context


def ready_canaries(context: Context) -> tuple[Canary, ...]:
    """The canaries whose Deployment is available, in spec order."""
    statuses = context.draft.fields.get("canaryStatuses") or ()
    ready = {str(item.get("name")) for item in statuses if item.get("ready")}
    return tuple(canary for canary in context.service.canaries if canary.predictor.name in ready)


def weigh(rules: tuple[Rule, ...], context: Context) -> tuple[Rule, ...]:
    """The rules with the ready canaries' shares.

    KServe splits every rule of the predictor and the top-level route; with Q11 only those
    that lead to the predictor.
    """
    if not context.service.canaries:
        return rules
    only_predictor = context.reads.differs("Q11")
    return tuple(
        _weigh_rule(rule, context)
        if rule.splits and (rule.splits[0].role == "stable" or not only_predictor)
        else rule
        for rule in rules
    )


def _weigh_rule(rule: Rule, context: Context) -> Rule:
    stable = rule.splits[0]
    canaries = ready_canaries(context)
    rest = 100 - sum(canary.trafficPercent for canary in canaries)
    splits = [replace(stable, weight=rest)]
    splits += [_split(canary, stable, context) for canary in canaries]
    return replace(rule, splits=tuple(splits))


def _split(canary: Canary, stable: Split, context: Context) -> Split:
    service = context.service
    name = service.canary_name(canary)
    port = stable.port
    if context.reads.differs("Q38"):
        own = ports.of_service(service.namespace, name, context.reads)
        port = _matching_port(own, stable, context)
    return Split(Service(service.namespace, name), port, canary.trafficPercent, role="canary")


def _matching_port(own: ports.Ports, stable: Split, context: Context) -> int:
    """The canary's port of the protocol that the stable's port speaks."""
    if not isinstance(stable.target, Service):
        return stable.port
    theirs = ports.of_service(stable.target.namespace, stable.target.name, context.reads)
    if stable.port == theirs.grpc:
        return own.grpc or stable.port
    if stable.port == theirs.rest:
        return own.rest or stable.port
    return stable.port
