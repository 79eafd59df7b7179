"""How long each hop waits for an answer, in words and seconds (F5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from ingressctl.api.durations import seconds
from ingressctl.api.refs import Ref
from ingressctl.core.model import Service, Split
from ingressctl.core.outcome import Finding
from ingressctl.core.table import TableRule
from ingressctl.core.world import Reads
from ingressctl.plan.explanation import Leaf, Limit

REVISION_SECONDS = 300
"""Knative's default for spec.template.spec.timeoutSeconds (config-defaults)."""

UNSET = {
    "istio": "none set: Istio does not end it",
    "ingress": "none in the object: the controller's own holds (ingress-nginx: 60s of silence)",
    "gateway_api": "none set: the gateway's own holds",
}


def of_rule(provider: str, entry: str, rule: TableRule) -> Limit:
    """What the gateway allows by its rule."""
    if not rule.timeout:
        return Limit(entry, UNSET.get(provider, "none set"))
    found = seconds(rule.timeout)
    return Limit(entry, rule.timeout if found else f"none ({rule.timeout})", found)


def of_revision(split: Split, service: Ref | None, reads: Reads) -> Limit | None:
    """What the queue-proxy of a Knative revision allows; None for other backends."""
    if split.role not in ("revision", "tag") or not isinstance(split.target, Service):
        return None
    name = Ref("serving.knative.dev", "Revision", split.target.namespace, split.target.name)
    revision = reads.get(name)
    template = {} if service is None else ((reads.get(service) or {}).get("spec") or {})
    spec = (revision or template.get("template") or {}).get("spec") or {}
    found = int(spec.get("timeoutSeconds") or REVISION_SECONDS)
    return Limit(f"revision {split.target.name}", f"{found}s", float(found))


def findings(leaf: Leaf) -> Iterator[Finding]:
    """Hops that end a request which a later hop would still wait for."""
    known = [limit for limit in leaf.limits if limit.seconds is not None]
    rule = next((attempt for attempt in leaf.attempts), None)
    for tight, patient in pairwise(known):
        assert tight.seconds is not None
        assert patient.seconds is not None
        if tight.seconds < patient.seconds and rule is not None:
            yield Finding.of(
                "IC3310",
                *_sources(leaf),
                tight=tight.where,
                limit=tight.text,
                patient=patient.where,
                longer=patient.text,
            )


def _sources(leaf: Leaf) -> Iterable[Ref]:
    return (a.answer.rule.source for a in leaf.attempts if hasattr(a.answer, "rule"))


def effective(leaf: Leaf) -> Limit | None:
    """The limit that ends the request first; None if no hop has one."""
    known = [limit for limit in leaf.limits if limit.seconds is not None]
    return min(known, key=lambda limit: limit.seconds or 0.0, default=None)
