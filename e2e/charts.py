"""Sets of values that the chart is tried with, and what helm makes of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from e2e.bed import absence, helm
from e2e.bed.bed import Bed
from ingressctl.cli import plugins

NAMESPACE = "ingressctl"
TEAMS = ("team-a", "team-b")
STRICT = {
    "pod-security.kubernetes.io/enforce": "restricted",
    "pod-security.kubernetes.io/warn": "restricted",
}

PROVIDERS = plugins.providers()
SETS: Mapping[str, Mapping[str, Any]] = {
    "shipped": {},
    **{name: {"providers": [name]} for name in PROVIDERS},
    "forced": {"providers": ["istio", "gateway_api"], "provider": "gateway_api"},
    "workloads": {"write": ["routes", "workloads"], "beside": ""},
    "workloads without knative": {
        "write": ["routes", "workloads"],
        "beside": "",
        "knative": {"enabled": False},
    },
    "own configuration": {
        "write": ["routes", "workloads"],
        "beside": "",
        "configuration": {"create": True},
    },
    "dry run": {"dryRun": True},
    "alone": {"replicas": 1, "leaderElection": False},
    "namespaced": {"namespaces": list(TEAMS), "providers": ["istio", "ingress"]},
    "within namespaces only": {
        "namespaces": list(TEAMS),
        "providers": ["ingress"],
        "clusterScopedReads": False,
    },
    "everything": {
        "providers": sorted(PROVIDERS),
        "write": ["routes", "workloads"],
        "beside": "",
        "controllers": ["InferenceService"],
        "selector": "team=a,stage=live",
        "compat": "better,-Q4",
        "settleSeconds": 0,
        "probeGateways": ["kserve/public=10.0.0.1:80"],
        "imagePullSecrets": ["registry"],
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [{"operator": "Exists"}],
        "priorityClassName": "system-cluster-critical",
        "podLabels": {"team": "serving"},
        "podAnnotations": {"example.com/note": "x"},
        "serviceAccount": {"name": "router", "annotations": {"example.com/role": "x"}},
        "networkPolicy": {"metricsFrom": [{"namespaceSelector": {}}]},
        "gateway": {"enabled": True, "service": {"annotations": {"example.com/kind": "x"}}},
    },
}


def need_helm() -> None:
    """Skip without helm; in CI fail."""
    try:
        helm.lint({})
    except absence.Absent as absent:
        if absence.is_failure():
            pytest.fail(str(absent), pytrace=False)
        pytest.skip(str(absent))


def make_namespaces(bed: Bed) -> None:
    """The namespaces that a release needs, ours with the strictest rules for pods."""
    names = (NAMESPACE, "kserve", "knative-serving", *TEAMS, "elsewhere")
    bed.apply(
        yaml.safe_dump_all(
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": name, "labels": STRICT if name == NAMESPACE else {}},
            }
            for name in names
        )
    )


def rendered(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The objects of a release with these values."""
    return helm.template(values, namespace=NAMESPACE)


def one(objects: list[dict[str, Any]], kind: str, name: str) -> dict[str, Any]:
    """The one object of that kind and name."""
    (found,) = [obj for obj in objects if obj["kind"] == kind and obj["metadata"]["name"] == name]
    return found
