"""Objects of a chain as a cluster holds them: uids, owners, statuses."""

from __future__ import annotations

from typing import Any

CREATED = "2026-05-01T12:00:00Z"


def held(
    api_version: str, kind: str, name: str, *, owner: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """An object of namespace a, maybe owned; `more` are its other fields."""
    uid = f"{kind}-{name}"
    metadata = {"name": name, "namespace": "a", "uid": uid, "creationTimestamp": CREATED}
    if owner is not None:
        metadata["ownerReferences"] = [  # type: ignore[assignment]
            {
                "apiVersion": owner["apiVersion"],
                "kind": owner["kind"],
                "name": owner["metadata"]["name"],
                "uid": owner["metadata"]["uid"],
                "controller": True,
            }
        ]
    metadata |= more.pop("metadata", {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more}


def ready(status: str, reason: str = "", message: str = "", kind: str = "Ready") -> dict[str, Any]:
    """A status with one condition."""
    condition = {"type": kind, "status": status, "reason": reason, "message": message}
    return {"conditions": [condition]}


def service(**status: Any) -> dict[str, Any]:
    """An InferenceService of Standard mode with one canary."""
    return held(
        "serving.kserve.io/v1beta1",
        "InferenceService",
        "m",
        metadata={"annotations": {"serving.kserve.io/deploymentMode": "Standard"}},
        spec={
            "predictor": {"model": {"modelFormat": {"name": "sklearn"}, "storageUri": "s3://m"}},
            "canary": [
                {
                    "trafficPercent": 10,
                    "predictor": {
                        "name": "two",
                        "model": {"modelFormat": {"name": "sklearn"}, "storageUri": "s3://2"},
                    },
                }
            ],
        },
        status=status or ready("False", "MinimumReplicasUnavailable"),
    )


def waiting_pod(owner: dict[str, Any], reason: str = "ImagePullBackOff") -> dict[str, Any]:
    """A pod whose first container waits."""
    waiting = {"reason": reason, "message": "no such image"}
    return held(
        "v1",
        "Pod",
        f"{owner['metadata']['name']}-x",
        owner=owner,
        status={
            **ready("False", "ContainersNotReady"),
            "initContainerStatuses": [
                {"name": "storage-initializer", "state": {"waiting": waiting}}
            ],
        },
    )


RUNTIME = {
    "apiVersion": "serving.kserve.io/v1alpha1",
    "kind": "ClusterServingRuntime",
    "metadata": {"name": "sklearn", "uid": "runtime"},
    "spec": {
        "supportedModelFormats": [{"name": "sklearn", "version": "1", "autoSelect": True}],
        "protocolVersions": ["v1", "v2"],
        "containers": [{"name": "kserve-container", "image": "sklearn"}],
    },
}


def stuck() -> list[dict[str, Any]]:
    """A service whose canary's pod does not start; the stable one is fine."""
    isvc = service()
    fine = held("apps/v1", "Deployment", "m-predictor", owner=isvc,
                status=ready("True", kind="Available"))  # fmt: skip
    bad = held("apps/v1", "Deployment", "m-two-predictor", owner=isvc,
               status=ready("False", "MinimumReplicasUnavailable", kind="Available"))  # fmt: skip
    replicas = held("apps/v1", "ReplicaSet", "m-two-predictor-1", owner=bad, spec={"replicas": 1},
                    status={"replicas": 1})  # fmt: skip
    return [isvc, fine, bad, replicas, waiting_pod(replicas), RUNTIME]
