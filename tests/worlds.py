"""Worlds of InferenceServices to try providers, explain and proxies on.

`make(seed)` gives one world, always the same for one seed and cheap: configuration,
gateways, InferenceServices in both modes with their Services, Knative Services and status,
and requests that are likely to hit, miss by a little, or miss. Everybody who compares two
ways of answering uses these worlds.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

from ingressctl.api.refs import Raw
from ingressctl.core.table import Request
from ingressctl.core.world import World

NAMES = ("iris", "iris-2", "income", "a-predictor", "x", "iris-explainer-x")
NAMESPACES = ("team-a", "team-b")
DOMAIN = "example.com"
EXTRA = "models.example.org"
GATEWAY = "knative-serving/knative-ingress-gateway"
LOCAL_GATEWAY = "knative-serving/knative-local-gateway"
KSERVE_GATEWAY = "kserve/kserve-ingress-gateway"
LOCAL_SERVICE = "knative-local-gateway.istio-system.svc.cluster.local"
CLASS = "nginx"


@dataclass
class Generated:
    """A world, and requests to ask of it. `public` are the hosts that outside may use."""

    seed: int
    objects: list[Raw] = field(default_factory=list)
    public: list[str] = field(default_factory=list)
    local: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    likely: list[tuple[str, str]] = field(default_factory=list)
    """Hosts with paths that lead somewhere."""

    @property
    def world(self) -> World:
        return World.of(self.objects)

    def requests(self, count: int) -> list[Request]:
        """So many requests at the public gateway, without entry."""
        choose = random.Random(f"requests of {self.seed}")
        return [self._request(choose, self.public) for _ in range(count)]

    def local_requests(self, count: int) -> list[Request]:
        """So many requests from inside the cluster."""
        choose = random.Random(f"local requests of {self.seed}")
        return [self._request(choose, self.local) for _ in range(count)] if self.local else []

    def _request(self, choose: random.Random, hosts: list[str]) -> Request:
        host, path = choose.choice(hosts), choose.choice(self.paths)
        if self.likely and hosts is self.public and choose.random() < 0.6:
            host, path = choose.choice(self.likely)
        host = choose.choice((host, host, host, host.upper(), f"{host}:8080", f"x{host}"))
        headers = choose.choice(
            (
                {},
                {},
                {"content-type": "application/json"},
                {"content-type": "application/grpc"},
                {"content-type": "application/grpc+proto"},
                {"kserve-isvc-name": "forged"},
            )
        )
        method = choose.choice(("POST", "POST", "GET"))
        return Request(method, host, path, headers)


def make(
    seed: int, *, modes: tuple[str, ...] = ("Standard", "Knative"), graphs: bool = False
) -> Generated:
    """The world of a seed with InferenceServices in these modes, and InferenceGraphs of them."""
    choose = random.Random(f"world {seed}")
    made = Generated(seed)
    ingress = _ingress(choose)
    made.objects += [*_configuration(ingress), *_gateways()]
    if choose.random() < 0.5:
        made.objects.append(_grant())
    made.paths += ["/", "/v1/models", "/unknown", "/v2/models/m/infer?x=1", "/.well-known/x"]
    made.paths += [
        "/inference.GRPCInferenceService/ModelInfer",
        "/grpc.health.v1.Health/Check",
        "/tensorflow.serving.PredictionService/Predict",
    ]
    made.public += [DOMAIN, "nobody.example.com", "localhost"]
    pairs = [(name, space) for name in NAMES for space in NAMESPACES]
    for place, (name, space) in enumerate(choose.sample(pairs, choose.randint(1, 4))):
        _service(made, ingress, name, space, choose.choice(modes), choose, place)
    if graphs:
        _graphs(made, ingress, modes)
    return made


GRAPHS = ("pipe", "split", "iris", "income")
"""Names of graphs; some are those of services, which then want the same host."""


def _graphs(made: Generated, ingress: dict[str, Any], modes: tuple[str, ...]) -> None:
    """Graphs over the services that there are, over some that are missing, and over graphs."""
    choose = random.Random(f"graphs of {made.seed}")
    _mount_graphs(made, choose)
    for name in choose.sample(GRAPHS, choose.randint(1, 3)):
        space = choose.choice(NAMESPACES)
        services = [
            obj["metadata"]["name"]
            for obj in made.objects
            if obj["kind"] == "InferenceService" and obj["metadata"]["namespace"] == space
        ]
        target: dict[str, Any] = choose.choice(
            (
                {"serviceUrl": "http://model.elsewhere.svc.cluster.local/"},
                {"serviceName": choose.choice([*services, "missing"])},
                {"graphName": choose.choice(GRAPHS)},
            )
        )
        annotations = {"serving.kserve.io/deploymentMode": choose.choice(modes)}
        annotations |= choose.choice(
            (
                {},
                {},
                {"serving.kserve.io/autoscalerClass": "keda"},
                {"serving.kserve.io/autoscalerClass": "none"},
                {"serving.kserve.io/stop": "true"},
            )
        )
        local = {"networking.kserve.io/visibility": "cluster-local"}
        made.objects.append(
            _object(
                "serving.kserve.io/v1alpha1",
                "InferenceGraph",
                name,
                space,
                labels=choose.choice(({}, {}, {}, local)),
                annotations=annotations,
                uid=f"uid-graph-{space}-{name}",
                created=choose.randint(0, 9),
                spec={"nodes": {"root": {"routerType": "Sequence", "steps": [target]}}},
            )
        )
        dash = "-" if ".Name }}-" in ingress["domainTemplate"] else "."
        made.public.append(f"{name}{dash}{space}.{DOMAIN}")
        made.likely.append((made.public[-1], "/"))


def _mount_graphs(made: Generated, choose: random.Random) -> None:
    """The configuration with a key for routers, in some worlds with mounted graphs."""
    router = {
        "image": "router",
        "memoryRequest": "1Mi",
        "memoryLimit": "1Mi",
        "cpuRequest": "1m",
        "cpuLimit": "1m",
    }
    if choose.random() < 0.5:
        router["graphSource"] = "ConfigMap"
    data = {**made.objects[0]["data"], "router": json.dumps(router)}
    made.objects[0] = {**made.objects[0], "data": data}


def _ingress(choose: random.Random) -> dict[str, Any]:
    ingress: dict[str, Any] = {
        "enableGatewayApi": choose.random() < 0.5,
        "kserveIngressGateway": KSERVE_GATEWAY,
        "ingressGateway": GATEWAY,
        "localGateway": LOCAL_GATEWAY,
        "localGatewayService": LOCAL_SERVICE,
        "knativeLocalGatewayService": LOCAL_SERVICE,
        "ingressDomain": DOMAIN,
        "ingressClassName": CLASS,
        "domainTemplate": choose.choice(
            (
                "{{ .Name }}-{{ .Namespace }}.{{ .IngressDomain }}",
                "{{ .Name }}.{{ .Namespace }}.{{ .IngressDomain }}",
            )
        ),
    }
    if choose.random() < 0.5:
        ingress["pathTemplate"] = choose.choice(
            ("/serving/{{ .Namespace }}/{{ .Name }}", "/{{ .Namespace }}/{{ .Name }}/")
        )
    if choose.random() < 0.3:
        ingress["additionalIngressDomains"] = [EXTRA]
    return ingress


def _configuration(ingress: dict[str, Any]) -> list[Raw]:
    return [
        _object(
            "v1",
            "ConfigMap",
            "inferenceservice-config",
            "kserve",
            data={
                "ingress": json.dumps(ingress),
                "deploy": json.dumps({"defaultDeploymentMode": "Standard"}),
            },
        ),
        _object("v1", "ConfigMap", "config-domain", "knative-serving", data={DOMAIN: ""}),
        _object(
            "serving.kserve.io/v1alpha1",
            "ClusterServingRuntime",
            "kserve-sklearnserver",
            "",
            spec={
                "supportedModelFormats": [{"name": "sklearn", "version": "1", "autoSelect": True}],
                "containers": [{"name": "kserve-container", "image": "sklearnserver"}],
            },
        ),
    ]


def _gateways() -> list[Raw]:
    """Istio's gateways with the Services before them, and a Gateway API Gateway."""
    objects: list[Raw] = []
    for name, label in (
        (GATEWAY, "ingressgateway"),
        (LOCAL_GATEWAY, "local"),
    ):
        space, _, bare = name.partition("/")
        server = {"hosts": ["*"], "port": {"name": "http", "number": 80, "protocol": "HTTP"}}
        objects.append(
            _object(
                "networking.istio.io/v1",
                "Gateway",
                bare,
                space,
                spec={"selector": {"istio": label}, "servers": [server]},
            )
        )
    listener = {
        "name": "http",
        "port": 80,
        "protocol": "HTTP",
        "allowedRoutes": {"namespaces": {"from": "All"}},
    }
    space, _, bare = KSERVE_GATEWAY.partition("/")
    objects.append(
        _object(
            "gateway.networking.k8s.io/v1",
            "Gateway",
            bare,
            space,
            spec={"gatewayClassName": "envoy", "listeners": [listener]},
        )
    )
    objects.append(
        _object(
            "gateway.networking.k8s.io/v1",
            "GatewayClass",
            "envoy",
            "",
            spec={"controllerName": "gateway.envoyproxy.io/gatewayclass-controller"},
        )
    )
    objects.append(_service_object("knative-local-gateway", "istio-system", {"http2": 80}))
    return objects


