"""From an InferenceService that somebody makes to a model's answer through Envoy.

The client is KServe's own SDK, the model its own server in a pod; the controller makes
workloads and routes, istiod carries the routes to Envoy. Nothing waits or tries again after
the first Ready: a request then has to succeed.
"""

from __future__ import annotations

import http.client
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e import charts, controllers, doors, knative
from e2e.bed import bed as beds
from e2e.bed import gateways, waiting
from e2e.bed.bed import Bed
from e2e.controllers import Controller
from e2e.pods.running import Pods
from e2e.sdk.client import Sdk

SECONDS = 90
NAMESPACE, DOMAIN = "team-a", doors.INGRESS["ingressDomain"]
INSIDE = f"{NAMESPACE}.svc.cluster.local"
VALUES = [3, 1, 4]
ROUTES = {"gateway_api": "httproutes", "istio": "virtualservices"}
SHARE, COUNT = 20, 300
ASKED = "asked"


@pytest.fixture(scope="module")
def bed(make_bed: Callable[..., Bed]) -> Bed:
    """Envoy serves KServe's and Knative's gateways."""
    made = make_bed((beds.GATEWAY,), envoy=doors.settings())
    charts.make_namespaces(made)
    apply(made, *_configuration(), *doors.objects(made.gateway))
    return made


@pytest.fixture(scope="module")
def sdk(bed: Bed, pods: Pods, kserve: Path) -> Sdk:
    client = Sdk(kserve, bed.kubeconfig, log=bed.logs / "sdk.log")
    client.start()
    bed.processes.append(client)
    return client


@pytest.fixture(scope="module", params=ROUTES)
def provider(bed: Bed, request: pytest.FixtureRequest) -> Iterator[str]:
    """Each provider in turn, with a controller whose settle time is the one that is shipped.

    ASKED is gateway_api with a settle time that no test waits for, and a gateway to ask.
    """
    charts.need_helm()
    name, flags = str(request.param), []
    if name == ASKED:
        name = "gateway_api"
        address = at(bed, doors.KSERVE_PORT)
        flags = [f"--settle-seconds={2 * SECONDS}", f"--probe-gateway={doors.KSERVE}={address}"]
    controller = _controller(bed, name, *flags)
    yield name
    bed.processes.remove(controller)
    try:
        controller.check()
    finally:
        controller.stop()


def _controller(bed: Bed, provider: str, *flags: str) -> Controller:
    return controllers.started(
        bed,
        *flags,
        "--config-namespace=kserve",
        "--write=routes,workloads",
        "--providers=gateway_api,istio",
        f"--provider={provider}",
        values={
            "providers": ["gateway_api", "istio"],
            "provider": provider,
            "write": ["routes", "workloads"],
            "beside": "",
        },
        pod=f"controller-{provider.replace('_', '-')}",
    )


def _configuration() -> list[dict[str, Any]]:
    def config_map(namespace: str, name: str, data: dict[str, str]) -> dict[str, Any]:
        place = {"name": name, "namespace": namespace}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": place, "data": data}

    return [
        config_map(
            "kserve",
            "inferenceservice-config",
            {
                "deploy": '{"defaultDeploymentMode": "Standard"}',
                "ingress": json.dumps(doors.INGRESS),
            },
        ),
        config_map("knative-serving", "config-domain", {DOMAIN: ""}),
    ]


def service(name: str, mode: str, container: dict[str, Any], **predictor: Any) -> dict[str, Any]:
    return {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "annotations": {"serving.kserve.io/deploymentMode": mode},
        },
        "spec": {"predictor": {"containers": [container], **predictor}},
    }


def model(name: str, *, grpc: bool) -> dict[str, Any]:
    """KServe's own server with a model that gives back what it gets."""
    ports = [{"containerPort": 8080, "name": "http1", "protocol": "TCP"}]
    if grpc:
        ports.append({"containerPort": 8081, "name": "grpc", "protocol": "TCP"})
    ready = {"httpGet": {"path": f"/v2/models/{name}/ready", "port": 8080}}
    often = {"periodSeconds": 1, "timeoutSeconds": 5, "failureThreshold": 60}
    return {
        "name": "kserve-container",
        "image": "kserve",
        "args": [f"--model_name={name}", "--http_port=8080", "--grpc_port=8081"],
        "ports": ports,
        "readinessProbe": {**ready, **often},
    }


def stub(**env: str) -> dict[str, Any]:
    """A server that tells its pod's name."""
    return {
        "name": "kserve-container",
        "image": "echo",
        "env": [{"name": name, "value": value} for name, value in env.items()],
        "ports": [{"containerPort": 8080, "name": "http1", "protocol": "TCP"}],
    }


def apply(bed: Bed, *objects: dict[str, Any]) -> None:
    bed.apply(yaml.safe_dump_all(objects))


def at(bed: Bed, listener: int) -> str:
    """Where Envoy listens for the port that a Gateway names."""
    return f"{bed.gateway.reached}:{bed.gateway.ports[listener]}"


def entry(bed: Bed, provider: str) -> str:
    """Where requests come in."""
    return at(bed, doors.KSERVE_PORT if provider == "gateway_api" else gateways.PLAIN)


def public(name: str) -> str:
    return f"{name}.{NAMESPACE}.{DOMAIN}"


