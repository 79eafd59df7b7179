"""describe, get and wait on a real API server, as somebody who may only look at one namespace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.bed import bed as beds
from e2e.bed.bed import Bed

PARTS = (beds.CRDS,)
"""No controllers: what they would write is written here."""

TEAM = "team"
SECONDS = 60

LOOKED_AT = {
    "": ["services", "pods"],
    "apps": ["deployments", "replicasets"],
    "serving.kserve.io": ["inferenceservices", "servingruntimes", "inferencegraphs"],
    "serving.knative.dev": ["services", "configurations", "revisions", "routes"],
    "networking.internal.knative.dev": ["ingresses"],
    "networking.istio.io": ["virtualservices", "gateways", "destinationrules", "serviceentries"],
    "gateway.networking.k8s.io": ["httproutes", "grpcroutes", "gateways", "referencegrants"],
    "networking.k8s.io": ["ingresses"],
}


def role(name: str, *verbs: str) -> list[dict[str, Any]]:
    """A role of the team's namespace, and who has it."""
    head = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": name}}
    rules = [
        {"apiGroups": [group], "resources": kinds, "verbs": list(verbs)}
        for group, kinds in LOOKED_AT.items()
    ]
    subject = {"kind": "ServiceAccount", "name": name, "namespace": TEAM}
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
    head["metadata"] = {"name": name, "namespace": TEAM}
    return [
        {**head, "kind": "Role", "rules": rules},
        {**head, "kind": "RoleBinding", "subjects": [subject], "roleRef": ref},
    ]


@pytest.fixture(scope="module")
def person(bed: Bed) -> Path:
    """Who may look at everything in the namespace, and follow it."""
    config = bed.account(TEAM, "person")
    bed.apply(yaml.safe_dump_all(role("person", "list", "watch")))
    return config


@pytest.fixture(scope="module")
def reader(bed: Bed) -> Path:
    """Who may list, and not watch."""
    config = bed.account(TEAM, "reader")
    bed.apply(yaml.safe_dump_all(role("reader", "list")))
    return config


def create(bed: Bed, obj: dict[str, Any], status: dict[str, Any] | None = None) -> dict[str, Any]:
    """The object as it is stored, its status written by its own subresource."""
    bed.apply(yaml.safe_dump(obj))
    kind = f"{obj['kind']}.{obj['apiVersion'].partition('/')[0]}" if "/" in obj["apiVersion"] else (
        obj["kind"]
    )  # fmt: skip
    name = obj["metadata"]["name"]
    if status is not None:
        written = json.dumps({"status": status})
        words = ("patch", kind, name, "-n", TEAM, "--subresource=status", "--type=merge")
        bed.kubectl(*words, "-p", written)
    found: dict[str, Any] = json.loads(bed.kubectl("get", kind, name, "-n", TEAM, "-o", "json"))
    return found


def service(bed: Bed, name: str, status: str, reason: str) -> dict[str, Any]:
    obj = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": name, "namespace": TEAM,
                     "annotations": {"serving.kserve.io/deploymentMode": "Standard"}},
        "spec": {"predictor": {"containers": [{"name": "kserve-container", "image": "stub"}]}},
    }  # fmt: skip
    return create(bed, obj, {"conditions": [condition("Ready", status, reason)]})


def condition(kind: str, status: str, reason: str) -> dict[str, Any]:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": "",
        "lastTransitionTime": "2026-05-01T12:00:00Z",
    }


def owned(kind: str, version: str, name: str, owner: dict[str, Any], spec: Any) -> dict[str, Any]:
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
    }
    metadata = {"name": name, "namespace": TEAM, "ownerReferences": [reference]}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def pods_of(name: str) -> dict[str, Any]:
    containers = [{"name": "kserve-container", "image": "stub"}]
    return {
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": containers}},
    }


def command(*words: str, config: Path) -> list[str]:
    return [sys.executable, "-m", "ingressctl", *words, "--kubeconfig", str(config)]


def environment() -> dict[str, str]:
    return {**os.environ, "NO_COLOR": "1", "COLUMNS": "80"}


def ask(*words: str, config: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*words, config=config),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def begin(*words: str, config: Path, log: Path) -> subprocess.Popen[str]:
    """A command that goes on; it has begun to wait when this returns."""
    with log.open("w") as told:
        running = subprocess.Popen(
            command(*words, config=config),
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=told,
            text=True,
        )
    end = time.monotonic() + SECONDS
    while "s " not in "".join(
        line for line in log.read_text().splitlines() if line.lstrip()[:1].isdigit()
    ):
        assert running.poll() is None, log.read_text()
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.05)
    return running


