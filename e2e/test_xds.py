"""Our own Envoys in a cluster: real pods behind them, certificates in a real Secret, and no
request lost whatever happens to pods and controller."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from e2e import charts, controllers
from e2e.bed import bed as beds
from e2e.bed import ports, waiting
from e2e.bed.bed import Bed
from e2e.controllers import Controller
from e2e.envoys import Envoy
from e2e.pods.running import Pods

PARTS = (beds.CRDS, beds.CONTROLLERS)
SECONDS = 60
VALUES = {
    "providers": ["envoy"],
    "provider": "envoy",
    "write": ["routes", "workloads"],
    "beside": "",
    "knative": {"enabled": False},
    "gateway": {"enabled": True, "address": "127.0.0.1"},
}
CONFIG = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "inferenceservice-config", "namespace": "kserve"},
    "data": {
        "deploy": '{"defaultDeploymentMode": "Standard"}',
        "ingress": json.dumps(
            {
                "ingressGateway": "knative-serving/knative-ingress-gateway",
                "ingressDomain": "example.com",
                "domainTemplate": "{{ .Name }}-{{ .Namespace }}.{{ .IngressDomain }}",
                "urlScheme": "http",
            }
        ),
    },
}


class Scene:
    """A bed with pods, a controller, and an Envoy of it."""

    def __init__(self, bed: Bed) -> None:
        self.bed = bed
        self.gateway, self.xds = ports.free(2)
        charts.make_namespaces(bed)
        self.apply(CONFIG)
        self.controller: Controller = controllers.started(bed, *self._flags(), values=VALUES)
        self.envoy = Envoy(bed, VALUES, xds=self.xds)
        self.envoy.start()
        bed.processes.append(self.envoy)

    def _flags(self) -> tuple[str, ...]:
        return (
            "--config-namespace=kserve",
            "--write=routes,workloads",
            "--providers=envoy",
            "--provider=envoy",
            "--no-knative",
            "--settle-seconds=1",
            f"--xds-port={self.xds}",
            f"--gateway-port={self.gateway}",
            "--gateway-address=127.0.0.1",
        )

    def apply(self, *objects: dict[str, Any]) -> None:
        self.bed.apply(yaml.safe_dump_all(objects))

    def ask(self, name: str, path: str = "/") -> tuple[int, dict[str, Any]]:
        """Status and what the pod says of itself; 0 when nobody answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.gateway, timeout=10)
        with contextlib.closing(connection):
            try:
                connection.request("GET", path, headers={"Host": f"{name}-team-a.example.com"})
                answer = connection.getresponse()
                body = answer.read()
            except OSError:
                return 0, {}
        return answer.status, json.loads(body) if answer.status == 200 else {}

    def is_ready(self, name: str) -> bool:
        words = ("get", "inferenceservice", name, "-n", "team-a", "-o=json")
        status = json.loads(self.bed.kubectl(*words)).get("status") or {}
        found = (item for item in status.get("conditions") or () if item["type"] == "Ready")
        return next((item["status"] == "True" for item in found), False)

    def become_ready(self, name: str) -> None:
        waiting.until(f"{name} is ready", lambda: self.is_ready(name), seconds=SECONDS)

    def answers(self, name: str, version: str) -> None:
        def by_it_alone() -> bool:
            return all(self.ask(name)[1].get("version") == version for _ in range(10))

        waiting.until(f"{name} answers with {version}", by_it_alone, seconds=SECONDS)

    @contextlib.contextmanager
    def load(self, name: str) -> Iterator[Counter[int]]:
        """Requests all the time; none may fail."""
        seen: Counter[int] = Counter()
        ended = threading.Event()

        def go() -> None:
            while not ended.is_set():
                seen[self.ask(name)[0]] += 1
                time.sleep(0.005)

        threads = [threading.Thread(target=go) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            yield seen
        finally:
            ended.set()
            for thread in threads:
                thread.join()
        assert set(seen) == {200}, seen


def component(version: str, name: str = "") -> dict[str, Any]:
    container = {
        "name": "kserve-container",
        "image": "echo",
        "env": [{"name": "VERSION", "value": version}],
        "ports": [{"containerPort": 8080}],
        "readinessProbe": {
            "httpGet": {"path": "/ready", "port": 8080},
            "periodSeconds": 1,
            "failureThreshold": 1,
        },
    }
    return {"containers": [container], **({"name": name} if name else {})}


def service(name: str, version: str = "v1", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": name, "namespace": "team-a"},
        "spec": {"predictor": component(version), **spec},
    }


@pytest.fixture(scope="module")
def scene(bed: Bed, pods: Pods) -> Scene:
    charts.need_helm()
    return Scene(bed)


def test_it_answers_at_its_first_ready(scene: Scene) -> None:
    """What says Ready is served: Envoy has acknowledged it (F89)."""
    for name in ("iris", "rose"):
        scene.apply(service(name))
        scene.become_ready(name)
        status, seen = scene.ask(name)
        assert (status, seen["version"]) == (200, "v1")


def test_a_rolling_update_loses_no_request(scene: Scene) -> None:
    """The pods' addresses change one after the other; routes do not."""
    with scene.load("iris") as seen:
        scene.apply(service("iris", "v2"))
        scene.answers("iris", "v2")
    assert seen.total() > 50


def test_a_controller_that_dies_loses_no_request(scene: Scene) -> None:
    """Envoy goes on with what it has, and hears of everything from the next one."""
    with scene.load("iris"), scene.load("rose"):
        scene.controller.kill()
        time.sleep(1)
        scene.controller.start()
        scene.apply(service("lily"))
        scene.become_ready("lily")
        assert scene.ask("lily")[0] == 200


def test_canary_weights_hold_and_end_without_a_lost_request(scene: Scene) -> None:
    canary = {"trafficPercent": 30, "predictor": component("canary", "next")}
    with scene.load("iris"):
        scene.apply(service("iris", "v2", canary=[canary]))
        waiting.until(
            "the canary answers",
            lambda: scene.ask("iris")[1].get("version") == "canary",
            seconds=SECONDS,
        )
        seen = Counter(scene.ask("iris")[1].get("version") for _ in range(400))
        assert seen.keys() == {"v2", "canary"}
        assert 80 < seen["canary"] < 160  # 30 % of 400, at more than five sigma
        # Apply merges by what kubectl applied last, so the canary goes.
        scene.apply(service("iris", "v2"))
        scene.answers("iris", "v2")
        words = ("get", "deployment", "iris-next-predictor", "-n", "team-a", "--ignore-not-found")
        waiting.until("it is gone", lambda: not scene.bed.kubectl(*words), seconds=SECONDS)


def test_a_deleted_service_is_served_no_more(scene: Scene) -> None:
    scene.bed.kubectl("delete", "inferenceservice", "rose", "-n", "team-a")
    waiting.until("it is gone", lambda: scene.ask("rose")[0] == 404, seconds=SECONDS)
    assert scene.ask("iris")[0] == 200