def ask(address: str, host: str, path: str = "/v2/health/live") -> tuple[int, str]:
    """Status and body of an answer."""
    connection = http.client.HTTPConnection(address, timeout=10)
    try:
        connection.request("GET", path, headers={"Host": host})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_the_sdk_is_answered_at_the_first_ready(bed: Bed, sdk: Sdk, provider: str) -> None:
    """Made, asked over v1, v2 and gRPC, patched, asked again, deleted: all of it by the SDK."""
    name = f"iris-{provider.replace('_', '-')}"
    address = entry(bed, provider)
    sdk.create(service(name, "Standard", model(name, grpc=True)))
    sdk.wait(name, NAMESPACE, seconds=SECONDS)
    for protocol in ("v1", "v2", "grpc"):
        answer = sdk.predict(protocol, address, public(name), VALUES, model=name)
        assert answer == VALUES, protocol
    sdk.patch(service(name, "Standard", model(name, grpc=True), timeout=17))
    waiting.until("17 s", lambda: "17s" in _routes(bed, provider, name), seconds=SECONDS)
    sdk.wait(name, NAMESPACE, seconds=SECONDS)
    assert sdk.predict("v1", address, public(name), VALUES, model=name) == VALUES
    sdk.delete(name, NAMESPACE)
    waiting.until("404", lambda: ask(address, public(name))[0] == 404, seconds=SECONDS)


def _routes(bed: Bed, provider: str, name: str) -> str:
    return bed.kubectl("get", ROUTES[provider], name, "-n", NAMESPACE, "-o=yaml")


@pytest.mark.usefixtures("pods")
def test_kubectl_apply_is_answered_at_the_first_ready(bed: Bed, provider: str) -> None:
    """As somebody does it by hand; also at the host of the component."""
    name = f"wine-{provider.replace('_', '-')}"
    apply(bed, service(name, "Standard", stub()))
    _wait_ready(bed, name)
    for host in (public(name), public(f"{name}-predictor")):
        status, body = ask(entry(bed, provider), host, "/v1/models/x")
        assert (status, json.loads(body or "{}").get("path")) == (200, "/v1/models/x"), host


def _wait_ready(bed: Bed, name: str) -> None:
    words = ("wait", f"isvc/{name}", "-n", NAMESPACE, "--for=condition=Ready")
    bed.kubectl(*words, f"--timeout={SECONDS // 2}s")


@pytest.mark.parametrize("provider", ["istio"], indirect=True)
def test_knative_mode_is_answered_over_both_gateways(bed: Bed, sdk: Sdk, provider: str) -> None:
    """The public gateway leads to the local one, and that to the revision."""
    name = "churn"
    sdk.create(service(name, "Knative", model(name, grpc=False)))
    knative.serve(bed, f"{name}-predictor", NAMESPACE, revision=1, domain=DOMAIN)
    sdk.wait(name, NAMESPACE, seconds=SECONDS)
    for protocol in ("v1", "v2"):
        answer = sdk.predict(protocol, entry(bed, provider), public(name), VALUES, model=name)
        assert answer == VALUES, protocol
    inside = at(bed, gateways.LOCAL)
    assert sdk.predict("v1", inside, f"{name}.{INSIDE}", VALUES, model=name) == VALUES
    assert ask(entry(bed, provider), f"{name}.{INSIDE}")[0] == 404, "a private host is public"
    sdk.delete(name, NAMESPACE)
    waiting.until("404", lambda: ask(entry(bed, provider), public(name))[0] == 404, seconds=SECONDS)


@pytest.mark.parametrize("provider", ["istio"], indirect=True)
@pytest.mark.usefixtures("pods")
def test_a_knative_canary_gets_its_share(bed: Bed, provider: str) -> None:
    """Of requests that come in at the public gateway; nobody gets an error meanwhile."""
    name = "risk"
    apply(bed, service(name, "Knative", stub(VERSION="one")))
    knative.serve(bed, f"{name}-predictor", NAMESPACE, revision=1, domain=DOMAIN)
    _wait_ready(bed, name)
    canary = {"canaryTrafficPercent": SHARE}
    apply(bed, service(name, "Knative", stub(VERSION="two"), **canary))
    kind = f"{knative.KIND}/{name}-predictor"
    waiting.until(
        "a split",
        lambda: (
            str(SHARE) in bed.kubectl("get", kind, "-n", NAMESPACE, "-o=jsonpath={.spec.traffic}")
        ),
        seconds=SECONDS,
    )
    knative.serve(bed, f"{name}-predictor", NAMESPACE, revision=2, domain=DOMAIN)
    waiting.until("both", lambda: len(_versions(bed, provider, name, 20)) == 2, seconds=SECONDS)
    counted = _versions(bed, provider, name, COUNT)
    assert 0.5 * SHARE < 100 * counted["two"] / COUNT < 1.7 * SHARE, counted


def _versions(bed: Bed, provider: str, name: str, count: int) -> Counter[str]:
    """Which version answered how often. Every request has to succeed."""
    counted: Counter[str] = Counter()
    for _ in range(count):
        status, body = ask(entry(bed, provider), public(name), "/")
        assert status == 200, body
        counted[json.loads(body)["version"]] += 1
    return counted


@pytest.mark.parametrize("provider", [ASKED], indirect=True)
@pytest.mark.usefixtures("pods")
def test_a_gateway_that_is_asked_needs_no_settle_time(bed: Bed, provider: str) -> None:
    """Ready as soon as it answers for the host, which is long before the settle time."""
    apply(bed, service("asked", "Standard", stub()))
    _wait_ready(bed, "asked")
    assert ask(entry(bed, provider), public("asked"), "/")[0] == 200
