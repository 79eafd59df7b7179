"""What of an owner's objects may go now, and what traffic may still be sent to.

A route goes at once, for what it served is to be served no longer: what became private, or was
renamed, not a moment more. It stays only where another provider's routes take its place, until
gateways follow those. What traffic pointed to goes when gateways have let go of it. While a
list that was looked at is not whole nothing goes: what is missing in it would look unwanted.
"""

from __future__ import annotations

from collections.abc import Iterator

from ingressctl.api.refs import Kind, Raw, Ref, annotations_of, ref_of, uid_of
from ingressctl.core.settings import Settings
from ingressctl.core.values import Value
from ingressctl.core.world import World
from ingressctl.plan import settle, settling
from ingressctl.plan.cascade import Step
from ingressctl.plan.settling import Bearings

PAUSED = "ingressctl.dev/paused"
"""On an object somebody wrote, or on one that was made: nothing is written for it."""


class Delete(Value, frozen=True):
    """An object to delete, if it still is the one with that uid.

    `first`: before anything is written, and whatever becomes of that: what it serves is not
    to be served any more.
    """

    ref: Ref
    uid: str
    first: bool = False


def is_paused(obj: Raw | None) -> bool:
    """Whether somebody asked that nothing be written for an object."""
    return obj is not None and annotations_of(obj).get(PAUSED, "").lower() == "true"


class Leaving:
    """The objects that one reconcile wants deleted, as far as they are there."""

    def __init__(
        self, obj: Raw, step: Step, world: World, settings: Settings, kinds: tuple[Kind, ...]
    ) -> None:
        found = (world.get(ref) for ref in step.settlement.deleted)
        self._step = step
        self._objects = {ref_of(gone): gone for gone in found if gone is not None}
        self._routes = {
            ref: gone for ref, gone in self._objects.items() if settle.is_routing(gone, kinds)
        }
        self._domain = settings.cluster_domain
        kept = settings.compat.differs("F89")  # KServe lets them lead nowhere
        self._left = settling.left_alone(obj, step, world, kinds) if kept else ()

    @property
    def has_routes(self) -> bool:
        """Whether a route is among them: gateways have to follow its end as well."""
        return bool(self._routes)

    def sorted(
        self, idle: frozenset[Ref], bearings: Bearings, quiet_in: float
    ) -> tuple[tuple[Delete, ...], tuple[Ref, ...]]:
        """What goes now, and what later. `idle` objects are left alone."""
        if self.is_blind(bearings):
            return tuple(self._hidden(idle)), ()
        now: list[Delete] = []
        later: list[Ref] = []
        for ref, stored in self._objects.items():
            if ref in idle or is_paused(stored):
                continue
            if self._waits(ref, stored, bearings, quiet_in):
                later.append(ref)
            else:
                now.append(Delete(ref, uid_of(stored), first=ref in self._routes))
        return tuple(now), tuple(later)

    def is_blind(self, bearings: Bearings) -> bool:
        """Whether it cannot be said what goes, for a list is not whole."""
        return bool(bearings.incomplete and looked_at(self._step) & bearings.incomplete)

    def _hidden(self, idle: frozenset[Ref]) -> Iterator[Delete]:
        """What shows an owner outside that asked to be hidden: that is known without lists."""
        if not self._step.outcome.keep.hidden:
            return
        for ref, stored in self._routes.items():
            if ref not in idle and not is_paused(stored) and settle.shows(stored, self._domain):
                yield Delete(ref, uid_of(stored), first=True)

    def _waits(self, ref: Ref, stored: Raw, bearings: Bearings, quiet_in: float) -> bool:
        if ref in self._routes:
            return quiet_in > 0 and self._is_replaced(ref, stored)
        held = (ref.namespace, ref.name) in bearings.held
        return quiet_in > 0 or held or settling.lead_to(self._left, ref.name)

    def _is_replaced(self, ref: Ref, stored: Raw) -> bool:
        """Whether routes of other kinds are wanted for every public host of a stored route."""
        kinds = {ref_of(obj)[:2] for obj in self._step.emission.objects}
        if not kinds or ref[:2] in kinds:
            return False
        hosts = {host for host in settle.hosts(stored) if not host.endswith(f".svc.{self._domain}")}
        wanted = {
            host.name
            for route in self._step.outcome.routes
            for host in route.hosts()
            if host.reach == "public"
        }
        return bool(hosts) and hosts <= wanted


def looked_at(step: Step) -> set[Kind]:
    """The kinds that a reconcile asked for."""
    found: set[Kind] = set()
    for lookup in step.lookups:
        if lookup.what in ("get", "list", "exists", "holds"):
            found.add((lookup.key[0], lookup.key[1]))
        elif lookup.what == "config":
            found.add(("", "ConfigMap"))
    return found
