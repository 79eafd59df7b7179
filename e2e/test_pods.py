"""Pods are real enough for routes: they start, answer, fail, roll and end as on a cluster."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from e2e.bed import bed as beds
from e2e.bed import waiting
from e2e.bed.bed import Bed
from e2e.pods import objects, running
from e2e.pods.running import Pods

PARTS = (beds.CONTROLLERS,)
SECONDS = 60
FOREVER = 10_000


@pytest.fixture(scope="module", autouse=True)
def client(bed: Bed, pods: Pods) -> str:
    """A pod to ask others from."""
    sleeping = {"image": "shell", "args": ["-c", f"sleep {FOREVER}"]}
    bed.apply(objects.text(objects.pod("client", sleeping)))
    _wait_ready(bed, "pod/client")
    return "client"


def test_a_deployment_answers_by_its_service(bed: Bed, pods: Pods, client: str) -> None:
    """Both replicas, over the ClusterIP and over names, from a pod and from the host."""
    _deploy(bed, "model", replicas=2)
    address = _get(bed, "service/model")["spec"]["clusterIP"]
    for host in (address, "model", "model.default.svc.cluster.local"):
        _wait_served(pods, client, f"http://{host}/", _names(bed, "model"))
        seen = pods.fetch("default", client, f"http://{host}/a?b")
        assert seen["path"] == "/a?b"
        assert seen["peer"] == _get(bed, "pod/client")["status"]["podIP"]
    assert asyncio.run(_fetch(f"http://{address}/"))["pod"] in _names(bed, "model")


def test_a_pod_reaches_itself_by_its_service(bed: Bed, pods: Pods) -> None:
    """The packets go out and come back, as with kube-proxy."""
    _deploy(bed, "lonely")
    (name,) = _names(bed, "lonely")
    assert pods.fetch("default", name, "http://lonely/")["pod"] == name


def test_other_kinds_of_names(bed: Bed, pods: Pods, client: str) -> None:
    """A headless Service gives the pod's own address and port; an ExternalName is an alias."""
    _deploy(bed, "far", namespace="other")
    headless = {"clusterIP": "None", "selector": {"app": "far"}, "ports": [{"port": 8080}]}
    alias = {"type": "ExternalName", "externalName": "far.other.svc.cluster.local"}
    far_pods = objects.service("far-pods", namespace="other", **headless)
    bed.apply(objects.text(far_pods, objects.service("near", **alias)))
    url = "http://far-pods.other:8080/"
    waiting.until("an endpoint", lambda: _try(pods, client, url), seconds=SECONDS)
    assert pods.fetch("default", client, "http://near/")["host"] == "near"
    assert _try(pods, client, "http://nobody/") is None


def test_a_pod_that_is_not_ready_gets_no_requests(bed: Bed, pods: Pods, client: str) -> None:
    """Its readiness probe fails; the endpointslice controller takes it out, and in again."""
    _deploy(bed, "moody", replicas=2)
    one, other = sorted(_names(bed, "moody"))
    own = f"http://{_get(bed, f'pod/{one}')['status']['podIP']}:8080"
    pods.fetch("default", client, f"{own}/fail")
    waiting.until("one endpoint", lambda: _ready(bed, "moody") == {other}, seconds=SECONDS)
    _wait_served(pods, client, "http://moody/", {other})
    assert _get(bed, f"pod/{one}")["status"]["containerStatuses"][0]["restartCount"] == 0
    pods.fetch("default", client, f"{own}/fail?off")
    waiting.until("two endpoints", lambda: _ready(bed, "moody") == {one, other}, seconds=SECONDS)


def test_a_rolling_update_loses_no_request(bed: Bed) -> None:
    """New pods get requests when they are ready; old ones serve until nobody comes any more."""
    _deploy(bed, "rolling", replicas=2)
    address = _get(bed, "service/rolling")["spec"]["clusterIP"]

    async def roll() -> list[str]:
        load = asyncio.create_task(_load(f"http://{address}/"))
        await asyncio.sleep(0.5)
        await asyncio.to_thread(_deploy, bed, "rolling", replicas=2, version="v2")
        await asyncio.sleep(0.5)
        load.cancel()
        return await load

    versions = asyncio.run(roll())
    assert set(versions) == {"v1", "v2"}
    assert versions[-1] == "v2"


