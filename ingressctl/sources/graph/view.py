"""One InferenceGraph as the reconcile reads it: the typed spec, and the raw object beside it.

The spec is read loosely, as KServe stores it behind its minimal CRD: what the schema of the
full one refuses is a fault of validity, not of reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ingressctl.api import inferencegraphs
from ingressctl.api.inferencegraphs import Spec
from ingressctl.api.inferenceservices import STOP_ANNOTATION, ViewFault
from ingressctl.api.refs import Owner, Raw, annotations_of, labels_of, owner_of, ref_of
from ingressctl.core.world import World


class Graph:
    """The view. `owner` is the graph as the owner of what is made from it."""

    __slots__ = (
        "annotations",
        "generation",
        "labels",
        "leaving",
        "name",
        "namespace",
        "owner",
        "raw",
        "ref",
        "spec",
        "status",
    )

    def __init__(self, raw: Raw) -> None:
        self.raw = raw
        self.ref = ref_of(raw)
        self.owner: Owner = owner_of(raw)
        self.name, self.namespace = self.ref.name, self.ref.namespace
        self.labels: Mapping[str, str] = labels_of(raw)
        self.annotations: Mapping[str, str] = annotations_of(raw)
        self.status: Mapping[str, Any] = _readable(raw.get("status"))
        meta = raw.get("metadata") or {}
        self.generation = meta.get("generation")
        self.leaving = meta.get("deletionTimestamp") is not None
        self.spec: Spec = _spec(raw)

    @property
    def stopped(self) -> bool:
        """The stop annotation, compared without regard to case."""
        return self.annotations.get(STOP_ANNOTATION, "").lower() == "true"


def _spec(raw: Raw) -> Spec:
    spec = inferencegraphs.loose(raw)
    if spec is not None:
        return spec
    try:
        inferencegraphs.of_raw(raw.get("spec") or {})
    except msgspec.ValidationError as error:
        text, _, path = str(error).partition(" - at `$.")
        where = f"spec.{path.rstrip('`')}" if path else "spec"
        raise ViewFault(ref_of(raw), where, text) from None
    raise ViewFault(ref_of(raw), "spec", "the graph has no nodes")


def _readable(status: Any) -> Mapping[str, Any]:
    """The status without what is of another shape: it is made anew from what is observed."""
    if not isinstance(status, Mapping):
        return {}
    found = status.get("conditions")
    fits = isinstance(found, list) and all(isinstance(item, Mapping) for item in found)
    wrong = set() if found is None or fits else {"conditions"}
    wrong |= {key for key in ("url", "deploymentMode") if not isinstance(status.get(key, ""), str)}
    return {key: value for key, value in status.items() if key not in wrong}


def of(obj: Raw, world: World) -> Graph:
    """The view of an object of that world, made once. Raises ViewFault."""
    key = (Graph, id(obj))
    graph: Graph | None = world.memo.get(key)
    if graph is None:
        graph = world.memo[key] = Graph(obj)
    return graph
