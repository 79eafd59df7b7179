"""Identity of Kubernetes objects, and the few questions asked of every raw object.

Objects stay raw mappings from the file or the API server to the diff: unknown fields
survive, nothing is copied. The version is not part of an identity, because one object
is served under several.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

Raw = Mapping[str, Any]
"""A Kubernetes object as JSON would spell it. Never changed in place."""

Kind = tuple[str, str]
"""(group, kind)"""

INGRESS_CLASS_ANNOTATION = "kubernetes.io/ingress.class"
"""The annotation that named the class of an Ingress before there was a field for it."""


class Ref(NamedTuple):
    """Names one object. Cluster-scoped objects have the namespace ``""``."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """``Kind namespace/name``, the form findings and checks use."""
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{display_kind(self.group, self.kind)} {place}"


_DISPLAY = {
    ("serving.knative.dev", "Service"): "KService",
    ("networking.internal.knative.dev", "Ingress"): "KIngress",
}


def display_kind(group: str, kind: str) -> str:
    """The kind as people read it: Knative's Service and Ingress are told apart."""
    return _DISPLAY.get((group, kind), kind)


@lru_cache(maxsize=1024)
def group_of(api_version: str) -> str:
    """``networking.istio.io/v1`` -> ``networking.istio.io``; the core group is ``""``."""
    group, slash, _ = api_version.partition("/")
    return group if slash else ""


def ref_of(obj: Raw) -> Ref:
    """The identity of a raw object. Missing parts become empty text."""
    try:  # asked for dozens of times an object, and nearly all have all four parts
        meta = obj["metadata"]
        parts = (group_of(obj["apiVersion"]), obj["kind"], meta["namespace"], meta["name"])
    except (KeyError, TypeError, AttributeError):
        parts = _parts(obj)
    return _new_ref(Ref, _parts(obj) if None in parts else parts)


_new_ref = tuple.__new__
"""The generated constructor costs as much as the rest."""


def _parts(obj: Raw) -> tuple[str, str, str, str]:
    """The parts of an identity, some of which may be missing or null."""
    meta = obj.get("metadata") or {}
    group, kind = group_of(obj.get("apiVersion") or ""), obj.get("kind") or ""
    return group, kind, meta.get("namespace") or "", meta.get("name") or ""


def labels_of(obj: Raw) -> Mapping[str, str]:
    """The labels of a raw object, empty if it has none."""
    return (obj.get("metadata") or {}).get("labels") or {}


def annotations_of(obj: Raw) -> Mapping[str, str]:
    """The annotations of a raw object, empty if it has none."""
    return (obj.get("metadata") or {}).get("annotations") or {}


def uid_of(obj: Raw) -> str:
    """The uid of a raw object, "" for one that exists only in files."""
    return str((obj.get("metadata") or {}).get("uid") or "")


def controller_of(obj: Raw) -> Raw | None:
    """The owner reference with ``controller: true``, or None."""
    owners: Iterable[Raw] = (obj.get("metadata") or {}).get("ownerReferences") or ()
    for owner in owners:
        if owner.get("controller"):
            return owner
    return None


def is_alias(obj: Raw) -> bool:
    """Whether a Service is only another name (ExternalName): it routes and has no pods."""
    return (obj.get("spec") or {}).get("type") == "ExternalName"


class Owner(NamedTuple):
    """Who an object belongs to. ``uid`` is ``""`` for objects that exist only in files."""

    ref: Ref
    uid: str
    api_version: str
    created: str = ""

    def controls(self, obj: Raw) -> bool:
        """Whether `obj` names this owner as its controller.

        A uid on both sides decides; without one (files) kind and name do.
        """
        owner = controller_of(obj)
        if owner is None:
            return False
        if self.uid and owner.get("uid"):
            return bool(self.uid == owner["uid"])
        return bool(
            owner.get("name") == self.ref.name
            and owner.get("kind") == self.ref.kind
            and group_of(owner.get("apiVersion") or "") == self.ref.group
        )

    def reference(self) -> dict[str, Any]:
        """The owner reference to put on a child."""
        return {
            "apiVersion": self.api_version,
            "kind": self.ref.kind,
            "name": self.ref.name,
            "uid": self.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }


def owner_of(obj: Raw) -> Owner:
    """`obj` as the owner of what is made from it."""
    meta = obj.get("metadata") or {}
    return Owner(
        ref_of(obj),
        meta.get("uid") or "",
        obj.get("apiVersion") or "",
        str(meta.get("creationTimestamp") or ""),
    )