def test_a_crash_is_counted_and_told(bed: Bed, pods: Pods, client: str) -> None:
    """The container starts anew in the same pod, with its last words in the status."""
    crashing = {"image": "shell", "args": ["-c", "echo no more; sleep 1; exit 7"]}
    bed.apply(objects.text(objects.pod("crashing", crashing)))

    def told() -> dict[str, Any]:
        statuses = _get(bed, "pod/crashing")["status"].get("containerStatuses", [{}])
        return statuses[0] if statuses[0].get("restartCount", 0) >= 2 else {}

    status = waiting.until("two restarts", told, seconds=SECONDS)
    last = status["lastState"]["terminated"]
    assert (last["exitCode"], last["message"]) == (7, "no more\n")


def test_liveness_restarts_what_hangs(bed: Bed) -> None:
    """A process that ignores SIGTERM is killed when its grace is over."""
    probe = {"exec": {"command": ["/bin/false"]}, "periodSeconds": 1, "failureThreshold": 2}
    hanging = {
        "image": "shell",
        "args": ["-c", "trap '' TERM; while true; do sleep 1; done"],
        "livenessProbe": probe | {"terminationGracePeriodSeconds": 1},
    }
    bed.apply(objects.text(objects.pod("hanging", hanging)))

    def last_code() -> int:
        statuses = _get(bed, "pod/hanging")["status"].get("containerStatuses", [{}])
        return int(statuses[0].get("lastState", {}).get("terminated", {}).get("exitCode", 0))

    assert waiting.until("a restart", last_code, seconds=SECONDS) == 137


def test_init_containers_run_in_order(bed: Bed, pods: Pods) -> None:
    """Each sees what the one before left in a shared volume, and none overtakes a failure."""
    mounts = {"volumeMounts": [{"name": "shared", "mountPath": "/mnt/shared"}]}

    def step(name: str, script: str) -> dict[str, Any]:
        return {"name": name, "image": "shell", "args": ["-ec", script], **mounts}

    body = objects.pod("ordered", step("main", f"cat /mnt/shared/steps; sleep {FOREVER}"))
    body["spec"]["volumes"] = [{"name": "shared", "emptyDir": {}}]
    fails_once = "test -e /mnt/shared/tried || { touch /mnt/shared/tried; exit 1; }"
    body["spec"]["initContainers"] = [
        step("first", f"{fails_once}; sleep 0.5; echo first >> /mnt/shared/steps"),
        step("second", "echo second >> /mnt/shared/steps"),
    ]
    bed.apply(objects.text(body))
    _wait_ready(bed, "pod/ordered")
    _wait_log(pods, "ordered", "main", "first\nsecond\n")
    inits = _get(bed, "pod/ordered")["status"]["initContainerStatuses"]
    assert [one["restartCount"] for one in inits] == [1, 0]


def test_environment_and_files_are_those_of_the_object(bed: Bed, pods: Pods) -> None:
    """Variables by value, field and ConfigMap; a ConfigMap as files where no folder was."""
    script = "echo $WHO $PLACE $a $(BOTH); cat /etc/of-the-pod/b; sleep 10000"
    container = {
        "image": "shell",
        "args": ["-c", script],
        "envFrom": [{"configMapRef": {"name": "settings"}}],
        "env": [
            {"name": "WHO", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "PLACE", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
            {"name": "BOTH", "value": "$(WHO)-$(a)"},
        ],
        "volumeMounts": [{"name": "files", "mountPath": "/etc/of-the-pod"}],
    }
    body = objects.pod("reading", container)
    body["spec"]["volumes"] = [{"name": "files", "configMap": {"name": "settings"}}]
    bed.apply(objects.text(body))  # the ConfigMap comes later, and the pod waits for it
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}
    bed.apply(objects.text(settings | {"data": {"a": "1", "b": "two"}}))
    _wait_ready(bed, "pod/reading")
    address = _get(bed, "pod/reading")["status"]["podIP"]
    _wait_log(pods, "reading", "c", f"reading {address} 1 reading-1\ntwo")