def _grant() -> Raw:
    """Lets HTTPRoutes of the namespaces lead to Knative's local gateway."""
    group = "gateway.networking.k8s.io"
    sources = [{"group": group, "kind": "HTTPRoute", "namespace": space} for space in NAMESPACES]
    return _object(
        f"{group}/v1beta1",
        "ReferenceGrant",
        "to-knative",
        "istio-system",
        spec={"from": sources, "to": [{"group": "", "kind": "Service"}]},
    )


def _service(
    made: Generated,
    ingress: dict[str, Any],
    name: str,
    space: str,
    mode: str,
    choose: random.Random,
    place: int,
) -> None:
    spec: dict[str, Any] = {"predictor": {"model": {"modelFormat": {"name": "sklearn"}}}}
    if choose.random() < 0.3:
        spec["predictor"]["timeout"] = choose.choice((5, 600))
    components = ["predictor"]
    for extra in ("transformer", "explainer"):
        if choose.random() < 0.4:
            spec[extra] = {"containers": [{"name": "kserve-container", "image": extra}]}
            components.append(extra)
    status: dict[str, Any] = {"conditions": [], "components": {}}
    for component in components:
        ready = {"type": f"{component.title()}Ready", "status": "True"}
        status["conditions"].append(ready)
    labels: dict[str, str] = {}
    if choose.random() < 0.15:
        labels["networking.knative.dev/visibility"] = "cluster-local"
        labels["networking.kserve.io/visibility"] = "cluster-local"
    if mode == "Knative":
        _knative(made, name, space, components, status, labels, choose)
    else:
        _standard(made, name, space, components, spec, status, choose)
    made.objects.append(
        _object(
            "serving.kserve.io/v1beta1",
            "InferenceService",
            name,
            space,
            labels=labels,
            annotations={"serving.kserve.io/deploymentMode": mode},
            uid=f"uid-{space}-{name}",
            created=place,
            spec=spec,
            status=status,
        )
    )
    _ask(made, ingress, name, space, components)


