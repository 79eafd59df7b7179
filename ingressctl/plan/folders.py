"""A folder of manifests in place of a cluster: the routes that its services would have.

A person's folder often holds only what was written, no routes. To compare with it, the routes
that its services would have are added, as a cluster in that state would have made them. Routes
that the folder does hold stay as they are; without an owner they belong to the service that
wants them. What a cluster held (it has a uid or a status) is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from ingressctl.api.refs import Raw, Ref, owner_of, ref_of
from ingressctl.core.ports import Provider
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import admitting, cascade, overlay, registry
from ingressctl.plan.settle import is_routing

FOREIGN = "IC5101"


def complete(
    base: World,
    settings: Settings,
    *,
    now: datetime,
    providers: Mapping[str, Provider],
    written: Iterable[Raw] = (),
    whole: bool = False,
) -> World:
    """The folder with the routes that its services would have.

    `written` are the objects that will be laid over it: only services among them are
    derived, unless the `whole` folder is asked about or something else is written that any
    service may read. What the folder lacks of other objects (a ConfigMap) is taken from them.
    """
    over = {ref_of(obj): obj for obj in written}
    owners = _services(base, over, whole=whole)
    if not owners:
        return base
    others = [obj for ref, obj in over.items() if not _is_source(ref) and base.get(ref) is None]
    stored = [
        admitting.judge(obj, old=None, world=base, settings=settings).stored
        for obj in (base.get(ref) for ref in owners)
        if obj is not None
    ]
    world = base.overlay((*stored, *others))
    settings = replace(settings, fresh=owners)
    done = cascade.run(world, settings, now=now, providers=providers, only=owners)
    adopted = tuple(_adopted(done, base))
    kinds = registry.routing_kinds(providers)
    made = (obj for obj in done.world if base.get(ref_of(obj)) is None and is_routing(obj, kinds))
    return base.overlay((*adopted, *(obj for obj in made if ref_of(obj) not in over)))


def _services(base: World, written: Mapping[Ref, Raw], *, whole: bool) -> frozenset[Ref]:
    """Services of the folder that are to be derived: no cluster has seen them."""
    everyone = whole or any(not _is_source(ref) for ref in written)
    return frozenset(
        ref_of(obj)
        for kind in cascade.SOURCES
        for obj in base.list(kind)
        if not overlay.is_held(obj) and (everyone or ref_of(obj) in written)
    )


def _is_source(ref: Ref) -> bool:
    return (ref.group, ref.kind) in cascade.SOURCES


def _adopted(done: cascade.Cascade, base: World) -> Iterable[Raw]:
    """Routes of the folder without an owner, given to the service that wants them."""
    for step in done.steps:
        for finding in step.findings:
            obj = base.get(finding.refs[0]) if finding.code == FOREIGN else None
            if obj is None or overlay.is_held(obj) or _has_owner(obj):
                continue
            owner = owner_of(done.world.get(step.ref) or {})
            yield {**obj, "metadata": {**obj["metadata"], "ownerReferences": [owner.reference()]}}


def _has_owner(obj: Raw) -> bool:
    return bool((obj.get("metadata") or {}).get("ownerReferences"))
