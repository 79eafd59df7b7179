"""No right is idle: the API server's audit shows that the controller uses each role it is given.

One controller with all providers that write objects; the configuration moves a service from
one provider to the next, so that each makes its objects and has them removed again. That none
is missing is looked at by every test with a controller.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e import charts, controllers
from e2e.bed import apiserver, waiting
from e2e.bed import bed as beds
from e2e.bed.bed import Bed
from e2e.controllers import Controller
from ingressctl.plan import rights
from tests.unit.graph import making

SECONDS = 60
STANDARD = ("gateway_api", "ingress", "openshift", "traefik")
PROVIDERS = ("istio", *STANDARD)
WRITE = ("routes", "workloads")
VALUES = {"providers": list(PROVIDERS), "write": list(WRITE), "beside": ""}
ACCOUNT = f"system:serviceaccount:{charts.NAMESPACE}:ingressctl"
POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "users": [ACCOUNT]}, {"level": "None"}],
}
REFUSED = 400
UNASKED = frozenset(
    {"inferenceservices/finalizers", "inferencegraphs/finalizers", "routes/custom-host"}
)
"""Rights that admission looks at while something else is written."""

Used = frozenset[tuple[str, str, str]]
"""Verb, group and resource of requests."""


def config(standard: str) -> dict[str, Any]:
    ingress = {
        "provider": {"Knative": "istio", "Standard": standard},
        "kserveIngressGateway": "kserve/kserve-ingress-gateway",
        "ingressGateway": "knative-serving/knative-ingress-gateway",
        "localGateway": "knative-serving/knative-local-gateway",
        "localGatewayService": "knative-local-gateway.istio-system.svc.cluster.local",
        "ingressDomain": "example.com",
        "ingressClassName": "nginx",
    }
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "inferenceservice-config", "namespace": "kserve"},
        "data": {
            "deploy": '{"defaultDeploymentMode": "Standard"}',
            "ingress": json.dumps(ingress),
            "router": json.dumps(making.ROUTER | {"graphSource": "ConfigMap"}),
        },
    }


def service(name: str, mode: str) -> dict[str, Any]:
    container = {"name": "kserve-container", "image": "stub", "ports": [{"containerPort": 8080}]}
    return {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {
            "name": name,
            "namespace": "team-a",
            "annotations": {"serving.kserve.io/deploymentMode": mode},
        },
        "spec": {"predictor": {"containers": [container]}},
    }


DEPLOYED = {
    "conditions": [{"type": "Available", "status": "True", "reason": "x"}],
    "observedGeneration": 1,
    "replicas": 1,
    "readyReplicas": 1,
    "availableReplicas": 1,
    "updatedReplicas": 1,
}
SERVED = {
    "conditions": [
        {"type": kind, "status": "True"} for kind in ("Ready", "ConfigurationsReady", "RoutesReady")
    ],
    "observedGeneration": 1,
    "url": "http://served-predictor.team-a.example.com",
    "address": {"url": "http://served-predictor.team-a.svc.cluster.local"},
    "latestCreatedRevisionName": "served-predictor-00001",
    "latestReadyRevisionName": "served-predictor-00001",
    "traffic": [{"revisionName": "served-predictor-00001", "percent": 100, "latestRevision": True}],
}


@pytest.fixture(scope="module")
def audited(
    make_bed: Callable[..., Bed], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Bed, Path]:
    """A cluster that notes each request of the release's account."""
    charts.need_helm()
    folder = tmp_path_factory.mktemp("audit")
    policy, log = folder / "policy.yaml", folder / "audit.log"
    policy.write_text(yaml.safe_dump(POLICY))
    extra = (f"--audit-policy-file={policy}", f"--audit-log-path={log}")
    # No controllers beside: statuses of Deployments stay as they are put here.
    bed = make_bed((beds.CRDS,), api=apiserver.Settings(extra=extra))
    charts.make_namespaces(bed)
    apply(bed, config(STANDARD[0]))
    return bed, log


@pytest.fixture(scope="module")
def controller(audited: tuple[Bed, Path]) -> Controller:
    flags = (f"--write={','.join(WRITE)}", f"--providers={','.join(PROVIDERS)}")
    return controllers.started(
        audited[0], "--config-namespace=kserve", "--settle-seconds=0", *flags, values=VALUES
    )


def apply(bed: Bed, *objects: Mapping[str, Any]) -> None:
    bed.apply(yaml.safe_dump_all([dict(obj) for obj in objects]))


def exists(bed: Bed, kind: str, name: str) -> bool:
    return bool(bed.kubectl("get", kind, name, "-n", "team-a", "-o=name", "--ignore-not-found"))


def becomes(bed: Bed, kind: str, name: str, *, there: bool = True) -> None:
    text = f"{kind} {name} is {'there' if there else 'gone'}"
    waiting.until(text, lambda: exists(bed, kind, name) is there, seconds=SECONDS)


def let_serve(bed: Bed, kind: str, name: str, status: Mapping[str, Any]) -> None:
    """Say what Kubernetes or Knative would say once pods run."""
    becomes(bed, kind, name)
    patch = json.dumps({"status": status})
    where = ("-n", "team-a", "--subresource=status", "--type=merge")
    bed.kubectl("patch", kind, name, *where, f"--patch={patch}")


