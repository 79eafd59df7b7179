"""What the status of a pod says: a pure function of what its containers do."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from e2e.pods.network import addresses

if TYPE_CHECKING:
    from e2e.pods.kubelet.container import Container
    from e2e.pods.kubelet.pod import Pod


def now() -> str:
    """The time as Kubernetes writes it."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def make(pod: Pod) -> dict[str, Any]:
    """The status as a whole; conditions of others are not named, a merge keeps them."""
    found: dict[str, Any] = {
        "phase": phase(pod),
        "startTime": pod.started,
        "hostIP": addresses.NODE,
        "hostIPs": [{"ip": addresses.NODE}],
        "qosClass": "BestEffort",
        "conditions": _conditions(pod),
        "initContainerStatuses": [_container(one) for one in pod.inits],
        "containerStatuses": [_container(one) for one in pod.containers],
    }
    if pod.place is not None:
        found |= {"podIP": pod.place.address, "podIPs": [{"ip": pod.place.address}]}
    return found


def phase(pod: Pod) -> str:
    """Pending until all containers began, then Running, until all ended for good."""
    policy = pod.obj["spec"].get("restartPolicy", "Always")
    if policy == "Never" and any(one.exit_code for one in pod.inits):
        return "Failed"
    if not pod.containers or not pod.initialized:
        return "Pending"
    ended = [one.exit_code for one in pod.containers if "terminated" in one.state]
    if len(ended) == len(pod.containers) and policy != "Always":
        if not any(ended):
            return "Succeeded"
        if policy == "Never":
            return "Failed"
    has_begun = all(one.exit_code is not None or _runs(one) for one in pod.containers)
    return "Running" if has_begun else "Pending"


def _runs(one: Container) -> bool:
    return "running" in one.state


def _conditions(pod: Pod) -> list[dict[str, Any]]:
    ready = bool(pod.containers) and all(one.ready for one in pod.containers)
    return [
        _condition(pod, kind, holds)
        for kind, holds in (
            ("PodScheduled", True),
            ("PodReadyToStartContainers", pod.place is not None),
            ("Initialized", pod.initialized),
            ("ContainersReady", ready),
            ("Ready", ready and _gates(pod)),
        )
    ]


def _gates(pod: Pod) -> bool:
    told = pod.obj.get("status", {}).get("conditions") or ()
    true = {one["type"] for one in told if one["status"] == "True"}
    return all(gate["conditionType"] in true for gate in pod.obj["spec"].get("readinessGates", ()))


def _condition(pod: Pod, kind: str, holds: bool) -> dict[str, Any]:
    state = "True" if holds else "False"
    before: Mapping[str, Any] = pod.conditions.get(kind, {})
    if before.get("status") != state:
        before = {"type": kind, "status": state, "lastTransitionTime": now()}
        pod.conditions[kind] = before
    return dict(before)


def _container(one: Container) -> dict[str, Any]:
    return {
        "name": one.name,
        "image": one.spec.get("image", ""),
        "imageID": one.spec.get("image", ""),
        "ready": one.ready or ("terminated" in one.state and one.exit_code == 0 and _is_init(one)),
        "started": one.started.is_set(),
        "restartCount": one.restarts,
        "state": one.state,
        "lastState": one.last_state,
    }


def _is_init(one: Container) -> bool:
    return one in one.pod.inits
