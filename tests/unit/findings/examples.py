"""For each code a world in which it is found and one in which it is silent.

The two differ only in what the finding is about.
"""

from __future__ import annotations

from dataclasses import dataclass

from ingressctl.api.refs import INGRESS_CLASS_ANNOTATION
from tests.unit.findings.objects import (
    STANDARD,
    Obj,
    config,
    config_map,
    gateway,
    graph,
    http_route,
    istio_gateway,
    knative,
    obj,
    service,
    standard,
    virtual_service,
)

CLUSTER_LOCAL = "cluster-local"
KNATIVE_KEY = "networking.knative.dev/visibility"
KSERVE_KEY = "networking.kserve.io/visibility"
RETIRED_KEY = "serving.knative.dev/visibility"
LONG = "a-model-with-a-name-as-long-as-names-may-just-be"
PUBLIC = istio_gateway("knative-ingress-gateway", "knative-serving")
LOCAL = istio_gateway("knative-local-gateway", "knative-serving")
KNATIVE_MODE = {"serving.kserve.io/deploymentMode": "Knative"}
GATEWAY_API = {"enableGatewayApi": True}
CANARY = {
    "canary": [
        {
            "trafficPercent": 20,
            "predictor": {"name": "v2", "model": {"modelFormat": {"name": "sklearn"}}},
        }
    ]
}
CANARY_READY = {"canaryStatuses": [{"name": "v2", "ready": True}]}
OLD = "2025-01-01T00:00:00Z"


@dataclass(frozen=True)
class Example:
    """`finds` and `silent` are worlds; `compat` and `objects` narrow what is found."""

    code: str
    finds: tuple[Obj, ...]
    silent: tuple[Obj, ...]
    names: tuple[str, ...] = ()
    compat: str = "better"


def _labelled(key: str, value: str = CLUSTER_LOCAL) -> Obj:
    return knative(labels={key: value})


def _ksvc(name: str) -> Obj:
    labels = {"serving.kserve.io/inferenceservice": "iris"}
    return obj("serving.knative.dev/v1", "Service", name, labels=labels)


def _model(**fields: object) -> Obj:
    return knative(predictor={"model": {"modelFormat": {"name": "sklearn"}} | fields})


def _canary_model(**fields: object) -> Obj:
    model = {"modelFormat": {"name": "sklearn"}} | fields
    predictor = {"name": "v2", "model": model}
    return standard(spec={"canary": [{"trafficPercent": 20, "predictor": predictor}]})


def _prefix(value: str) -> list[Obj]:
    return [{"uri": {"prefix": value}}]


def _partner(host: str) -> Obj:
    headers = {"headers": {"request": {"set": {"Host": host}}}}
    target = "knative-local-gateway.istio-system.svc.cluster.local"
    return virtual_service("partner", "team-a", "p.example.com", target=target, http=headers)


def _service_key(text: str) -> Obj:
    return config_map("inferenceservice-config", {"service": text}, "kserve")


def _ingress(name: str, port: int) -> Obj:
    backend = {"service": {"name": name, "port": {"number": port}}}
    path = {"path": "/", "pathType": "Prefix", "backend": backend}
    spec = {"rules": [{"host": "w.example.com", "http": {"paths": [path]}}]}
    return obj("networking.k8s.io/v1", "Ingress", name, spec=spec)


def _class(name: str) -> Obj:
    return obj("networking.k8s.io/v1", "IngressClass", name, "")


def _gateway_class(name: str) -> Obj:
    return obj("gateway.networking.k8s.io/v1", "GatewayClass", name, "")


def _programmed(status: str) -> Obj:
    condition = {"type": "Programmed", "status": status, "message": "no address"}
    return gateway() | {"status": {"conditions": [condition]}}


def _external_gateways(text: str) -> Obj:
    return config_map("config-istio", {"external-gateways": text})


RENAMED = "iris-predictor-default.team-a.svc.cluster.local"
ROUTED = (config(**GATEWAY_API), service(), standard())
SPLIT = standard(spec=CANARY, status=CANARY_READY)
BEHIND = {"transformer": {"containers": [{"name": "kserve-container", "image": "t"}]}}

MODEL = "v1/models/pipe:predict"

