"""The bed keeps what it promises, and leaves nothing behind."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import pytest

from e2e.bed import apiserver, crds, waiting
from e2e.bed.bed import Bed
from e2e.bed.kubectl import Refused

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: model, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: model}}
  template:
    metadata: {labels: {app: model}}
    spec: {containers: [{name: model, image: nothing}]}
"""

GRAPH = """
apiVersion: serving.kserve.io/v1alpha1
kind: InferenceGraph
metadata: {name: g, namespace: default}
spec: {any: 1}
status: {url: x}
"""

READER = """
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: team}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: reader, namespace: team}]
"""


def test_every_crd_is_established(bed: Bed) -> None:
    """What the project reads is served, vendors' kinds with their own schemas."""
    listed = json.loads(bed.kubectl("get", "crd", "-o", "json"))["items"]
    established = {
        crd["metadata"]["name"]
        for crd in listed
        for condition in crd["status"]["conditions"]
        if (condition["type"], condition["status"]) == ("Established", "True")
    }
    assert established == {crd["metadata"]["name"] for crd in crds.everything()}
    assert {
        "inferenceservices.serving.kserve.io",
        "services.serving.knative.dev",
        "virtualservices.networking.istio.io",
        "httproutes.gateway.networking.k8s.io",
        "routes.route.openshift.io",
        "ingressroutes.traefik.io",
    } <= established


def test_an_object_of_an_open_kind_has_a_status_of_its_own(bed: Bed) -> None:
    """As with the originals, who writes the object does not write its status."""
    bed.apply(GRAPH)
    kept = json.loads(bed.kubectl("get", "inferencegraph", "g", "-o", "json"))
    assert kept["spec"] == {"any": 1}
    assert "status" not in kept


def test_a_deployment_becomes_pods_without_a_node(bed: Bed) -> None:
    """The controller manager makes a ReplicaSet of it, and Pods of that."""
    bed.apply(DEPLOYMENT)

    def pods() -> list[str]:
        return bed.kubectl("get", "pods", "-l", "app=model", "-o", "name").split()

    waiting.until("two pods", lambda: len(pods()) == 2, seconds=30)
    owner = "jsonpath={.items[0].metadata.ownerReferences[0].kind}"
    assert bed.kubectl("get", "pods", "-l", "app=model", "-o", owner) == "ReplicaSet"


def test_an_account_may_do_only_what_its_bindings_allow(bed: Bed) -> None:
    """RBAC is on: nothing without a binding, reading with that of a reader."""
    account = bed.kubectl_as(bed.account("team", "reader"))
    with pytest.raises(Refused, match=r"system:serviceaccount:team:reader.*cannot list"):
        account("get", "services")
    bed.apply(READER)
    waiting.until("the right", lambda: "yes" in _can(account, "list", "services"), seconds=10)
    account("get", "services")
    with pytest.raises(Refused, match="cannot delete"):
        account("delete", "service", "any")


def _can(account: Callable[..., str], *words: str) -> str:
    try:
        return account("auth", "can-i", *words)
    except Refused:
        return ""


def test_priority_and_fairness_can_be_switched_on(make_bed: Callable[..., Bed]) -> None:
    """Off, requests go straight through; on, each is in a flow, as on a real cluster."""
    fair = make_bed((), api=apiserver.Settings(priority_and_fairness=True))
    flows = fair.kubectl("get", "--raw", "/debug/api_priority_and_fairness/dump_queues")
    assert "workload-low" in flows


def test_nothing_is_left_after_the_end() -> None:
    """No process, no folder: also what a part started itself."""
    running = Bed.start(())
    pids = [process.pid for process in running.processes]
    assert all(map(_group_lives, pids))
    assert running.folder.exists()
    running.stop()
    assert not any(map(_group_lives, pids))
    assert not running.folder.exists()


def _group_lives(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return False
    return True
