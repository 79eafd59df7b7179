"""InferenceGraph v1alpha1: every field, as admission and crds/ take it.

The msgspec view of `api/inferencegraphs.py` reads the same fields in the reconcile and the
router; a test holds both to one list. The schema of KServe's fields is that of its full CRD
(spec/inferencegraph.md 1); all others are optional.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from ingressctl.api import quantities
from ingressctl.api.models.pods import Int32, Int64, Object, Open, Strict, Texts

ScaleMetric = Literal["cpu", "memory", "concurrency", "rps"]


def _quantity(value: object) -> object:
    if quantities.quantity(value) is None:
        raise ValueError("must be a quantity such as 500m or 2Gi")
    return value


Quantity = Annotated[
    Any,
    AfterValidator(_quantity),
    WithJsonSchema({"x-kubernetes-int-or-string": True, "pattern": quantities.PATTERN}),
]


class Retries(Strict):
    """How often a step is tried again when it certainly did not run. Not a field of KServe's."""

    attempts: Int64 | None = None
    backoff: str | None = None
    statuses: list[Int64] | None = None


class Fallback(Strict):
    """The target that is asked when a step has failed for good. Not a field of KServe's."""

    nodeName: str | None = None
    serviceName: str | None = None
    serviceUrl: str | None = None
    graphName: str | None = None


class Step(Strict):
    """One step of a node. Exactly one target must be in it."""

    name: str | None = None
    nodeName: str | None = None
    serviceName: str | None = None
    serviceUrl: str | None = None
    data: str | None = None
    mapPredictionsToInstances: bool | None = None
    weight: Int64 | None = None
    condition: str | None = None
    dependency: Literal["Soft", "Hard"] | None = None
    graphName: str | None = None
    path: str | None = None
    appProtocol: str | None = None
    timeout: str | None = None
    retries: Retries | None = None
    fallback: Fallback | None = None
    concurrency: Int64 | None = None
    requestHeaders: list[str] | None = None
    responseHeaders: list[str] | None = None


class Node(Strict):
    """One node: how its steps are run."""

    routerType: Literal["Sequence", "Splitter", "Ensemble", "Switch"]
    steps: list[Step] | None = None


class RouterTimeouts(Strict):
    """Limits of the router's server and client, in seconds."""

    serverRead: Int64 | None = None
    serverWrite: Int64 | None = None
    serverIdle: Int64 | None = None
    serviceClient: Int64 | None = None


class Resources(Open):
    """Requests and limits of the router."""

    requests: dict[str, Quantity] | None = None
    limits: dict[str, Quantity] | None = None


class Spec(Strict):
    """The graph, and the pods of its router."""

    nodes: dict[str, Node]
    resources: Resources | None = None
    affinity: Object | None = None
    timeout: Int64 | None = None
    routerTimeouts: RouterTimeouts | None = None
    minReplicas: Int32 | None = None
    maxReplicas: Int32 | None = None
    scaleTarget: Int32 | None = None
    scaleMetric: ScaleMetric | None = None
    tolerations: list[Object] | None = None
    nodeSelector: Texts | None = None
    nodeName: str | None = None
    serviceAccountName: str | None = None
    requestHeaders: list[str] | None = None
    responseHeaders: list[str] | None = None
    maxRequestBytes: Int64 | None = None


class Metadata(Open):
    """The metadata that rules read."""

    name: str = ""
    namespace: str | None = None
    labels: Texts | None = None
    annotations: Texts | None = None
    deletionTimestamp: Any = Field(default=None)


class Status(Open):
    """Of the status admission reads the mode alone."""

    deploymentMode: str | None = None


class InferenceGraph(Strict):
    """A whole InferenceGraph."""

    metadata: Metadata
    spec: Spec
    status: Status | None = None
