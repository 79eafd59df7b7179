"""The shapes of objects that rules look into: what may be taken for granted of them.

An API server checks objects against their schemas; files, preserved fields and old versions
are not checked by anybody. So every object is held against the few fields that are read of
its kind before it joins a world, once; what does not fit is refused with its field path
and left out, and rules need no guards of their own. Unknown kinds are held to the shape of
metadata alone. What routing reads of an InferenceService has a view of its own beside this:
inferenceservices.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ingressctl.api.inferenceservices import ViewFault
from ingressctl.api.refs import Raw, group_of, ref_of

Anything = dict[str, Any]
Number = int | None
Text = str | None


class _Shape(msgspec.Struct, gc=False):
    """Fields that are not named are free."""


class OwnerReference(_Shape):
    apiVersion: Text = None
    kind: Text = None
    name: Text = None
    uid: Text = None
    controller: bool | None = None


class Metadata(_Shape):
    name: Text = None
    namespace: Text = None
    uid: Text = None
    generation: Number = None
    creationTimestamp: Text = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    ownerReferences: list[OwnerReference] | None = None


class Condition(_Shape):
    type: str
    status: Text = None
    reason: Text = None
    message: Text = None
    observedGeneration: Number = None
    lastTransitionTime: Text = None


class _Object(_Shape):
    metadata: Metadata


class ConfigMap(_Object):
    data: dict[str, str] | None = None


class ServicePort(_Shape):
    name: Text = None
    port: Number = None
    targetPort: int | str | None = None
    protocol: Text = None
    appProtocol: Text = None


class ServiceSpec(_Shape):
    type: Text = None
    clusterIP: Text = None
    externalName: Text = None
    selector: dict[str, str] | None = None
    ports: list[ServicePort] | None = None


class Service(_Object):
    spec: ServiceSpec | None = None


class ContainerPort(_Shape):
    containerPort: int
    name: Text = None
    protocol: Text = None


class Variable(_Shape):
    name: Text = None
    value: Text = None
    valueFrom: Anything | None = None


class Container(_Shape):
    name: Text = None
    image: Text = None
    command: list[str] | None = None
    args: list[str] | None = None
    env: list[Variable] | None = None
    ports: list[ContainerPort] | None = None
    resources: Resources | None = None
    volumeMounts: list[Anything] | None = None


class Resources(_Shape):
    limits: Anything | None = None
    requests: Anything | None = None


class ModelFormat(_Shape):
    name: Text = None
    version: Text = None
    autoSelect: bool | None = None
    priority: Number = None


class Model(Container):
    modelFormat: ModelFormat | None = None
    runtime: Text = None
    runtimeVersion: Text = None
    protocolVersion: Text = None
    storageUri: Text = None
    storage: Storage | None = None


class Storage(_Shape):
    path: Text = None
    key: Text = None
    parameters: Anything | None = None


class Logger(_Shape):
    mode: Text = None
    url: Text = None
    metadataHeaders: list[str] | None = None
    metadataAnnotations: list[str] | None = None


class ComponentSpec(_Shape):
    logger: Logger | None = None
    batcher: Anything | None = None
    art: Model | None = None
    model: Model | None = None
    sklearn: Model | None = None
    tensorflow: Model | None = None
    xgboost: Model | None = None
    pytorch: Model | None = None
    triton: Model | None = None
    onnx: Model | None = None
    huggingface: Model | None = None
    pmml: Model | None = None
    lightgbm: Model | None = None
    paddle: Model | None = None
    containers: list[Container] | None = None
    initContainers: list[Anything] | None = None
    volumes: list[Anything] | None = None
    imagePullSecrets: list[Anything] | None = None
    tolerations: list[Anything] | None = None
    nodeSelector: dict[str, str] | None = None
    affinity: Anything | None = None
    deploymentStrategy: Anything | None = None
    workerSpec: Anything | None = None


class CanarySpec(_Shape):
    predictor: ComponentSpec | None = None


class InferenceServiceSpec(_Shape):
    predictor: ComponentSpec | None = None
    transformer: ComponentSpec | None = None
    explainer: ComponentSpec | None = None
    canary: list[CanarySpec] | None = None


class ComponentStatus(_Shape):
    url: Text = None
    latestReadyRevision: Text = None
    latestCreatedRevision: Text = None
    latestRolledoutRevision: Text = None
    previousRolledoutRevision: Text = None
    traffic: list[Anything] | None = None


class CanaryStatus(_Shape):
    name: Text = None
    ready: bool | None = None
    trafficPercent: Number = None


class Address(_Shape):
    url: Text = None


class ModelStatus(_Shape):
    states: Anything | None = None


class InferenceServiceStatus(_Shape):
    modelStatus: ModelStatus | None = None
    conditions: list[Condition] | None = None
    components: dict[str, ComponentStatus] | None = None
    canaryStatuses: list[CanaryStatus] | None = None
    address: Address | None = None
    url: Text = None
    deploymentMode: Text = None
    servingRuntimeName: Text = None
    clusterServingRuntimeName: Text = None


class InferenceService(_Object):
    spec: InferenceServiceSpec | None = None
    status: InferenceServiceStatus | None = None


class InferenceGraphStatus(_Shape):
    conditions: list[Condition] | None = None
    address: Address | None = None
    url: Text = None
    deploymentMode: Text = None


class InferenceGraph(_Object):
    """Its spec has a view of its own: inferencegraphs.py."""

    status: InferenceGraphStatus | None = None


class Deployment(_Object):
    spec: DeploymentSpec | None = None
    status: DeploymentStatus | None = None


class DeploymentSpec(_Shape):
    replicas: Number = None
    selector: Anything | None = None
    template: PodTemplate | None = None


class PodTemplate(_Shape):
    metadata: Metadata | None = None
    spec: Anything | None = None


class DeploymentStatus(_Shape):
    observedGeneration: Number = None
    conditions: list[Condition] | None = None
    availableReplicas: Number = None
    readyReplicas: Number = None
    replicas: Number = None


class ServingRuntimeSpec(_Shape):
    supportedModelFormats: list[ModelFormat] | None = None
    protocolVersions: list[str] | None = None
    containers: list[Container] | None = None
    volumes: list[Anything] | None = None
    imagePullSecrets: list[Anything] | None = None
    tolerations: list[Anything] | None = None
    nodeSelector: dict[str, str] | None = None
    affinity: Anything | None = None
    disabled: bool | None = None
    multiModel: bool | None = None
    workerSpec: Anything | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class ServingRuntime(_Object):
    spec: ServingRuntimeSpec | None = None


class TrafficTarget(_Shape):
    tag: Text = None
    revisionName: Text = None
    configurationName: Text = None
    latestRevision: bool | None = None
    percent: Number = None
    url: Text = None


class RevisionContainer(_Shape):
    ports: list[ContainerPort] | None = None


class RevisionSpec(_Shape):
    containers: list[RevisionContainer] | None = None
    timeoutSeconds: Number = None


class RevisionTemplate(_Shape):
    metadata: Metadata | None = None
    spec: RevisionSpec | None = None


class Revision(_Object):
    spec: RevisionSpec | None = None


class KServiceSpec(_Shape):
    template: RevisionTemplate | None = None
    traffic: list[TrafficTarget] | None = None


class KServiceStatus(_Shape):
    conditions: list[Condition] | None = None
    latestReadyRevisionName: Text = None
    latestCreatedRevisionName: Text = None
    traffic: list[TrafficTarget] | None = None
    url: Text = None
    address: Address | None = None
    observedGeneration: Number = None


class KService(_Object):
    spec: KServiceSpec | None = None
    status: KServiceStatus | None = None


class PathMatch(_Shape):
    type: Text = None
    value: Text = None


class NameValue(_Shape):
    name: Text = None
    value: Text = None
    type: Text = None


class RouteMatch(_Shape):
    path: PathMatch | None = None
    headers: list[NameValue] | None = None
    queryParams: list[NameValue] | None = None
    method: Text = None


class HeaderModifier(_Shape):
    set: list[NameValue] | None = None
    add: list[NameValue] | None = None
    remove: list[str] | None = None


class RewrittenPath(_Shape):
    type: Text = None
    replacePrefixMatch: Text = None
    replaceFullPath: Text = None


class UrlRewrite(_Shape):
    hostname: Text = None
    path: RewrittenPath | None = None


class RequestRedirect(_Shape):
    scheme: Text = None
    hostname: Text = None
    port: Number = None
    statusCode: Number = None
    path: RewrittenPath | None = None


class RouteFilter(_Shape):
    type: Text = None
    requestHeaderModifier: HeaderModifier | None = None
    responseHeaderModifier: HeaderModifier | None = None
    urlRewrite: UrlRewrite | None = None
    requestRedirect: RequestRedirect | None = None
    requestMirror: Anything | None = None
    extensionRef: Anything | None = None


class BackendRef(_Shape):
    group: Text = None
    kind: Text = None
    name: Text = None
    namespace: Text = None
    port: Number = None
    weight: Number = None
    filters: list[RouteFilter] | None = None


class Timeouts(_Shape):
    request: Text = None
    backendRequest: Text = None


class RouteRule(_Shape):
    name: Text = None
    matches: list[RouteMatch] | None = None
    filters: list[RouteFilter] | None = None
    backendRefs: list[BackendRef] | None = None
    timeouts: Timeouts | None = None


class ParentRef(_Shape):
    group: Text = None
    kind: Text = None
    namespace: Text = None
    name: Text = None
    sectionName: Text = None
    port: Number = None


class HTTPRouteSpec(_Shape):
    parentRefs: list[ParentRef] | None = None
    hostnames: list[str] | None = None
    rules: list[RouteRule] | None = None


class RouteParentStatus(_Shape):
    parentRef: ParentRef | None = None
    controllerName: Text = None
    conditions: list[Condition] | None = None


class HTTPRouteStatus(_Shape):
    parents: list[RouteParentStatus] | None = None


class HTTPRoute(_Object):
    spec: HTTPRouteSpec | None = None
    status: HTTPRouteStatus | None = None


class RouteKind(_Shape):
    group: Text = None
    kind: Text = None


class SelectorExpression(_Shape):
    key: str
    operator: str
    values: list[str] | None = None


class Selector(_Shape):
    matchLabels: dict[str, str] | None = None
    matchExpressions: list[SelectorExpression] | None = None


class RouteNamespaces(_Shape):
    selector: Selector | None = None
    from_: Text = msgspec.field(default=None, name="from")


class AllowedRoutes(_Shape):
    namespaces: RouteNamespaces | None = None
    kinds: list[RouteKind] | None = None


class Listener(_Shape):
    name: Text = None
    port: Number = None
    protocol: Text = None
    hostname: Text = None
    allowedRoutes: AllowedRoutes | None = None
    tls: Anything | None = None


class GatewaySpec(_Shape):
    gatewayClassName: Text = None
    listeners: list[Listener] | None = None


class Gateway(_Object):
    spec: GatewaySpec | None = None


class IstioPort(_Shape):
    number: Number = None
    name: Text = None
    protocol: Text = None


class IstioServer(_Shape):
    port: IstioPort | None = None
    hosts: list[str] | None = None
    name: Text = None
    tls: Anything | None = None


class IstioGatewaySpec(_Shape):
    servers: list[IstioServer] | None = None
    selector: dict[str, str] | None = None


class IstioGateway(_Object):
    spec: IstioGatewaySpec | None = None


class StringMatch(_Shape):
    exact: Text = None
    prefix: Text = None
    regex: Text = None


class HTTPMatch(_Shape):
    name: Text = None
    uri: StringMatch | None = None
    scheme: StringMatch | None = None
    method: StringMatch | None = None
    authority: StringMatch | None = None
    headers: dict[str, StringMatch | None] | None = None
    withoutHeaders: dict[str, StringMatch | None] | None = None
    queryParams: dict[str, StringMatch | None] | None = None
    gateways: list[str] | None = None
    port: Number = None
    ignoreUriCase: bool | None = None
    sourceLabels: dict[str, str] | None = None
    sourceNamespace: Text = None


class HeaderOperations(_Shape):
    set: dict[str, str] | None = None
    add: dict[str, str] | None = None
    remove: list[str] | None = None


class Headers(_Shape):
    request: HeaderOperations | None = None
    response: HeaderOperations | None = None


class Destination(_Shape):
    host: Text = None
    subset: Text = None
    port: IstioPort | None = None


class HTTPDestination(_Shape):
    destination: Destination | None = None
    weight: Number = None
    headers: Headers | None = None


class RegexRewrite(_Shape):
    match: Text = None
    rewrite: Text = None


class HTTPRewrite(_Shape):
    uri: Text = None
    authority: Text = None
    uriRegexRewrite: RegexRewrite | None = None


class HTTPRedirect(_Shape):
    uri: Text = None
    authority: Text = None
    port: Number = None
    scheme: Text = None
    redirectCode: Number = None


class HTTPRetry(_Shape):
    attempts: Number = None


class DirectResponse(_Shape):
    status: Number = None


class HTTPRule(_Shape):
    name: Text = None
    match: list[HTTPMatch] | None = None
    route: list[HTTPDestination] | None = None
    rewrite: HTTPRewrite | None = None
    redirect: HTTPRedirect | None = None
    directResponse: DirectResponse | None = None
    delegate: Anything | None = None
    headers: Headers | None = None
    timeout: Text = None
    retries: HTTPRetry | None = None


class VirtualServiceSpec(_Shape):
    hosts: list[str] | None = None
    gateways: list[str] | None = None
    http: list[HTTPRule] | None = None
    exportTo: list[str] | None = None


class VirtualService(_Object):
    spec: VirtualServiceSpec | None = None


class IngressPort(_Shape):
    number: Number = None
    name: Text = None


class IngressService(_Shape):
    name: Text = None
    port: IngressPort | None = None


class IngressBackend(_Shape):
    service: IngressService | None = None
    resource: Anything | None = None


class IngressPath(_Shape):
    path: Text = None
    pathType: Text = None
    backend: IngressBackend | None = None


class IngressHTTP(_Shape):
    paths: list[IngressPath] | None = None


class IngressRule(_Shape):
    host: Text = None
    http: IngressHTTP | None = None


class IngressTLS(_Shape):
    hosts: list[str] | None = None
    secretName: Text = None


class IngressSpec(_Shape):
    ingressClassName: Text = None
    rules: list[IngressRule] | None = None
    tls: list[IngressTLS] | None = None
    defaultBackend: IngressBackend | None = None


class Ingress(_Object):
    spec: IngressSpec | None = None


class Peer(_Shape):
    group: Text = None
    kind: Text = None
    name: Text = None
    namespace: Text = None


class ReferenceGrantSpec(_Shape):
    from_: list[Peer] | None = msgspec.field(default=None, name="from")
    to: list[Peer] | None = None


class ReferenceGrant(_Object):
    spec: ReferenceGrantSpec | None = None


class GatewayClassSpec(_Shape):
    controllerName: Text = None


class GatewayClass(_Object):
    spec: GatewayClassSpec | None = None


class Operation(_Shape):
    hosts: list[str] | None = None
    ports: list[str] | None = None
    methods: list[str] | None = None
    paths: list[str] | None = None
    notPaths: list[str] | None = None
    notHosts: list[str] | None = None
    notMethods: list[str] | None = None


class OperationHolder(_Shape):
    operation: Operation | None = None


class Source(_Shape):
    namespaces: list[str] | None = None
    notNamespaces: list[str] | None = None
    principals: list[str] | None = None
    requestPrincipals: list[str] | None = None


class SourceHolder(_Shape):
    source: Source | None = None


class When(_Shape):
    key: Text = None
    values: list[str] | None = None
    notValues: list[str] | None = None


class PolicyRule(_Shape):
    to: list[OperationHolder] | None = None
    when: list[When] | None = None
    from_: list[SourceHolder] | None = msgspec.field(default=None, name="from")


class PolicyProvider(_Shape):
    name: Text = None


class PolicySpec(_Shape):
    action: Text = None
    selector: Selector | None = None
    provider: PolicyProvider | None = None
    rules: list[PolicyRule | None] | None = None
    targetRef: Peer | None = None
    targetRefs: list[Peer] | None = None


class AuthorizationPolicy(_Object):
    spec: PolicySpec | None = None


class Endpoint(_Shape):
    addresses: list[str] | None = None
    conditions: dict[str, bool | None] | None = None


class EndpointSlice(_Object):
    endpoints: list[Endpoint] | None = None
    ports: list[ServicePort] | None = None


SHAPES: Mapping[tuple[str, str], type[_Object]] = {
    ("", "ConfigMap"): ConfigMap,
    ("", "Service"): Service,
    ("apps", "Deployment"): Deployment,
    ("discovery.k8s.io", "EndpointSlice"): EndpointSlice,
    ("gateway.networking.k8s.io", "Gateway"): Gateway,
    ("gateway.networking.k8s.io", "GatewayClass"): GatewayClass,
    ("gateway.networking.k8s.io", "HTTPRoute"): HTTPRoute,
    ("gateway.networking.k8s.io", "ReferenceGrant"): ReferenceGrant,
    ("networking.istio.io", "Gateway"): IstioGateway,
    ("networking.istio.io", "VirtualService"): VirtualService,
    ("networking.k8s.io", "Ingress"): Ingress,
    ("security.istio.io", "AuthorizationPolicy"): AuthorizationPolicy,
    ("serving.knative.dev", "Revision"): Revision,
    ("serving.knative.dev", "Service"): KService,
    ("serving.kserve.io", "ClusterServingRuntime"): ServingRuntime,
    ("serving.kserve.io", "InferenceGraph"): InferenceGraph,
    ("serving.kserve.io", "InferenceService"): InferenceService,
    ("serving.kserve.io", "ServingRuntime"): ServingRuntime,
}


def fault(obj: Raw) -> ViewFault | None:
    """Why the object cannot join a world: the first field of a wrong type, or None."""
    kind = (group_of(str(obj.get("apiVersion") or "")), str(obj.get("kind") or ""))
    try:
        msgspec.convert(obj, SHAPES.get(kind, _Object))
    except msgspec.ValidationError as error:
        text, _, path = str(error).partition(" - at `$.")
        where = path.rstrip("`") or "metadata"
        ref = ref_of(obj) if isinstance(obj.get("metadata"), Mapping) else None
        return ViewFault(ref or ref_of({**obj, "metadata": {}}), where, text)
    return None
