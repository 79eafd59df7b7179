"""Weights of a rule sum to 100, or a finding says why not.

Nothing is changed: Envoy and the gateways normalise by the sum, so the shares are not the
ones that were asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

from ingressctl.core.model import Route, Rule
from ingressctl.core.outcome import Finding
from ingressctl.core.world import Reads

WHOLE = 100


def apply(routes: tuple[Route, ...], reads: Reads) -> tuple[tuple[Route, ...], tuple[Finding, ...]]:
    """The same routes, with a finding for each rule whose weights do not sum to 100."""
    return routes, tuple(dict.fromkeys(_found(routes)))


def _found(routes: tuple[Route, ...]) -> Iterator[Finding]:
    for route in routes:
        for group in route.groups:
            for rule in group.rules:
                if len(rule.splits) == 1 and rule.splits[0].weight is None:
                    continue
                total = total_weight(rule)
                negative = any((split.weight or 0) < 0 for split in rule.splits)
                if total not in (None, WHOLE) or negative:
                    yield Finding.of("IC3211", route.owner.ref, rule=rule.name, total=total)


def total_weight(rule: Rule) -> int | None:
    """The sum of a rule's weights; None where none of its backends has one."""
    weights = [split.weight for split in rule.splits if split.weight is not None]
    return sum(weights) if weights else None