KINDS = {
    "gateway_api": "httproute.gateway.networking.k8s.io",
    "ingress": "ingress.networking.k8s.io",
    "openshift": "route.route.openshift.io",
    "traefik": "ingressroute.traefik.io",
}


def only(bed: Bed, provider: str) -> None:
    """Wait until the routes are this provider's, and nothing is left of the others."""

    def there() -> bool:
        words = ("get", ",".join(KINDS.values()), "-n", "team-a", "-o=name")
        kinds = {line.partition("/")[0] for line in bed.kubectl(*words).split()}
        return kinds == {KINDS[provider]}

    waiting.until(f"routes of {provider} alone", there, seconds=SECONDS)


def used(log: Path) -> Used:
    """What was asked for and granted, by the audit."""
    noted = (json.loads(line) for line in log.read_text().splitlines())
    return frozenset(
        (item["verb"], asked.get("apiGroup", ""), _resource(asked))
        for item in noted
        if (asked := item.get("objectRef")) and item["responseStatus"]["code"] < REFUSED
    )


def _resource(asked: Mapping[str, str]) -> str:
    sub = asked.get("subresource")
    return f"{asked['resource']}/{sub}" if sub else asked["resource"]


def test_no_right_is_idle(audited: tuple[Bed, Path], controller: Controller) -> None:
    bed, log = audited
    apply(bed, service("deployed", "Standard"), service("served", "Knative"))
    let_serve(bed, "deployment", "deployed-predictor", DEPLOYED)
    let_serve(bed, "services.serving.knative.dev", "served-predictor", SERVED)
    becomes(bed, "virtualservices", "served")
    use_graph(bed)
    for provider in (*STANDARD, STANDARD[0]):
        apply(bed, config(provider))
        only(bed, provider)
    stop(bed, "deployed", "served")
    becomes(bed, "deployment", "deployed-predictor", there=False)
    becomes(bed, "services.serving.knative.dev", "served-predictor", there=False)
    becomes(bed, "virtualservices", "served", there=False)
    controller.check()
    requests = used(log)
    assert not [text for text, needed in granted() if not needed & requests]


def use_graph(bed: Bed) -> None:
    """A graph with each of its autoscalers, mounted and as an argument, until it is stopped."""
    apply(bed, graph("hpa", 1))
    becomes(bed, "configmap", "pipe-graph")
    becomes(bed, "hpa", "pipe")
    apply(bed, graph("hpa", 2))
    waiting.until("two replicas", lambda: replicas(bed) == "2", seconds=SECONDS)
    apply(bed, graph("keda", 2))
    becomes(bed, "scaledobject", "pipe")
    becomes(bed, "hpa", "pipe", there=False)
    apply(bed, graph("keda", 3))
    waiting.until("three", lambda: replicas(bed, "scaledobject") == "3", seconds=SECONDS)
    bed.kubectl("annotate", "ig", "pipe", "-n", "team-a", "serving.kserve.io/stop=true")
    becomes(bed, "scaledobject", "pipe", there=False)
    becomes(bed, "configmap", "pipe-graph", there=False)


def graph(scaler: str, least: int) -> dict[str, Any]:
    """At least so many routers, by that class of autoscaler."""
    classes = {"serving.kserve.io/autoscalerClass": scaler}
    made = making.graph(
        {"serviceUrl": f"http://model.elsewhere/{least}"},
        annotations=making.STANDARD | classes,
        minReplicas=least,
        maxReplicas=5,
        scaleMetric="cpu",
        scaleTarget=70,
    )
    for key in ("uid", "generation", "creationTimestamp"):
        del made["metadata"][key]
    return made


def replicas(bed: Bed, kind: str = "hpa") -> str:
    field = "minReplicas" if kind == "hpa" else "minReplicaCount"
    return bed.kubectl("get", kind, "pipe", "-n", "team-a", "-o", f"jsonpath={{.spec.{field}}}")


def stop(bed: Bed, *names: str) -> None:
    """What these services have made is to be removed."""
    bed.kubectl(
        "annotate", "inferenceservices", *names, "-n", "team-a", "serving.kserve.io/stop=true"
    )


def granted() -> Iterator[tuple[str, Used]]:
    """Each right of the release, with the requests of which one shows that it is used.

    Apply asks for the right to create within a request to patch. Single objects of what is
    watched are read only when a write was refused because the picture was behind.
    """
    features = rights.features(providers=PROVIDERS, write=frozenset(WRITE), knative=True)
    for role in rights.granted(rights.roles(charts.PROVIDERS.values()), features):
        for rule in role.rules:
            for verb in rule.verbs:
                if rule.resource in UNASKED or (verb == "get" and "watch" in rule.verbs):
                    continue
                shown = {verb, "patch"} if verb == "create" and "patch" in rule.verbs else {verb}
                needed = frozenset((item, rule.group, rule.resource) for item in shown)
                yield f"{role.name}: {verb} {rule.resource}", needed
