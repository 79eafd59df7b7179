"""The controller on a real API server: routes, statuses, deletions, with the chart's rights."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from e2e import charts, controllers
from e2e.bed import bed as beds
from e2e.bed.bed import Bed
from e2e.controllers import Controller
from tests.apiserver.made import AVAILABLE, condition, config, gateway, service

PARTS = (beds.CRDS, beds.CONTROLLERS)
SECONDS = 30

VALUES = {
    "providers": ["gateway_api"],
    "write": ["routes", "workloads"],
    "beside": "",
}
FLAGS = (
    "--config-namespace=kserve",
    "--write=routes,workloads",
    "--providers=gateway_api",
    "--settle-seconds=1",
)


@pytest.fixture(scope="module")
def controller(bed: Bed) -> Controller:
    charts.need_helm()
    charts.make_namespaces(bed)
    apply(bed, config(), gateway())
    return controllers.started(bed, *FLAGS, values=VALUES)


def apply(bed: Bed, *objects: dict[str, Any]) -> None:
    bed.apply(yaml.safe_dump_all(objects))


def get(bed: Bed, kind: str, name: str, namespace: str = "team-a") -> dict[str, Any] | None:
    text = bed.kubectl("get", kind, name, "-n", namespace, "-o=json", "--ignore-not-found")
    return json.loads(text) if text.strip() else None


def eventually(what: str, ask: Callable[[], Any]) -> Any:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        found = ask()
        if found:
            return found
        time.sleep(0.1)
    pytest.fail(f"{what}: not within {SECONDS} s")


def available(bed: Bed, name: str, namespace: str = "team-a") -> None:
    """What the Deployment controller would say once pods run."""
    bed.kubectl(
        "patch",
        "deployment",
        name,
        "-n",
        namespace,
        "--subresource=status",
        "--type=merge",
        f"--patch={json.dumps(AVAILABLE)}",
    )


def test_a_service_gets_its_workload(bed: Bed, controller: Controller) -> None:
    """Deployment and Service are made, owned, by server-side apply under our manager."""
    apply(bed, service("iris"))
    made = eventually("deployment", lambda: get(bed, "deployment", "iris-predictor"))
    assert made["metadata"]["ownerReferences"][0]["kind"] == "InferenceService"
    text = bed.kubectl(
        "get", "deployment", "iris-predictor", "-n", "team-a", "-o=json", "--show-managed-fields"
    )
    managers = {
        (entry["manager"], entry["operation"])
        for entry in json.loads(text)["metadata"]["managedFields"]
        if not entry.get("subresource")
    }
    assert ("ingressctl-inferenceservice", "Apply") in managers
    eventually("service", lambda: get(bed, "service", "iris-predictor"))
    stored = eventually("status", lambda: get(bed, "inferenceservice", "iris"))
    assert condition(stored, "Ready") != "True"


def test_a_quiet_cluster_is_not_written_to(bed: Bed, controller: Controller) -> None:
    """Nothing differs, so nothing is sent; a resync changes nothing in that."""
    eventually("quiet", lambda: controller.value("workqueue_depth") == 0)
    time.sleep(1)
    before = controller.value("rest_client_requests_total")
    os.kill(controller.pid, signal.SIGHUP)
    time.sleep(1)
    leases = 4  # a lease is renewed every second, by two requests
    assert controller.value("rest_client_requests_total") - before <= 2 * leases


def test_a_deleted_child_comes_back(bed: Bed, controller: Controller) -> None:
    """Whatever somebody removes by hand is there again in a moment."""
    eventually("service", lambda: get(bed, "service", "iris-predictor"))
    uid = get(bed, "service", "iris-predictor")["metadata"]["uid"]
    bed.kubectl("delete", "service", "iris-predictor", "-n", "team-a")
    again = eventually(
        "another service",
        lambda: (obj := get(bed, "service", "iris-predictor")) and obj["metadata"]["uid"] != uid,
    )
    assert again


def test_a_foreign_object_is_left_alone(bed: Bed, controller: Controller) -> None:
    """A condition and an event name it, and it stays as it is."""
    foreign = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "taken-predictor", "namespace": "team-a", "labels": {"mine": "yes"}},
        "spec": {"ports": [{"port": 1234}], "selector": {"app": "mine"}},
    }
    apply(bed, foreign)
    apply(bed, service("taken"))
    told = eventually(
        "condition",
        lambda: (
            (obj := get(bed, "inferenceservice", "taken"))
            and condition(obj, "IngressReady") == "False"
            and obj
        ),
    )
    texts = [item.get("message", "") for item in told["status"]["conditions"]]
    assert any("taken-predictor" in text and "not owned" in text for text in texts)
    kept = get(bed, "service", "taken-predictor")
    assert kept["spec"]["selector"] == {"app": "mine"}
    assert "ownerReferences" not in kept["metadata"]
    eventually(
        "event",
        lambda: "ObjectNotOwned" in bed.kubectl("get", "events", "-n", "team-a"),
    )


def test_a_deleted_service_takes_its_objects_along(bed: Bed, controller: Controller) -> None:
    """By owner references: nothing of it is left."""
    bed.kubectl("delete", "inferenceservice", "iris", "-n", "team-a")
    eventually("no deployment", lambda: get(bed, "deployment", "iris-predictor") is None)
    eventually("no service", lambda: get(bed, "service", "iris-predictor") is None)