def _knative(
    made: Generated,
    name: str,
    space: str,
    components: list[str],
    status: dict[str, Any],
    labels: dict[str, str],
    choose: random.Random,
) -> None:
    local = bool(labels)
    domain = "svc.cluster.local" if local else DOMAIN
    for component in components:
        full = f"{name}-{component}"
        status["components"][component] = {"url": f"http://{full}.{space}.{domain}"}
        split = choose.choice((None, 10, 50)) if component == "predictor" else None
        made.objects.append(_knative_service(full, space, labels, split))
        made.local += [f"{full}.{space}.svc.cluster.local"]
        if split:
            made.local += [f"prev-{full}.{space}.svc.cluster.local"]
            made.public += [] if local else [f"prev-{full}.{space}.{domain}"]
        made.public += [] if local else [f"{full}.{space}.{domain}"]


def _knative_service(name: str, space: str, labels: dict[str, str], split: int | None) -> Raw:
    latest = f"{name}-00001" if split is None else f"{name}-00002"
    traffic: list[dict[str, Any]] = [{"latestRevision": True, "percent": split or 100}]
    if split:
        previous = {"revisionName": f"{name}-00001", "percent": 100 - split, "tag": "prev"}
        traffic = [{**traffic[0], "tag": "latest"}, previous]
    return _object(
        "serving.knative.dev/v1",
        "Service",
        name,
        space,
        labels=labels,
        spec={"traffic": traffic, "template": {"spec": {"timeoutSeconds": 300}}},
        status={"latestReadyRevisionName": latest, "latestCreatedRevisionName": latest},
    )