def test_an_unknown_image_is_told(bed: Bed) -> None:
    """As a real one that cannot be pulled."""
    bed.apply(objects.text(objects.pod("unknown", {"image": "registry.example/none:1"})))

    def reason() -> str:
        statuses = _get(bed, "pod/unknown")["status"].get("containerStatuses", [{}])
        return str(statuses[0].get("state", {}).get("waiting", {}).get("message", ""))

    waiting.until("the reason", lambda: "no program stands for" in reason(), seconds=SECONDS)


def test_nothing_is_left_of_a_deleted_pod(bed: Bed, pods: Pods) -> None:
    """Neither its processes, which are asked to end first, nor its namespace, nor its object."""
    script = "trap 'echo asked; exit' TERM; sleep 10000 & setsid sleep 10000 & wait"
    bed.apply(objects.text(objects.pod("leaving", {"image": "shell", "args": ["-c", script]})))
    _wait_ready(bed, "pod/leaving")
    (place,) = [one for one in running.places() if one.endswith(".default.leaving")]
    bed.kubectl("delete", "pod", "leaving", "--wait")
    assert pods.log("default", "leaving", "c") == "asked\n"
    assert place not in running.places()


def test_what_a_crash_left_is_swept(bed: Bed, pods: Pods) -> None:
    """The next run ends the pods of the one before and runs them anew."""
    before = running.places()
    assert before
    pods.crash()
    assert running.places() == before
    pods.start()
    assert not set(before) & set(running.places())
    _wait_ready(bed, "pod/client")


def _deploy(
    bed: Bed, name: str, *, replicas: int = 1, namespace: str = "default", version: str = "v1"
) -> None:
    """A Deployment of `echo` with its Service, rolled out."""
    made = objects.echo(name, replicas=replicas, namespace=namespace, version=version)
    bed.apply(objects.text(objects.namespace(namespace), *made))
    bed.kubectl("rollout", "status", f"deployment/{name}", "-n", namespace, "--timeout=50s")


def _get(bed: Bed, name: str) -> dict[str, Any]:
    return dict(json.loads(bed.kubectl("get", name, "-o", "json")))


def _wait_ready(bed: Bed, name: str) -> None:
    bed.kubectl("wait", "--for=condition=Ready", name, f"--timeout={SECONDS - 5}s")


def _wait_log(pods: Pods, pod: str, container: str, wanted: str) -> None:
    def is_written() -> bool:
        return pods.log("default", pod, container) == wanted

    waiting.until(f"the log of {pod} is {wanted!r}", is_written, seconds=SECONDS)


def _names(bed: Bed, app: str) -> set[str]:
    listed = bed.kubectl("get", "pods", "-l", f"app={app}", "-o", "name").split()
    return {name.removeprefix("pod/") for name in listed}


def _ready(bed: Bed, service: str) -> set[str]:
    label = f"kubernetes.io/service-name={service}"
    slices = json.loads(bed.kubectl("get", "endpointslices", "-l", label, "-o", "json"))["items"]
    return {
        one["targetRef"]["name"]
        for piece in slices
        for one in piece.get("endpoints") or ()
        if one["conditions"]["ready"]
    }


def _wait_served(pods: Pods, client: str, url: str, wanted: set[str]) -> None:
    def served() -> bool:
        return {pods.fetch("default", client, url)["pod"] for _ in range(8)} == wanted

    waiting.until(f"{url} is served by {wanted}", served, seconds=SECONDS)


def _try(pods: Pods, client: str, url: str) -> Any:
    try:
        return pods.fetch("default", client, url)
    except running.Unanswered:
        return None


async def _fetch(url: str) -> Any:
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return await response.json()


async def _load(url: str) -> list[str]:
    """The versions that answered, one connection a request, until cancelled."""
    seen: list[str] = []
    connector = aiohttp.TCPConnector(force_close=True)
    async with aiohttp.ClientSession(connector=connector, raise_for_status=True) as session:
        try:
            while True:
                async with session.get(url) as response:
                    seen.append((await response.json())["version"])
        except asyncio.CancelledError:
            return seen
