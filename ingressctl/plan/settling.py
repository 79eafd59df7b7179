"""How long gateways take to follow routes: by what they say, else by time.

The first Ready of an owner, the URL of a new host and the end of what its traffic went to wait
for them. What a gateway answers tells only that it knows a route, so it ends the first wait and
not the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from ingressctl.api.refs import Kind, Raw, Ref, owner_of, ref_of
from ingressctl.core import conditions, managed
from ingressctl.core.settings import Settings
from ingressctl.core.values import Value
from ingressctl.core.world import World
from ingressctl.plan import settle
from ingressctl.plan.cascade import Step
from ingressctl.plan.probing import Answer

SETTLED = "TrafficSettled"
"""The condition that tells what waits for the gateways."""


class Bearings(Value, frozen=True):
    """What the controller knows beside the world.

    `incomplete` kinds are those whose list is not whole: forbidden, under way, or of a CRD
    that went away. `settle` seconds is what a gateway may take to follow an object.
    `unacknowledged` owners have routes that a proxy of ours has not taken yet, `held` are
    namespaces and names of targets that it has not let go of. `probed` is what a gateway
    that was asked said of the owner's routes.
    """

    settle: float = 0.0
    incomplete: frozenset[Kind] = frozenset()
    unacknowledged: frozenset[Ref] = frozenset()
    held: frozenset[tuple[str, str]] = frozenset()
    probed: Answer | None = None


def quiet_in(
    obj: Raw, step: Step, world: World, bearings: Bearings, now: datetime, *, routed: bool
) -> float:
    """Seconds until gateways follow the owner's routes as they then are; 0 when they do.

    `routed`: some are written or deleted now. Of deleted ones only the status of their owner
    tells when they went: since then it says that something waits.
    """
    if step.ref in bearings.unacknowledged:
        return max(bearings.settle, 1.0)
    if routed or not bearings.settle:
        return bearings.settle
    times = [
        when
        for ref in map(ref_of, step.emission.objects)
        if (stored := world.get(ref)) is not None and (when := managed.written_at(stored))
    ]
    times += _waiting_since(obj)
    if not times:
        return 0.0
    # managedFields tell whole seconds only, so the last one may have begun late.
    due = max(times) + timedelta(seconds=bearings.settle + 1)
    return max(0.0, (due - now).total_seconds())


def _waiting_since(obj: Raw) -> list[datetime]:
    """When the owner's status began to say that something waits for gateways."""
    found = (obj.get("status") or {}).get("conditions") or ()
    return [
        datetime.fromisoformat(str(item["lastTransitionTime"]))
        for item in found
        if item.get("type") == SETTLED and item.get("status") == "False"
        if item.get("lastTransitionTime")
    ]


def waits(
    obj: Raw,
    step: Step,
    settings: Settings,
    bearings: Bearings,
    quiet: float,
    *,
    routed: bool,
) -> bool:
    """Whether the first Ready waits for gateways: by what they say, else by time (F89).

    An answer tells nothing of routes that are written only now.
    """
    kind = step.outcome.answers_for
    if not kind or not settings.compat.differs("F89"):
        return False
    if conditions.stored_status(step.status or {}, kind) != "True":
        return False
    if conditions.stored_status(obj.get("status") or {}, kind) == "True":
        return False
    said = bearings.probed.follows if bearings.probed and not routed else None
    if said is None or step.ref in bearings.unacknowledged:
        return quiet > 0
    return not said


OUTDATED = "StatusOutdated"
"""The reason of a gateway's word about an earlier generation of a route."""


def lags(obj: Raw, step: Step, quiet: float) -> bool:
    """Whether an owner that was Ready stays so while a gateway has not read its new routes.

    The former ones serve until then: Ready must not flap with every edit. When the settle
    time is over, the gateway is late and the status says so.
    """
    kind = step.outcome.answers_for
    if not kind or not quiet or conditions.stored_status(obj.get("status") or {}, kind) != "True":
        return False
    return conditions.stored_reason(step.status or {}, kind) == OUTDATED


def still_ready(status: Mapping[str, Any], step: Step) -> Mapping[str, Any]:
    """Ready as before; what else follows from the object is in the status already."""
    return conditions.changed(status, step.outcome.answers_for, "True")


def moves(obj: Raw, step: Step, settings: Settings, quiet: float) -> bool:
    """Whether a URL has a new host that gateways may not know yet (F89)."""
    if not quiet or not settings.compat.differs("F89"):
        return False
    status = step.status or {}
    return old_urls(status, obj, step) != status


def old_urls(status: Mapping[str, Any], obj: Raw, step: Step) -> Mapping[str, Any]:
    """The status with the URLs told so far where their hosts, which have changed, are still
    served."""
    stored = obj.get("status") or {}
    served = {host.name for route in step.outcome.routes for host in route.hosts()}
    parts = {
        name: _old_url(part, (stored.get("components") or {}).get(name) or {}, served)
        for name, part in (status.get("components") or {}).items()
    }
    status = _old_url(status, stored, served)
    return {**status, "components": parts} if parts else status


def _old_url(
    new: Mapping[str, Any], stored: Mapping[str, Any], served: Collection[str]
) -> Mapping[str, Any]:
    told, before = (urlsplit(str(part.get("url") or "")).hostname for part in (new, stored))
    if not told or told == before or before not in served:
        return new
    return {**new, "url": stored["url"]}


def left_alone(obj: Raw, step: Step, world: World, kinds: tuple[Kind, ...]) -> tuple[Raw, ...]:
    """Stored routes of the owner that stay as they are, for example while the component that
    they are to lead to is not ready (Q36)."""
    wanted = {ref_of(made) for made in step.emission.objects}
    gone = {*wanted, *step.settlement.deleted}
    owned = world.owned(owner_of(obj)) if step.settlement.deleted else ()
    return tuple(one for one in owned if settle.is_routing(one, kinds) and ref_of(one) not in gone)


def lead_to(routes: Iterable[Raw], name: str) -> bool:
    """Whether some route has a backend of that name."""
    return any(_mentions(route.get("spec"), name) for route in routes)


def _mentions(value: Any, name: str) -> bool:
    if isinstance(value, Mapping):
        return any(_mentions(part, name) for part in value.values())
    if isinstance(value, list | tuple):
        return any(_mentions(part, name) for part in value)
    return isinstance(value, str) and (value == name or value.startswith(f"{name}."))


def held_back(status: Mapping[str, Any], step: Step, bearings: Bearings) -> Mapping[str, Any]:
    """Not Ready yet, with the reason: who was asked and what came back, or how long it takes."""
    if step.ref in bearings.unacknowledged:
        text = "the proxies have not acknowledged the route yet"
    else:
        text = f"the gateway may take {bearings.settle:g} s to follow the route"
        if bearings.probed is not None:
            text = f"{text}; {bearings.probed.text}"
    kind = step.outcome.answers_for
    return conditions.changed(status, kind, "Unknown", reason="GatewaySettling", message=text)
