"""What follows from the written objects, over what exists as it is.

Whoever asks about routes asks of the world after this: the services of files are reconciled,
those that a cluster holds are believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from ingressctl.api.refs import Ref
from ingressctl.core.outcome import Fault, Finding
from ingressctl.core.ports import Provider
from ingressctl.core.settings import Settings
from ingressctl.core.table import Table
from ingressctl.core.world import World
from ingressctl.plan import applying, cascade, report, serving
from ingressctl.plan.overlay import Laid


@dataclass(frozen=True, slots=True)
class Derived:
    """The world after the written sources are reconciled, and why something does not follow.

    `carried` are tables of providers without objects in a world.
    """

    world: World
    refused: tuple[Finding, ...]
    underived: tuple[Finding, ...] = ()
    faults: tuple[tuple[Ref, Fault], ...] = ()
    carried: tuple[Table, ...] = ()

    @property
    def is_incomplete(self) -> bool:
        """Whether something that was written has no effect here that it would have."""
        return bool(self.refused or self.underived)


def derive(
    laid: Laid, settings: Settings, *, now: datetime, providers: Mapping[str, Provider]
) -> Derived:
    """What follows from `laid.written`."""
    laid, refused = applying.apply(laid, settings)
    only = frozenset(item.ref for item in laid.written)
    if not only:
        return Derived(laid.world, refused)
    done = cascade.run(laid.world, settings, now=now, providers=providers, only=only)
    return Derived(
        done.world,
        refused,
        tuple(finding for step in done.steps for finding in report.underived(step)),
        tuple((step.ref, fault) for step in done.steps for fault in step.faults),
        serving.carried(done, settings, providers),
    )
