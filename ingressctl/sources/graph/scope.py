"""What holds for one graph during one reconcile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingressctl.api.configmaps import IngressConfig, RouterConfig
from ingressctl.api.inferencegraphs import Spec
from ingressctl.api.refs import Ref
from ingressctl.core.kserve import configuration, metadata
from ingressctl.core.kserve.configuration import Config
from ingressctl.core.values import Value
from ingressctl.core.world import Kind, Reads
from ingressctl.sources.graph.view import Graph

KNATIVE_SERVICE: Kind = ("serving.knative.dev", "Service")
DEPLOYMENT: Kind = ("apps", "Deployment")
SERVICE: Kind = ("", "Service")
HPA: Kind = ("autoscaling", "HorizontalPodAutoscaler")
SCALED_OBJECT: Kind = ("keda.sh", "ScaledObject")
CONFIG_MAP: Kind = ("", "ConfigMap")

GRAPH_LABEL = "serving.kserve.io/inferencegraph"
KIND_LABEL = "serving.kserve.io/kind"
CLASS_ANNOTATION = "serving.kserve.io/autoscalerClass"


class Scope(Value, frozen=True):
    """Graph, configuration, mode, and the recorder. `spec` is the graph with URLs filled in."""

    graph: Graph
    config: Config
    router: RouterConfig
    mode: str
    reads: Reads
    spec: Spec

    @property
    def is_standard(self) -> bool:
        """A Deployment rather than a Knative Service."""
        return self.mode == "Standard"

    @property
    def writes_workloads(self) -> bool:
        """Whether the router's objects are ours to write."""
        return "workloads" in self.reads.settings.write

    @property
    def mounts_graph(self) -> bool:
        """Whether the graph is mounted, rather than an argument of the router."""
        return self.router.graphSource == "ConfigMap"

    def ingress(self) -> IngressConfig:
        """Key `ingress`. Raises configmaps.ConfigFault."""
        return configuration.ingress(self.reads)

    def ref(self, kind: Kind, name: str = "") -> Ref:
        """The identity of an object of the graph; most are called like it."""
        return Ref(*kind, self.graph.namespace, name or self.graph.name)

    def annotations(self) -> dict[str, str]:
        """The graph's annotations that its objects carry; with IG-R11 as of a service."""
        own = self.graph.annotations
        never = configuration.filtered_always(self.reads) if self.reads.differs("IG-R11") else ()
        return metadata.filtered(own, frozenset(never))

    def frame(
        self,
        api_version: str,
        kind: str,
        labels: Mapping[str, str],
        annotations: Mapping[str, str],
        name: str = "",
    ) -> dict[str, Any]:
        """apiVersion, kind and metadata of an object of the graph."""
        meta: dict[str, Any] = {
            "name": name or self.graph.name,
            "namespace": self.graph.namespace,
            "ownerReferences": [self.graph.owner.reference()],
        }
        if labels:
            meta["labels"] = dict(labels)
        if annotations:
            meta["annotations"] = dict(annotations)
        return {"apiVersion": api_version, "kind": kind, "metadata": meta}
