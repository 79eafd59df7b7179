"""One component as it is to run: name, labels, annotations and pod, in either mode.

Labels and annotations are merged as spec/kserve-workloads.md 1 says: runtime, service,
component, later ones win; each source of annotations is filtered before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingressctl.api.inferenceservices import InferenceService
from ingressctl.api.refs import Raw, Ref
from ingressctl.core.kserve import metadata
from ingressctl.core.kserve.configuration import Config
from ingressctl.core.values import Value
from ingressctl.sources.kserve.components import added
from ingressctl.sources.kserve.components.pods import Pod

ISVC_LABEL = "serving.kserve.io/inferenceservice"
COMPONENT_LABEL = "component"
CLASS_ANNOTATION = "serving.kserve.io/autoscalerClass"


class Workload(Value, frozen=True):
    """A component or canary. `raw` is its spec; `labels` and `annotations` are merged."""

    service: InferenceService
    component: str
    name: str
    raw: Raw
    pod: Pod
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    replicas: int | None

    @property
    def has_agent(self) -> bool:
        """Whether a logger or batcher stands before the server, on the agent's port."""
        return self.raw.get("logger") is not None or self.raw.get("batcher") is not None

    def frame(
        self,
        api_version: str,
        kind: str,
        labels: Mapping[str, str],
        annotations: Mapping[str, str],
    ) -> dict[str, Any]:
        """apiVersion, kind and metadata of an object of this workload."""
        meta: dict[str, Any] = {
            "name": self.name,
            "namespace": self.service.namespace,
            "labels": dict(labels),
            "ownerReferences": [self.service.owner.reference()],
        }
        if annotations:
            meta["annotations"] = dict(annotations)
        return {"apiVersion": api_version, "kind": kind, "metadata": meta}

    def ref(self, group: str, kind: str) -> Ref:
        """The identity of an object of this workload."""
        return Ref(group, kind, self.service.namespace, self.name)


def make(
    service: InferenceService,
    component: str,
    raw: Raw,
    pod: Pod,
    *,
    name: str,
    added_labels: Mapping[str, str],
    config: Config,
    replicas: int | None,
) -> Workload:
    """The workload of a component. `added_labels` follow from the runtime's server type."""
    labels = {
        **pod.labels,
        **service.labels,
        **added_labels,
        **(raw.get("labels") or {}),
        ISVC_LABEL: service.name,
        COMPONENT_LABEL: component,
    }
    disallowed = config.disallowed_annotations
    annotations = {
        **metadata.filtered(pod.annotations, disallowed),
        **metadata.filtered(service.annotations, disallowed),
        **added.of_component(service.name, component, raw),
        **metadata.filtered(raw.get("annotations") or {}, disallowed),
    }
    return Workload(service, component, name, raw, pod, labels, annotations, replicas)
