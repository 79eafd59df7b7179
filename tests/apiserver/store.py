"""The objects, their versions, and the history that watches are fed from."""

from __future__ import annotations

import asyncio
import bisect
import copy
import itertools
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from tests.apiserver import table
from tests.apiserver.applying import Object, Owners
from tests.apiserver.statuses import Refused
from tests.apiserver.table import Kind, Place

Key = tuple[Place, str, str]
"""(place, namespace, name)"""

WITH_STATUS = frozenset(
    {
        ("apps", "deployments"),
        ("serving.kserve.io", "inferenceservices"),
        ("serving.knative.dev", "services"),
        ("gateway.networking.k8s.io", "httproutes"),
        ("gateway.networking.k8s.io", "gateways"),
        ("networking.k8s.io", "ingresses"),
        ("", "services"),
    }
)
"""Kinds whose status is written by its own path alone."""

Store = Callable[[Object], Object]
"""What a server makes of an object before it stores it: defaults, pruned fields."""


class Event(NamedTuple):
    """A change as watches tell it."""

    version: int
    type: str
    key: Key
    obj: Object


@dataclass
class _Held:
    obj: Object
    owners: Owners = field(default_factory=Owners)


class Objects:
    """All objects. `defaulting` is asked by place for what is stored instead of what is sent."""

    def __init__(self) -> None:
        self._held: dict[Key, _Held] = {}
        self._versions = itertools.count(1)
        self.version = next(self._versions)
        self.history: list[Event] = []
        self.oldest = 0
        """Watches and pages from before this version are answered by 410."""
        self.defaulting: dict[Place, Store] = {}
        self.changed = asyncio.Event()

    def find(self, key: Key) -> Object | None:
        """One object."""
        held = self._held.get(key)
        return held.obj if held else None

    def get(self, key: Key) -> Object:
        """One object. Raises Refused."""
        obj = self.find(key)
        if obj is None:
            raise Refused(404, f"{key[0][1]} {key[2]!r} not found")
        return obj

    def select(self, place: Place, namespace: str) -> list[Object]:
        """The objects of a place, in a namespace or in all."""
        return [
            held.obj
            for key, held in sorted(self._held.items(), key=lambda item: item[0])
            if key[0] == place and namespace in ("", key[1])
        ]

    def since(self, version: int) -> list[Event]:
        """What happened after a version."""
        return self.history[bisect.bisect_right(self.history, version, key=lambda it: it.version) :]

    def everything(self) -> list[Object]:
        """All objects."""
        return [held.obj for held in self._held.values()]

    def create(self, kind: Kind, obj: Object, manager: str) -> Object:
        """A new object. Raises Refused."""
        key = _key(kind, obj)
        if key in self._held:
            raise Refused(409, f"{kind.plural} {key[2]!r} already exists", reason="AlreadyExists")
        held = _Held({})
        owners_of = {"apiVersion": obj["apiVersion"], "kind": obj["kind"], **obj}
        held.owners.updated({}, owners_of, manager, subresource="", when=_now())
        return self._create(kind, key, held, obj)

    def apply(
        self, kind: Kind, key: Key, obj: Object, manager: str, *, force: bool
    ) -> tuple[Object, bool]:
        """Server-side apply; the object, and whether it is new. Raises Refused."""
        held = self._held.get(key)
        meta = obj.get("metadata") or {}
        if held is None:
            if meta.get("uid"):
                raise Refused(409, f"{kind.plural} {key[2]!r}: there is none with that uid")
            held = _Held({})
            made = held.owners.applied({}, obj, manager, force=force, when=_now())
            made = {**made, "apiVersion": obj["apiVersion"], "kind": kind.kind}
            made.setdefault("metadata", {}).update(namespace=key[1], name=key[2])
            return self._create(kind, key, held, made), True
        _check(held.obj, meta)
        owners = copy.deepcopy(held.owners)
        made = owners.applied(held.obj, obj, manager, force=force, when=_now())
        held.owners, before = owners, held.obj
        return self._replace(kind, key, held, before, made), False

    def update(self, kind: Kind, key: Key, obj: Object, manager: str, subresource: str) -> Object:
        """Replace an object, or its status alone. Raises Refused."""
        held = self._held.get(key)
        if held is None:
            raise Refused(404, f"{kind.plural} {key[2]!r} not found")
        _check(held.obj, obj.get("metadata") or {})
        made = _parted(kind, held.obj, obj, subresource)
        held.owners.updated(held.obj, made, manager, subresource=subresource, when=_now())
        return self._replace(kind, key, held, held.obj, made)

    def delete(self, key: Key, preconditions: dict[str, Any]) -> Object:
        """Take an object away, and by and by what it owns. Raises Refused."""
        obj = self.get(key)
        _check(obj, preconditions)
        del self._held[key]
        self._tell("DELETED", key, {**obj, "metadata": {**obj["metadata"], **self._next()}})
        self._collect(str(obj["metadata"]["uid"]))
        return obj

    def vanish(self, places: Iterable[Place]) -> None:
        """All objects of some places are gone, as with their CRD."""
        for key in [key for key in self._held if key[0] in places]:
            self.delete(key, {})

    def expire(self) -> None:
        """Compact: what was before is known no more."""
        self.oldest = self.version
        self.history = []

    def _create(self, kind: Kind, key: Key, held: _Held, obj: Object) -> Object:
        made = copy.deepcopy(obj)
        made = self.defaulting.get(kind.place, _same)(made)
        meta = made["metadata"]
        if kind.place in WITH_STATUS:
            made.pop("status", None)
        meta |= {"uid": str(uuid.uuid4()), "creationTimestamp": _now(), "generation": 1}
        meta |= {"managedFields": held.owners.told(), **self._next()}
        if not kind.namespaced:
            meta.pop("namespace", None)
        held.obj = made
        self._held[key] = held
        self._tell("ADDED", key, made)
        return made

    def _replace(self, kind: Kind, key: Key, held: _Held, before: Object, after: Object) -> Object:
        made = self.defaulting.get(kind.place, _same)(copy.deepcopy(after))
        old = before["metadata"]
        meta = {**made["metadata"], "name": old["name"], "uid": old["uid"]}
        meta["creationTimestamp"] = old["creationTimestamp"]
        meta["managedFields"] = held.owners.told()
        meta["resourceVersion"] = old["resourceVersion"]
        meta["generation"] = old["generation"]
        made["metadata"] = meta
        if made == before:
            return before
        if made.get("spec") != before.get("spec"):
            meta["generation"] = old["generation"] + 1
        meta |= self._next()
        held.obj = made
        self._tell("MODIFIED", key, made)
        return made

    def _collect(self, uid: str) -> None:
        for key, held in list(self._held.items()):
            owners = held.obj["metadata"].get("ownerReferences") or ()
            if any(owner.get("uid") == uid for owner in owners) and key in self._held:
                self.delete(key, {})

    def _next(self) -> dict[str, Any]:
        self.version = next(self._versions)
        return {"resourceVersion": str(self.version)}

    def _tell(self, kind: str, key: Key, obj: Object) -> None:
        self.history.append(Event(self.version, kind, key, obj))
        self.changed.set()
        self.changed = asyncio.Event()


def _same(obj: Object) -> Object:
    return obj


def _key(kind: Kind, obj: Object) -> Key:
    meta = obj["metadata"]
    return kind.place, str(meta.get("namespace") or "") if kind.namespaced else "", meta["name"]


def key_of(obj: Object) -> Key:
    """Where an object lies."""
    return _key(table.of(obj), obj)


def _check(stored: Object, wanted: dict[str, Any]) -> None:
    """Preconditions."""
    for field_, reason in (("uid", "Conflict"), ("resourceVersion", "Conflict")):
        if wanted.get(field_) and wanted[field_] != stored["metadata"][field_]:
            text = f"{stored['metadata']['name']!r}: the {field_} is another one"
            raise Refused(409, text, reason=reason)


def _parted(kind: Kind, stored: Object, new: Object, subresource: str) -> Object:
    """The status goes by its own path, and nothing else does."""
    if subresource:
        return {**stored, "status": new.get("status") or {}}
    if kind.place not in WITH_STATUS:
        return new
    rest = {key: value for key, value in new.items() if key != "status"}
    return {**rest, "status": stored["status"]} if "status" in stored else rest


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
