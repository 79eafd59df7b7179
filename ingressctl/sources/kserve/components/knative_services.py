"""The Knative Service of a component (spec/kserve-ingress.md 12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingressctl.api.inferenceservices import CLUSTER_LOCAL, KNATIVE_VISIBILITY, Component
from ingressctl.api.refs import Raw
from ingressctl.core.kserve import metadata
from ingressctl.core.kserve.configuration import Config
from ingressctl.sources.kserve.components.traffic import Target
from ingressctl.sources.kserve.components.workload import Workload

API_VERSION = "serving.knative.dev/v1"
MANAGED = (
    "serving.knative.dev/rollout-duration",
    "serving.knative.openshift.io/enablePassthrough",
)
"""Annotations that belong on the Service itself; on a template Knative ignores them."""

AUTOSCALING = "autoscaling.knative.dev/"
DEFAULT_CLASS = "kpa.autoscaling.knative.dev"


def make(
    workload: Workload, typed: Component, table: list[Target], *, config: Config, private: bool
) -> Raw:
    """The Knative Service with its template and traffic; `private` by the label that Knative
    reads, whichever the InferenceService asks by (Q46)."""
    hidden = {KNATIVE_VISIBILITY: CLUSTER_LOCAL} if private else {}
    managed = {key: text for key, text in workload.annotations.items() if key in MANAGED}
    template: dict[str, Any] = {
        "metadata": {
            "annotations": _template_annotations(workload, typed),
            "labels": metadata.filtered(workload.labels, config.disallowed_labels),
        },
        "spec": {**_limits(typed), **workload.pod.spec()},
    }
    return {
        **workload.frame(API_VERSION, "Service", {**workload.labels, **hidden}, managed),
        "spec": {"template": template, "traffic": table},
    }


def _limits(typed: Component) -> dict[str, int]:
    limits = {
        "timeoutSeconds": typed.timeout,
        "responseStartTimeoutSeconds": typed.timeout,
        "containerConcurrency": typed.containerConcurrency,
    }
    return {key: value for key, value in limits.items() if value is not None}


def _template_annotations(workload: Workload, typed: Component) -> dict[str, str]:
    own = {key: text for key, text in workload.annotations.items() if key not in MANAGED}
    own.setdefault(f"{AUTOSCALING}class", DEFAULT_CLASS)
    return {**own, **_scaling(typed)}


def _scaling(typed: Component) -> Mapping[str, str]:
    """Where a field is set it overwrites the annotation; min-scale always does."""
    scale: dict[str, object] = {
        "target": typed.scaleTarget,
        "metric": typed.scaleMetric,
        "min-scale": 1 if typed.minReplicas is None else typed.minReplicas,
        "max-scale": typed.maxReplicas or None,
    }
    return {f"{AUTOSCALING}{key}": str(value) for key, value in scale.items() if value is not None}
