"""The controller's loop over a picture, without a server: reconcile, plan, and what it writes.

The same functions as in cluster/controller.py decide who is looked at, what is written and in
which order; only the sending is left out. Deployments are available and routes accepted as
soon as they are there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random
from typing import Any

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core.picture import Picture
from ingressctl.core.settings import Settings
from ingressctl.core.world import Lookup
from ingressctl.plan import cascade, registry, writes

START = datetime(2026, 1, 1, tzinfo=UTC)
MOST = 2000
"""Looks until everything must be at rest: a fault keeps two objects waking each other."""

DEPLOYMENT, ROUTE = ("apps", "Deployment"), ("gateway.networking.k8s.io", "HTTPRoute")
AVAILABLE = {
    "replicas": 1,
    "readyReplicas": 1,
    "availableReplicas": 1,
    "updatedReplicas": 1,
    "conditions": [{"type": "Available", "status": "True"}],
}


class Loop:
    """A cluster with a controller. `choose` decides who of those that wait is next."""

    def __init__(self, settings: Settings, objects: Iterable[Raw], choose: Random) -> None:
        self.picture = Picture(settings, cascade.CLAIMANTS)
        self._settings = settings
        self._choose = choose
        self._waiting: list[Ref] = []
        self._numbers = count(1)
        self._kinds = registry.routing_kinds(registry.providers())
        for obj in objects:
            self.put(obj)

    @property
    def busy(self) -> bool:
        """Whether somebody waits to be looked at."""
        return bool(self._waiting)

    def put(self, obj: Raw) -> None:
        """Somebody creates or changes an object."""
        ref = ref_of(obj)
        stored = self.picture.get(ref)
        known = (stored or {}).get("metadata") or {}
        meta = {
            **obj["metadata"],
            "uid": known.get("uid") or f"uid-{next(self._numbers)}",
            "creationTimestamp": obj["metadata"].get("creationTimestamp") or _time(0),
        }
        self._change(ref, _with_robots({**obj, "metadata": meta}))

    def delete(self, ref: Ref) -> None:
        """Somebody deletes an object; what it owns goes with it."""
        uid = self.picture.get(ref)["metadata"]["uid"]
        self._change(ref, None)
        owned = [
            ref_of(obj)
            for obj in self.picture
            if any(owner["uid"] == uid for owner in obj["metadata"].get("ownerReferences") or ())
        ]
        for other in owned:
            self._change(other, None)

    def rest(self) -> None:
        """Look at whoever waits, until nobody does."""
        for _ in range(MOST):
            if not self._waiting:
                return
            place = self._choose.randrange(len(self._waiting))
            self._look(self._waiting.pop(place))
        raise AssertionError(f"never at rest: {sorted(self._waiting)}")

    def _change(self, ref: Ref, obj: Raw | None) -> None:
        touched = self.picture.change([(ref, obj)])
        if ref[:2] in cascade.SOURCES:
            touched.add(ref)
        for asker in sorted(asker for asker in touched if isinstance(asker, Ref)):
            if asker not in self._waiting:
                self._waiting.append(asker)

    def _look(self, ref: Ref) -> None:
        obj = self.picture.get(ref)
        if obj is None:
            self.picture.forget(ref)
            return
        step = cascade.reconcile_one(
            obj,
            cascade.SOURCES[ref[:2]],
            self.picture,
            self._settings,
            now=START,
            providers=registry.providers(),
        )
        self.picture.learn(ref, (*step.lookups, Lookup("get", ref, True)))
        plan = writes.plan(
            obj,
            step,
            self.picture,
            self._settings,
            kinds=self._kinds,
            bearings=writes.Bearings(),
            now=START,
        )
        self._carry_out(ref, obj, plan)

    def _carry_out(self, ref: Ref, obj: Raw, plan: writes.Plan) -> None:
        for apply in (apply for stage in plan.stages for apply in stage):
            self.put(apply.whole or apply.body)
        if plan.status is not None:
            self._change(ref, {**obj, "status": plan.status})
        for delete in plan.deletes:
            self._change(delete.ref, None)


def _time(second: int) -> str:
    return (START + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%SZ")


def created(obj: Raw, second: int) -> Raw:
    """The object, made so many seconds after the start."""
    return {**obj, "metadata": {**obj["metadata"], "creationTimestamp": _time(second)}}


def _with_robots(obj: Raw) -> Raw:
    """As the other controllers leave it."""
    kind = ref_of(obj)[:2]
    if kind == DEPLOYMENT:
        return {**obj, "status": AVAILABLE}
    if kind == ROUTE:
        return {**obj, "status": accepted(obj)}
    return obj


def accepted(route: Raw) -> Mapping[str, Any]:
    """What a gateway says of a route that it took."""
    told = [{"type": kind, "status": "True"} for kind in ("Accepted", "ResolvedRefs")]
    parents = (route.get("spec") or {}).get("parentRefs") or ()
    name = "gateway.example/controller"
    return {
        "parents": [
            {"parentRef": parent, "controllerName": name, "conditions": told} for parent in parents
        ]
    }
