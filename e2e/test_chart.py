"""The chart by the real helm, and what it makes before the real API server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from e2e import charts
from e2e.bed import helm
from e2e.bed.bed import Bed
from e2e.bed.kubectl import Refused
from ingressctl.api import configchecks, configmaps

PARTS = ()
"""Nothing here is of a kind that CRDs bring."""

each_set = pytest.mark.parametrize("values", charts.SETS.values(), ids=charts.SETS)


@pytest.fixture(autouse=True, scope="module")
def _helm_is_here() -> None:
    charts.need_helm()


@pytest.fixture(scope="module")
def cluster(bed: Bed) -> Bed:
    """A cluster with the namespaces that a release needs."""
    charts.make_namespaces(bed)
    return bed


def container(values: Mapping[str, Any]) -> dict[str, Any]:
    deployment = charts.one(charts.rendered(values), "Deployment", "ingressctl")
    (found,) = deployment["spec"]["template"]["spec"]["containers"]
    return dict(found)


def try_out(cluster: Bed, objects: list[dict[str, Any]]) -> str:
    """What the API server would make of the objects; a warning is a refusal."""
    return cluster.kubectl(
        "apply",
        "--server-side",
        "--dry-run=server",
        "--warnings-as-errors",
        "-o=name",
        "-f=-",
        stdin=yaml.safe_dump_all(objects),
    )


@each_set
def test_helm_has_nothing_to_say(values: Mapping[str, Any]) -> None:
    assert "1 chart(s) linted, 0 chart(s) failed" in helm.lint(values)


@each_set
def test_the_api_server_takes_every_object(cluster: Bed, values: Mapping[str, Any]) -> None:
    objects = charts.rendered(values)
    assert len(try_out(cluster, objects).split()) == len(objects)


def test_the_own_configuration_is_one_that_can_be_used() -> None:
    """Graphs are mounted, and their routers are this program."""
    made = charts.one(
        charts.rendered(charts.SETS["own configuration"]), "ConfigMap", "inferenceservice-config"
    )
    assert configchecks.faults(made["data"], gateway_optional=True) == ()
    assert configchecks.notices(made["data"], annotations={}) == ()
    router = configmaps.parse_router(made["data"]["router"])
    assert router.graphSource == "ConfigMap"
    assert router.command == ("ingressctl", "router")
    deployment = charts.one(charts.rendered({}), "Deployment", "ingressctl")
    (controller,) = deployment["spec"]["template"]["spec"]["containers"]
    assert router.image == controller["image"]


def test_a_pod_that_may_more_would_be_refused(cluster: Bed) -> None:
    """So the test above would tell if pods were not restricted."""
    deployment = charts.one(charts.rendered({}), "Deployment", "ingressctl")
    del deployment["spec"]["template"]["spec"]["securityContext"]["seccompProfile"]
    with pytest.raises(Refused, match="seccompProfile"):
        try_out(cluster, [deployment])


@each_set
def test_every_object_has_the_labels_of_the_release(values: Mapping[str, Any]) -> None:
    wanted = {"name", "instance", "version", "component", "part-of", "managed-by"}
    for obj in charts.rendered(values):
        labels = obj["metadata"]["labels"]
        assert wanted <= {key.removeprefix("app.kubernetes.io/") for key in labels}, obj["kind"]


@each_set
def test_services_and_policies_select_the_pods(values: Mapping[str, Any]) -> None:
    objects = charts.rendered(values)
    pods = [obj["spec"]["template"] for obj in objects if obj["kind"] == "Deployment"]
    for obj in objects:
        found = obj.get("spec", {}).get("podSelector") or obj.get("spec", {}).get("selector")
        if not found:
            continue
        wanted = (found.get("matchLabels") or found).items()
        hit = [pod for pod in pods if wanted <= pod["metadata"]["labels"].items()]
        assert len(hit) == 1, obj["metadata"]["name"]
        names = {port["name"] for item in hit[0]["spec"]["containers"] for port in item["ports"]}
        assert set(ports_of(obj)) <= names


def ports_of(obj: Mapping[str, Any]) -> Iterator[str]:
    """Names of container ports that a Service or a NetworkPolicy leads to."""
    if obj["kind"] == "Service":
        yield from (port["targetPort"] for port in obj["spec"]["ports"])
    if obj["kind"] == "NetworkPolicy":
        for rule in obj["spec"]["ingress"]:
            yield from (port["port"] for port in rule["ports"])


def test_every_port_of_a_pod_is_admitted_and_no_other() -> None:
    for values in ({}, {"providers": ["envoy"], "gateway": {"enabled": True}}):
        objects = charts.rendered(values)
        policies = [obj for obj in objects if obj["kind"] == "NetworkPolicy"]
        admitted = sorted(name for obj in policies for name in ports_of(obj))
        pods = [obj["spec"]["template"]["spec"] for obj in objects if obj["kind"] == "Deployment"]
        open_ports = [port["name"] for pod in pods for port in pod["containers"][0]["ports"]]
        assert admitted == sorted(open_ports)


def test_the_arguments_say_what_the_values_say() -> None:
    args = container(charts.SETS["everything"])["args"]
    assert args[0] == "run"
    assert {
        "--write=routes,workloads",
        "--controllers=InferenceService",
        "--selector=team=a,stage=live",
        "--compat=better,-Q4",
        "--settle-seconds=0",
        "--probe-gateway=kserve/public=10.0.0.1:80",
        "--leader-elect",
        "--xds-port=18000",
        f"--providers={','.join(sorted(charts.PROVIDERS))}",
        "--knative",
    } <= set(args)
    assert not [word for word in args if word.startswith(("--beside", "--namespace="))]
    shipped = container({})["args"]
    assert {"--write=routes", "--beside=kserve", "--config-namespace=kserve"} <= set(shipped)
    assert not {"--dry-run", "--xds-port=18000"} & set(shipped)
    assert {"--namespace=team-a", "--namespace=team-b"} <= set(
        container(charts.SETS["namespaced"])["args"]
    )
    assert "--cluster-scoped" in container(charts.SETS["namespaced"])["args"]
    assert "--no-cluster-scoped" in container(charts.SETS["within namespaces only"])["args"]
    assert "--no-knative" in container(charts.SETS["workloads without knative"])["args"]
    assert "--dry-run" in container(charts.SETS["dry run"])["args"]
    assert "--no-leader-elect" in container(charts.SETS["alone"])["args"]


@pytest.mark.parametrize(
    "name", ["shipped", "forced", "everything", "within namespaces only", "dry run", "alone"]
)
def test_the_program_takes_the_arguments(name: str) -> None:
    """All of them: only then it looks for a cluster, of which there is none here."""
    kept = {key: text for key, text in os.environ.items() if not key.startswith("KUBE")}
    ended = subprocess.run(
        [sys.executable, "-m", "ingressctl", *container(charts.SETS[name])["args"]],
        env={**kept, "KUBECONFIG": "/nonexistent"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "there is no kubeconfig /nonexistent" in ended.stderr


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"provider": "envoy"}, "not among providers"),
        ({"gateway": {"enabled": True}}, "needs envoy among providers"),
        ({"leaderElection": False}, "set replicas to 1"),
        ({"write": ["workloads"]}, "leave workloads out"),
        ({"configuration": {"create": True}}, "set configuration.create to false"),
        ({"provders": ["istio"]}, "provders"),
    ],
    ids=lambda item: item if isinstance(item, str) else "",
)
def test_contradictions_are_told(values: Mapping[str, Any], said: str) -> None:
    with pytest.raises(helm.Refused, match=said):
        charts.rendered(values)


def test_a_service_monitor_is_made_on_request() -> None:
    """Its kind is not of this cluster: only its form is looked at."""
    values = {"serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}}}
    monitor = charts.one(charts.rendered(values), "ServiceMonitor", "ingressctl")
    (endpoint,) = monitor["spec"]["endpoints"]
    service = charts.one(charts.rendered(values), "Service", "ingressctl-metrics")
    assert endpoint["port"] == service["spec"]["ports"][0]["name"]
    assert (
        monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    )
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