EXAMPLES = (
    Example(
        "IC1102",
        (config_map("inferenceservice-config", {"ingress": '{"ingressDomain": 3}'}, "kserve"),),
        (config(),),
        ("ConfigMap kserve/inferenceservice-config",),
    ),
    Example(
        "IC1102",
        (config(), graph()),
        (config(), knative()),
        ("ConfigMap kserve/inferenceservice-config",),
    ),
    Example(
        "IC1304",
        (graph(annotations=KNATIVE_MODE, status={"deploymentMode": "Standard"}),),
        (graph(annotations=STANDARD, status={"deploymentMode": "Standard"}),),
        ("InferenceGraph team-a/pipe",),
        compat="better,-Q45",
    ),
    Example("IC1103", (config(ingressDomian="x.org"),), (config(),)),
    Example(
        "IC1104",
        (config_map("config-network", {"_example": "domain-template: x"}),),
        (config_map("config-network", {"domain-template": "{{.Name}}.{{.Domain}}"}),),
        ("ConfigMap knative-serving/config-network",),
    ),
    Example("IC1105", (config(INGRESSCLASSNAME="nginx"),), (config(),)),
    Example("IC1110", (_labelled("serving.knative.dev/visibility"),), (_labelled(KNATIVE_KEY),)),
    Example("IC1110", (_labelled(KNATIVE_KEY, "clusterlocal"),), (_labelled("stage", "local"),)),
    Example(
        "IC1106",
        (config(additionalIngressDomains=["*.foo.com"]),),
        (config(additionalIngressDomains=["foo.com"]),),
        ("ConfigMap kserve/inferenceservice-config",),
    ),
    *(
        Example("IC1110", (_labelled(key, value),), (_labelled(KNATIVE_KEY),))
        for key in (KNATIVE_KEY, KSERVE_KEY, RETIRED_KEY)
        for value in ("private", "true", "")
    ),
    *(
        Example("IC1110", (knative(annotations={key: value}),), (_labelled(KNATIVE_KEY),))
        for key in (KNATIVE_KEY, KSERVE_KEY, RETIRED_KEY)
        for value in (CLUSTER_LOCAL, "cluster-local ", "private")
    ),
    Example("IC1113", (_labelled(KNATIVE_KEY, "public"),), (_labelled("stage", "public"),)),
    *(
        Example(
            "IC1110",
            (graph(labels={key: value}, annotations=annotations),),
            (graph(labels={right: CLUSTER_LOCAL}, annotations=annotations),),
            ("InferenceGraph team-a/pipe",),
        )
        for annotations, right in ((STANDARD, KSERVE_KEY), ({}, KNATIVE_KEY))
        for key, value in ((right, "Cluster-Local"), (RETIRED_KEY, CLUSTER_LOCAL), (right, ""))
    ),
    Example(
        "IC1110",
        (graph(annotations=STANDARD | {KSERVE_KEY: CLUSTER_LOCAL}),),
        (graph(annotations=STANDARD),),
        ("InferenceGraph team-a/pipe",),
    ),
    Example(
        "IC1111",
        (graph(labels={KSERVE_KEY: CLUSTER_LOCAL}),),
        (graph(labels={KNATIVE_KEY: CLUSTER_LOCAL}),),
        ("InferenceGraph team-a/pipe",),
    ),
    Example("IC1111", (_labelled(KSERVE_KEY),), (_labelled(KNATIVE_KEY),), compat="kserve,+Q27"),
    Example("IC1112", (_labelled(KSERVE_KEY),), (_labelled(KNATIVE_KEY),)),
    Example(
        "IC1120",
        (knative(predictor={"canaryTraficPercent": 10}),),
        (knative(predictor={"canaryTrafficPercent": 10, "tolerations": [], "hostNetwork": True}),),
        ("InferenceService team-a/iris",),
    ),
    Example("IC1120", (_model(storageURI="s3://x"),), (_model(storageUri="s3://x", env=[]),)),
    Example("IC1120", (_canary_model(runtim="x"),), (_canary_model(runtime="x"),)),
    Example(
        "IC1121",
        (obj("serving.kserve.io/v1beta1", "InferenceServise", "iris"),),
        (obj("serving.kserve.io/v1alpha1", "TrainedModel", "iris"),),
        ("InferenceServise team-a/iris",),
    ),
    Example(
        "IC1121",
        (obj("gateway.networking.k8s.io/v1", "HttpRoute", "iris"),),
        (obj("gateway.networking.k8s.io/v1", "TCPRoute", "iris"),),
    ),
    Example(
        "IC1121",
        (obj("serving.kubeflow.org/v1beta1", "InferenceService", "iris"),),
        (obj("example.org/v1", "Gateway", "iris"), obj("example.org/v1", "Thing", "iris")),
    ),
    Example(
        "IC1122",
        (knative() | {"apiVersion": "serving.kserve.io/v1beta2"},),
        (knative(), virtual_service("x", "y", "z"), gateway()),
    ),
    Example(
        "IC1122",
        (knative() | {"apiVersion": "serving.kserve.io/v1alpha1"},),
        (http_route("x", "y", "z.org") | {"apiVersion": "gateway.networking.k8s.io/v1alpha2"},),
    ),
    Example(
        "IC1123",
        (obj("serving.kserve.io/v1alpha1", "LLMInferenceService", "g"),),
        (knative(),),
    ),
    Example("IC1303", (_service_key("{"),), (_service_key("{}"),)),
    Example("IC1302", (knative("My_Model"),), (knative(),)),
    Example(
        "IC2001",
        (config(ingressClassName="nginx"), standard(LONG)),
        (config(), standard()),
    ),
    Example("IC2002", (config(pathTemplate="x/{{ .Name }}"), knative()), (config(), knative())),
    Example("IC2003", (knative(LONG, predictor={"name": "version-two"}),), (knative(LONG),)),
    Example(
        "IC2010",
        (knative(url="https://iris-predictor.team-a.example.com"),),
        (knative(),),
    ),
    Example(
        "IC2011",
        (knative(url="http://iris-predictor.team-a.svc.cluster.local"),),
        (
            knative(
                url="http://iris-predictor.team-a.svc.cluster.local",
                labels={KNATIVE_KEY: CLUSTER_LOCAL},
            ),
        ),
    ),
    Example(
        "IC2011",
        (knative(url=""), config_map("config-domain", {"svc.cluster.local": ""})),
        (knative(url=""), config_map("config-domain", {"example.com": ""})),
        ("InferenceService team-a/iris", "ConfigMap knative-serving/config-domain"),
    ),
    Example(
        "IC1601",
        (config(), service(), standard(status={"deploymentMode": "Serverless"})),
        (config(), service(), standard(status={"deploymentMode": "RawDeployment"})),
        ("InferenceService team-a/iris",),
    ),
    Example(
        "IC2610",
        (config(**GATEWAY_API, urlScheme="http"), service(), standard(), gateway(protocol="HTTPS")),
        (config(**GATEWAY_API, urlScheme="http"), service(), standard(), gateway()),
        ("InferenceService team-a/iris", "Gateway kserve/kserve-ingress-gateway"),
    ),
    Example(
        "IC5601",
        (config(), standard(annotations={INGRESS_CLASS_ANNOTATION: "public"})),
        (config(), standard(annotations={INGRESS_CLASS_ANNOTATION: "nginx"})),
        ("InferenceService team-a/iris",),
    ),
    Example(
        "IC2101",
        (standard("a-b", "c"), standard("a", "b-c")),
        (standard("a-b", "c"), standard("a", "d-c")),
        ("InferenceService c/a-b", "InferenceService b-c/a"),
    ),
    Example(
        "IC2201",
        (*ROUTED, http_route("by-hand", "platform", "iris-team-a.example.com", created=OLD)),
        (*ROUTED, http_route("by-hand", "platform", "other.example.com", created=OLD)),
        ("HTTPRoute platform/by-hand", "HTTPRoute team-a/iris"),
    ),
    Example(
        "IC2202",
        (
            config(pathTemplate="/serving/{{ .Namespace }}/{{ .Name }}"),
            knative(),
            virtual_service("dashboard", "kubeflow", "*"),
        ),
        (config(), knative(), virtual_service("dashboard", "kubeflow", "*")),
        ("VirtualService team-a/iris", "VirtualService kubeflow/dashboard"),
    ),
    Example(
        "IC2203",
        (
            virtual_service("a", "x", "www.example.com", match=_prefix("/test"), created=OLD),
            virtual_service("b", "x", "www.example.com", match=_prefix("/test2")),
        ),
        (
            virtual_service("a", "x", "www.example.com", match=_prefix("/test/"), created=OLD),
            virtual_service("b", "x", "www.example.com", match=_prefix("/test2/")),
        ),
        ("VirtualService x/a", "VirtualService x/b"),
    ),
    Example("IC3202", (standard(predictor={"canaryTrafficPercent": 20}),), (SPLIT,)),
    Example("IC3203", (knative(spec=CANARY),), (SPLIT,)),
    Example(
        "IC3204",
        (standard(spec=CANARY | BEHIND, status=CANARY_READY),),
        (SPLIT,),
    ),
    Example(
        "IC3205",
        (standard(annotations={"serving.kserve.io/enable-tag-routing": "true"}),),
        (knative(annotations={"serving.kserve.io/enable-tag-routing": "true"}),),
    ),
    Example(
        "IC3210", (knative(predictor={"timeout": 601}),), (knative(predictor={"timeout": 600}),)
    ),
    Example(
        "IC3211",
        (
            config(**GATEWAY_API),
            service(),
            standard(
                spec={"canary": [CANARY["canary"][0] | {"trafficPercent": 120}]},
                status=CANARY_READY,
            ),
        ),
        (config(**GATEWAY_API), service(), SPLIT),
    ),
    Example(
        "IC3307",
        (service("other", 80), _ingress("web", 80)),
        (service("web", 80), _ingress("web", 80)),
        ("Ingress team-a/web",),
    ),
    Example(
        "IC3401",
        (service("web", 9000), _ingress("web", 80)),
        (service("web", 9000), _ingress("web", 9000)),
        ("Ingress team-a/web", "Service team-a/web"),
    ),
    Example(
        "IC3402", (_ksvc("iris-predictor-default"), knative()), (_ksvc("iris-predictor"), knative())
    ),
    Example(
        "IC3403",
        (_ksvc("iris-predictor-default"), knative(), _partner(RENAMED)),
        (_ksvc("iris-predictor-default"), knative(), _partner("other.team-a.svc.cluster.local")),
        ("VirtualService team-a/partner",),
    ),
    Example(
        "IC3404",
        (_ksvc("iris-predictor-default"), knative()),
        (_ksvc("iris-predictor"), knative()),
        ("KService team-a/iris-predictor-default",),
    ),
    Example(
        "IC4301",
        (config(pathTemplate="/{{ .Namespace }}/{{ .Name }}"), standard()),
        (config(pathTemplate="/{{ .Namespace }}/{{ .Name }}", **GATEWAY_API), standard()),
    ),
    Example(
        "IC5001",
        (config(), knative(), istio_gateway("other", "istio-system")),
        (config(), knative(), PUBLIC, LOCAL),
        ("VirtualService team-a/iris",),
    ),
    Example("IC5002", (config(), knative()), (config(), knative(), PUBLIC, LOCAL)),
    Example(
        "IC5003", (config(), standard(), _class("istio")), (config(), standard(), _class("nginx"))
    ),
    Example(
        "IC5004",
        (*ROUTED, gateway(), _gateway_class("other")),
        (*ROUTED, gateway(), _gateway_class("envoy")),
        ("Gateway kserve/kserve-ingress-gateway",),
    ),
    Example("IC5005", (*ROUTED, _programmed("False")), (*ROUTED, _programmed("True"))),
    Example(
        "IC5006",
        (config(), knative(annotations={"serving.kserve.io/ingress-gateways": "x/y"})),
        (
            config(ingressGateways=["x/y"]),
            knative(annotations={"serving.kserve.io/ingress-gateways": "x/y"}),
        ),
    ),
    Example(
        "IC5007",
        (config(ingressClassName="istio"), standard()),
        (config(ingressClassName="istio"), standard(), _class("istio")),
    ),
    Example(
        "IC5008",
        (config(), knative(), _external_gateways("- {name: other, namespace: istio-system}")),
        (
            config(),
            knative(),
            _external_gateways("- {name: knative-ingress-gateway, namespace: knative-serving}"),
        ),
    ),
    Example(
        "IC5009",
        (*ROUTED, gateway(allowedRoutes={"namespaces": {"from": "Same"}})),
        (*ROUTED, gateway()),
        ("HTTPRoute team-a/iris", "Gateway kserve/kserve-ingress-gateway"),
    ),
    Example(
        "IC5101",
        (config(), knative(), service("iris")),
        (config(), knative(), service("another")),
        ("Service team-a/iris",),
    ),
    Example(
        "IC6001",
        (graph(nodes={"lost": {"routerType": "Sequence", "steps": [{"serviceName": "a"}]}}),),
        (graph(),),
        ("InferenceGraph team-a/pipe",),
    ),
    Example(
        "IC6002",
        (graph({"serviceName": "iris"}),),
        (graph({"serviceName": "iris"}), knative(status={"address": {"url": "http://iris"}})),
        ("InferenceGraph team-a/pipe",),
    ),
    Example(
        "IC6003",
        (config(), graph({"serviceUrl": "http://iris.team-a.example.com/"})),
        (config(), graph({"serviceUrl": "http://iris.elsewhere.org/"})),
        ("InferenceGraph team-a/pipe",),
    ),
    Example(
        "IC6003",
        (
            config(),
            graph({"serviceName": "a", "fallback": {"serviceUrl": "http://b.example.com/"}}),
        ),
        (config(), graph({"serviceName": "a", "fallback": {"serviceName": "b"}})),
    ),
    Example(
        "IC6005",
        (config(), graph({"serviceUrl": f"http://pipe.team-a.svc/{MODEL}"})),
        (config(), graph({"serviceUrl": f"http://other.team-a.svc/{MODEL}"})),
        ("InferenceGraph team-a/pipe",),
    ),
    Example(
        "IC6004",
        (graph(annotations={"autoscaling.knative.dev/initial-scale": "0"}),),
        (
            graph(annotations={"autoscaling.knative.dev/initial-scale": "0"}),
            config_map("config-autoscaler", {"allow-zero-initial-scale": "true"}),
        ),
        ("InferenceGraph team-a/pipe",),
    ),
    Example(
        "IC6004",
        (graph(annotations={"autoscaling.knative.dev/initial-scale": "few"}),),
        (graph(annotations={"autoscaling.knative.dev/initial-scale": "2"}),),
    ),
)