def _standard(
    made: Generated,
    name: str,
    space: str,
    components: list[str],
    spec: dict[str, Any],
    status: dict[str, Any],
    choose: random.Random,
) -> None:
    ports = choose.choice(({"http": 80}, {"http": 80, "grpc": 9000}))
    for component in components:
        full = ports if component == "predictor" else {"http": 80}
        made.objects.append(_service_object(f"{name}-{component}", space, full))
    for canary in choose.sample(("v2", "v3"), choose.choice((0, 0, 1, 2))):
        share = choose.choice((0, 10, 25, 50))
        spec.setdefault("canary", []).append(
            {"trafficPercent": share, "predictor": {"name": canary, **spec["predictor"]}}
        )
        ready = choose.random() < 0.8
        status.setdefault("canaryStatuses", []).append({"name": canary, "ready": ready})
        made.objects.append(_service_object(f"{name}-{canary}-predictor", space, ports))


def _ask(
    made: Generated, ingress: dict[str, Any], name: str, space: str, components: list[str]
) -> None:
    dash = "-" if ".Name }}-" in ingress["domainTemplate"] else "."
    own = [f"/v1/models/{name}:predict", f"/v1/models/{name}:explain", "/", "/v2/models/m/infer"]
    for part in (name, *(f"{name}-{component}" for component in components)):
        for domain in (DOMAIN, EXTRA):
            made.public.append(f"{part}{dash}{space}.{domain}")
            made.likely += [(made.public[-1], path) for path in own]
    made.local += [f"{name}.{space}{end}" for end in ("", ".svc", ".svc.cluster.local")]
    made.paths += [f"/v1/models/{name}:predict", f"/v1/models/{name}:explain"]
    made.paths += ["/v1/models/other.name:explain", f"/v1/models/{name}:explain/more"]
    template = ingress.get("pathTemplate", "/serving/{{ .Namespace }}/{{ .Name }}")
    below = template.replace("{{ .Namespace }}", space).replace("{{ .Name }}", name).rstrip("/")
    rest = ("", "/", "2", f"/v1/models/{name}:predict?raw=1", f"/v1/models/{name}:explain")
    made.paths += [below + end for end in rest]
    made.likely += [(DOMAIN, below + end) for end in rest]


def _service_object(name: str, space: str, ports: dict[str, int]) -> Raw:
    listed = [
        {"name": port, "port": number, "targetPort": number + 8000, "protocol": "TCP"}
        for port, number in ports.items()
    ]
    return _object("v1", "Service", name, space, spec={"ports": listed})


def _object(
    version: str,
    kind: str,
    name: str,
    space: str,
    *,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    uid: str = "",
    created: int = 0,
    **body: Any,
) -> Raw:
    metadata: dict[str, Any] = {
        "name": name,
        "creationTimestamp": f"2026-01-01T00:00:{created:02d}Z",
    }
    if space:
        metadata["namespace"] = space
    if labels:
        metadata["labels"] = dict(labels)
    if annotations:
        metadata["annotations"] = annotations
    if uid:
        metadata["uid"] = uid
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **body}