def test_describe_leads_to_the_pod_and_names_missing_rights(bed: Bed, person: Path) -> None:
    isvc = service(bed, "stuck", "False", "MinimumReplicasUnavailable")
    deployment = create(
        bed,
        owned("Deployment", "apps/v1", "stuck-predictor", isvc, pods_of("stuck")),
        {"conditions": [condition("Available", "False", "MinimumReplicasUnavailable")],
         "observedGeneration": 1},
    )  # fmt: skip
    replicas = create(
        bed, owned("ReplicaSet", "apps/v1", "stuck-predictor-1", deployment, pods_of("stuck"))
    )
    waiting = {"reason": "ImagePullBackOff", "message": "no such image"}
    pod = owned("Pod", "v1", "stuck-predictor-1-x", replicas,
                pods_of("stuck")["template"]["spec"])  # fmt: skip
    create(bed, pod, {"containerStatuses": [{
        "name": "kserve-container", "image": "stub", "imageID": "", "ready": False,
        "restartCount": 0, "state": {"waiting": waiting},
    }]})  # fmt: skip
    done = ask("describe", "isvc/stuck", config=person)
    assert done.stdout.splitlines()[0] == (
        "InferenceService team/stuck is not ready: Pod team/stuck-predictor-1-x: "
        "ImagePullBackOff: container kserve-container: no such image"
    )
    assert "Written by:  kubectl, kubectl-patch (status)" in done.stdout
    assert (
        "httproutes.gateway.networking.k8s.io may not be listed in every namespace, only those of "
        "namespace team are known" in done.stderr
    )
    assert "configmaps may not be listed in namespace kserve, left out" in done.stderr
    assert "Traceback" not in done.stderr


def test_get_lists_the_routes_of_the_namespace(bed: Bed, person: Path) -> None:
    route = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": "shop", "namespace": TEAM},
        "spec": {
            "hostnames": ["shop.example.com"],
            "parentRefs": [{"name": "gate", "namespace": "elsewhere"}],
            "rules": [{"backendRefs": [{"name": "a", "port": 80, "weight": 3},
                                       {"name": "b", "port": 80, "weight": 1}]}],
        },
    }  # fmt: skip
    create(bed, route)
    done = ask("get", "routes", "--no-headers", "-q", config=person)
    rows = [line.split()[:4] for line in done.stdout.splitlines()]
    assert ["shop.example.com", "/*", "a:80", "75"] in rows
    assert ["shop.example.com", "/*", "b:80", "25"] in rows
    assert done.returncode == 0


@pytest.mark.parametrize("who", ["person", "reader"])
def test_wait_ends_when_the_status_says_so(
    who: str, bed: Bed, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """By a watch; by lists for whom may not watch, which is told."""
    name = f"slow-{who}"
    service(bed, name, "Unknown", "Starting")
    log = tmp_path / "log"
    config = request.getfixturevalue(who)
    running = begin("wait", f"isvc/{name}", "--timeout", f"{SECONDS}s", config=config, log=log)
    service(bed, name, "True", "")
    out, _ = running.communicate(timeout=SECONDS)
    assert running.returncode == 0, log.read_text()
    assert out == f"inferenceservice.serving.kserve.io/{name} condition met\n"
    assert ("may not be watched in namespace team" in log.read_text()) == (who == "reader")


def test_wait_ends_early_for_a_deployment_that_gave_up(
    bed: Bed, person: Path, tmp_path: Path
) -> None:
    isvc = service(bed, "given-up", "Unknown", "Starting")
    log = tmp_path / "log"
    running = begin("wait", "isvc/given-up", config=person, log=log)
    create(
        bed,
        owned("Deployment", "apps/v1", "given-up-predictor", isvc, pods_of("given-up")),
        {"conditions": [condition("Progressing", "False", "ProgressDeadlineExceeded")],
         "observedGeneration": 1},
    )  # fmt: skip
    running.communicate(timeout=SECONDS)
    assert running.returncode == 3, log.read_text()
    assert "will not become ready: Deployment team/given-up-predictor" in log.read_text()


def test_names_are_completed(bed: Bed, person: Path) -> None:
    service(bed, "complete-me", "True", "")
    words = f"ingressctl describe --kubeconfig {person} isvc/comp"
    done = subprocess.run(
        [sys.executable, "-m", "ingressctl"],
        env={
            **environment(),
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split()) - 1),
            "_INGRESSCTL_COMPLETE": "complete_bash",
        },
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.stdout.split(), done.stderr) == (["isvc/complete-me"], "")
