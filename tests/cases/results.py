"""What a case ended in."""

from __future__ import annotations

from dataclasses import dataclass, field

from ingressctl.api.refs import Raw
from ingressctl.core.world import World
from ingressctl.plan import cascade


@dataclass
class Result:
    """The world after it, what went wrong, and the steps taken.

    `objects` is compared with `expected` where that is not the routing objects; `stored` is
    the InferenceService as admission stores it.
    """

    world: World
    faults: list[str] = field(default_factory=list)
    steps: tuple[cascade.Step, ...] = ()
    objects: list[Raw] | None = None
    stored: Raw | None = None
    warnings: list[str] = field(default_factory=list)
