"""InferenceGraph v1alpha1 as the reconcile and the router read it.

One typed view for both: of the raw object in the controller, of the JSON text in the
router. Fields of KServe keep KServe's meaning (spec/inferencegraph.md 1); those that only
we have are optional, marked "ours" and left out of what is written when they are not set.
The full model for admission is in `models/inferencegraphs.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from ingressctl.api import integers
from ingressctl.api.integers import Long, Short

GROUP = "serving.kserve.io"
KIND = (GROUP, "InferenceGraph")
ROOT = "root"

RouterType = Literal["Sequence", "Splitter", "Ensemble", "Switch"]
Dependency = Literal["", "Soft", "Hard"]


class Retries(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Ours. How often a step is tried again when it certainly did not run.

    `statuses` are answers for which the author says that a repeat does no harm.
    `backoff` is a duration of the Gateway API, the pause before the first repeat; it doubles.
    """

    attempts: Long = 1
    backoff: str = "25ms"
    statuses: list[Long] | None = None


class Fallback(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Ours. The target that is asked instead when a step has failed for good."""

    nodeName: str = ""
    serviceName: str = ""
    serviceUrl: str = ""
    graphName: str = ""


class Step(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One step of a node, in the order in which KServe writes the fields."""

    name: str = ""
    nodeName: str = ""
    serviceName: str = ""
    serviceUrl: str = ""
    data: str = ""
    mapPredictionsToInstances: bool = False
    weight: Long | None = None
    condition: str = ""
    dependency: Dependency = ""
    graphName: str = ""
    """Ours: another InferenceGraph of the namespace as the target (W17)."""
    path: str = ""
    """Ours: the path of the call, instead of the protocol's (IG-R8, W12)."""
    appProtocol: str = ""
    """Ours: kubernetes.io/h2c calls by HTTP/2 cleartext."""
    timeout: str = ""
    """Ours: a duration of the Gateway API for one call, retries not counted."""
    retries: Retries | None = None
    fallback: Fallback | None = None
    concurrency: Long | None = None
    """Ours: calls in flight at a time in one process; more wait in order."""
    requestHeaders: list[str] | None = None
    """Ours: further headers of the client that reach this step, as patterns."""
    responseHeaders: list[str] | None = None
    """Ours: further headers of this step's answer that reach the client, as patterns."""


class Node(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One node: how its steps are run."""

    routerType: RouterType
    steps: list[Step] | None = None


class RouterTimeouts(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Limits of the router's server and client, in seconds."""

    serverRead: Long | None = None
    serverWrite: Long | None = None
    serverIdle: Long | None = None
    serviceClient: Long | None = None


class Spec(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The graph, and the pods of its router."""

    nodes: dict[str, Node]
    resources: dict[str, Any] = {}
    affinity: dict[str, Any] | None = None
    timeout: Long | None = None
    routerTimeouts: RouterTimeouts | None = None
    minReplicas: Short | None = None
    maxReplicas: Short | None = None
    scaleTarget: Short | None = None
    scaleMetric: str | None = None
    tolerations: list[dict[str, Any]] | None = None
    nodeSelector: dict[str, str] | None = None
    nodeName: str = ""
    serviceAccountName: str = ""
    requestHeaders: list[str] | None = None
    """Ours: headers of the client that reach every step, as patterns (W15)."""
    responseHeaders: list[str] | None = None
    """Ours: headers of steps' answers that reach the client, as patterns (W15)."""
    maxRequestBytes: Long | None = None
    """Ours: the largest body of a request; larger ones are answered 413."""


def of_raw(spec: Mapping[str, Any]) -> Spec:
    """The graph of a raw object's spec. Raises msgspec.ValidationError with the path.

    `null` counts as absent and 100.0 as 100, as they do for the API server.
    """
    return msgspec.convert(_as_stored(spec), Spec)


def targets(spec: Spec) -> Iterator[Step | Fallback]:
    """Every step and every fallback, by the names of their nodes."""
    for _, node in sorted(spec.nodes.items()):
        for step in node.steps or ():
            yield step
            if step.fallback is not None:
                yield step.fallback


def loose(graph: Mapping[str, Any]) -> Spec | None:
    """The graph of an object that no schema has looked at: any word may be a router type.

    None where a type is wrong. KServe's webhook sees such objects behind its minimal CRD.
    """
    spec = graph.get("spec")
    nodes = spec.get("nodes") if isinstance(spec, Mapping) else None
    if not isinstance(spec, Mapping) or not isinstance(nodes, Mapping):
        return None
    try:
        read = of_raw({**spec, "nodes": {name: _known(node) for name, node in nodes.items()}})
    except msgspec.ValidationError:
        return None
    written = {name: _as_written(node, nodes[name]) for name, node in read.nodes.items()}
    return msgspec.structs.replace(read, nodes=written)


def _known(node: Any) -> Any:
    if not isinstance(node, Mapping):
        return node
    steps = node.get("steps")
    if isinstance(steps, list):
        steps = [_without(step, "dependency") for step in steps]
    return {**node, "steps": steps, "routerType": "Sequence"}


def _as_written(node: Node, raw: Mapping[str, Any]) -> Node:
    steps = [
        msgspec.structs.replace(step, dependency=written.get("dependency") or "")
        for step, written in zip(node.steps or (), raw.get("steps") or (), strict=True)
    ]
    return msgspec.structs.replace(
        node, routerType=raw.get("routerType") or "", steps=steps or None
    )


def _without(value: Any, field: str) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {name: inner for name, inner in value.items() if name != field}


def _as_stored(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _as_stored(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_as_stored(inner) for inner in value]
    return integers.whole(value)
