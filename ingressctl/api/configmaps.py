"""The ConfigMaps that steer routing: `inferenceservice-config` and Knative's.

Keys keep the names users have; ours are additional and off by default. Keys of JSON
values are matched without regard to case, the last of several, because Go's decoder
does so; unknown keys are ignored and reported. Parsing is cached by text: 10,000
services share one configuration (spec/kserve-ingress.md 1).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr, ValidationError

from ingressctl.api import dns, gotemplate, quantities, wording

Mode = Literal["Knative", "Standard", "ModelMesh"]

OLD_MODES: Mapping[str, Mode] = {"Serverless": "Knative", "RawDeployment": "Standard"}
MODES: tuple[Mode, ...] = ("Knative", "Standard", "ModelMesh")

Texts = tuple[StrictStr, ...]
DEFAULT_TEMPLATE = "{{ .Name }}-{{ .Namespace }}.{{ .IngressDomain }}"

SHIPPED: Mapping[str, Mapping[str, Any]] = {
    "ingress": {
        "enableGatewayApi": False,
        "kserveIngressGateway": "kserve/kserve-ingress-gateway",
        "ingressGateway": "knative-serving/knative-ingress-gateway",
        "localGateway": "knative-serving/knative-local-gateway",
        "localGatewayService": "knative-local-gateway.istio-system.svc.cluster.local",
        "ingressDomain": "example.com",
        "ingressClassName": "istio",
        "domainTemplate": DEFAULT_TEMPLATE,
        "urlScheme": "http",
        "disableIstioVirtualHost": False,
        "disableIngressCreation": False,
        "disableHTTPRouteTimeout": False,
    },
    "deploy": {"defaultDeploymentMode": "Serverless"},
    "router": {
        "image": "kserve/router:latest",
        "memoryRequest": "100Mi",
        "memoryLimit": "1Gi",
        "cpuRequest": "100m",
        "cpuLimit": "1",
        "imagePullPolicy": "IfNotPresent",
    },
}
"""What KServe ships (spec/kserve-ingress.md 1.2)."""


C = TypeVar("C", bound=BaseModel)


class ConfigFault(ValueError):
    """A configuration that cannot be used; the text is KServe's where it has one."""


class _Config(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    null: ClassVar[Any] = None
    """What null is for its keys; None is absent."""


class IngressConfig(_Config):
    """Key `ingress`. Fields in KServe's spelling; the last block is ours.

    `ingressGateways` (F55): public Istio gateways instead of `ingressGateway`.
    `pathTemplateHosts` (F8): hosts of path rules instead of `ingressDomain`.
    `httpRoutePathMatchType` (F11): PathPrefix avoids regular expressions.
    `ingressTLSSecretName`, `ingressAnnotations` (F14): for generated Ingresses.
    `provider`: provider by deployment mode, such as {"Standard": "envoy"}.
    """

    enableGatewayApi: StrictBool = False
    kserveIngressGateway: StrictStr = ""
    ingressGateway: StrictStr = ""
    localGateway: StrictStr = ""
    localGatewayService: StrictStr = ""
    knativeLocalGatewayService: StrictStr = ""
    ingressDomain: StrictStr = ""
    additionalIngressDomains: Texts = ()
    ingressClassName: StrictStr | None = None
    domainTemplate: StrictStr = ""
    urlScheme: StrictStr = ""
    pathTemplate: StrictStr = ""
    disableIstioVirtualHost: StrictBool = False
    disableIngressCreation: StrictBool = False
    disableHTTPRouteTimeout: StrictBool = False
    enableLLMInferenceServiceTLS: StrictBool = False
    modelBasedRoutingHeaderName: StrictStr = ""
    modelBasedRoutingMode: StrictStr = ""

    ingressGateways: Texts = ()
    pathTemplateHosts: Texts = ()
    httpRoutePathMatchType: Literal["RegularExpression", "PathPrefix"] = "RegularExpression"
    ingressTLSSecretName: StrictStr = ""
    ingressAnnotations: dict[StrictStr, StrictStr] = Field(default_factory=dict)
    provider: dict[StrictStr, StrictStr] = Field(default_factory=dict)

    @property
    def gateways(self) -> tuple[str, ...]:
        """The public Istio gateways."""
        return self.ingressGateways or ((self.ingressGateway,) if self.ingressGateway else ())


class DeployConfig(_Config):
    """Key `deploy`."""

    defaultDeploymentMode: StrictStr = ""
    deploymentRolloutStrategy: dict[str, Any] = Field(default_factory=dict)


class ServiceConfig(_Config):
    """Key `service`."""

    serviceClusterIPNone: StrictBool = False


class ResourceConfig(_Config):
    """Default requests and limits of custom containers; "" is none."""

    cpuLimit: StrictStr = ""
    memoryLimit: StrictStr = ""
    cpuRequest: StrictStr = ""
    memoryRequest: StrictStr = ""


class InferenceServiceConfig(_Config):
    """Key `inferenceService`."""

    serviceAnnotationDisallowedList: Texts = ()
    serviceLabelDisallowedList: Texts = ()
    resource: ResourceConfig = ResourceConfig()


class SecurityConfig(_Config):
    """Key `security`; None is not said."""

    autoMountServiceAccountToken: StrictBool | None = None


class RouterHeaders(_Config):
    """Which headers of the client the router hands on; None is not said.

    Go has a map of lists here: a key is there whatever its value, and null is an empty list.
    """

    null: ClassVar[Any] = ()

    propagate: Texts | None = None


class RouterConfig(_Config):
    """Key `router`: the pods of InferenceGraphs. The last block is ours.

    `graphSource`: ConfigMap mounts the graph, so that a change of it rolls no pods; Argument
    is KServe's way. `command`: of the container, for an image whose own is another program.
    """

    image: StrictStr = ""
    memoryRequest: StrictStr = ""
    memoryLimit: StrictStr = ""
    cpuRequest: StrictStr = ""
    cpuLimit: StrictStr = ""
    headers: RouterHeaders = RouterHeaders()
    imagePullPolicy: StrictStr = ""
    imagePullSecrets: Texts = ()

    graphSource: Literal["Argument", "ConfigMap"] = "Argument"
    command: Texts = ()


BUILT_IN_ANNOTATIONS = (
    "autoscaling.knative.dev/min-scale",
    "autoscaling.knative.dev/max-scale",
    "internal.serving.kserve.io/storage-initializer-sourceuri",
    "kubectl.kubernetes.io/last-applied-configuration",
    "modelFormat",
)
BUILT_IN_LABELS = ("networking.knative.dev/visibility",)


def decode(text: str, *, key: str) -> dict[str, Any]:
    """The JSON object of a key; null is an empty one. Raises ConfigFault."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ConfigFault(f"unable to parse {key} config json: {error}") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigFault(f"unable to parse {key} config json: it must be an object")
    return value


def _refuse_constant(name: str) -> None:
    """Python alone takes NaN and Infinity."""
    raise ValueError(f"{name} is no JSON value")


def fold_keys(model: type[BaseModel], values: Mapping[str, Any]) -> dict[str, Any]:
    """Values under the model's spelling of their keys; of several that are the same key the
    last one counts, of objects each field. null is absent, but for models that say otherwise.
    """
    spelling = {name.lower(): name for name in model.model_fields}
    folded: dict[str, Any] = {}
    for name, written in values.items():
        value = getattr(model, "null", None) if written is None else written
        known = spelling.get(name.lower())
        if known is None or value is None:
            continue
        new, old = _fold_inner(model.model_fields[known].annotation, value), folded.get(known)
        folded[known] = {**old, **new} if isinstance(old, dict) and isinstance(new, dict) else new
    return folded


def _fold_inner(annotation: Any, value: Any) -> Any:
    nested = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return fold_keys(annotation, value) if nested and isinstance(value, dict) else value


def _load(model: type[C], text: str, *, key: str) -> C:
    values = fold_keys(model, decode(text, key=key))
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ConfigFault(type_faults(error, key=key)[0][1]) from None


def type_faults(error: ValidationError, *, key: str) -> tuple[tuple[str, str], ...]:
    """Path below the key and KServe's text, for every value of a wrong type."""
    found = []
    for fault in error.errors(include_url=False):
        path = ".".join(str(part) for part in fault["loc"])
        found.append((path, f"unable to parse {key} config json: {path}: {wording.said(fault)}"))
    return tuple(found)


@lru_cache(maxsize=64)
def parse_ingress(text: str | None, *, gateway_optional: bool) -> IngressConfig:
    """Key `ingress`; None when it is absent. Raises ConfigFault in KServe's order.

    `gateway_optional` is difference Q28: ingressGateway is only needed by VirtualServices.
    """
    config = _load(IngressConfig, text, key="ingress") if text is not None else IngressConfig()
    if text is not None:
        _check_gateway_api(config)
        if not config.gateways and not gateway_optional:
            raise ConfigFault("invalid ingress config - ingressGateway is required")
        _check_path_template(config)
        if not config.knativeLocalGatewayService:
            config = config.model_copy(
                update={"knativeLocalGatewayService": config.localGatewayService}
            )
    return config.model_copy(
        update={
            "ingressDomain": config.ingressDomain or "example.com",
            "domainTemplate": config.domainTemplate or DEFAULT_TEMPLATE,
            "urlScheme": config.urlScheme or "http",
        }
    )


@lru_cache(maxsize=64)
def parse_ingress_beside(text: str | None, *, gateway_optional: bool) -> IngressConfig:
    """As parse_ingress, with KServe's switches for its own routing left out."""
    return parse_ingress(text, gateway_optional=gateway_optional).model_copy(
        update={"disableIstioVirtualHost": False, "disableIngressCreation": False}
    )


def _check_gateway_api(config: IngressConfig) -> None:
    if not config.enableGatewayApi:
        return
    prefix = "invalid ingress config - kserveIngressGateway"
    if not config.kserveIngressGateway:
        raise ConfigFault(f"{prefix} is required")
    parts = config.kserveIngressGateway.split("/")
    if len(parts) != 2:
        raise ConfigFault(f"{prefix} should be in the format <namespace>/<name>")
    for part, what in zip(parts, ("namespace", "name"), strict=True):
        fault = dns.label_fault(part)
        if fault:
            raise ConfigFault(f"{prefix} gateway {what} is invalid: {fault}")


def _check_path_template(config: IngressConfig) -> None:
    if not config.pathTemplate:
        return
    fault = path_template_fault(config.pathTemplate)
    if fault:
        raise ConfigFault(f"invalid ingress config - unable to parse pathTemplate: {fault}")
    if not config.ingressDomain:
        raise ConfigFault(
            "invalid ingress config - ingressDomain is required if pathTemplate is given"
        )


def path_template_fault(template: str) -> str:
    """Why a pathTemplate does not parse; "" if it does."""
    try:
        gotemplate.parse(template, frozenset())
    except gotemplate.TemplateError as error:
        return "" if "can't evaluate field" in str(error) else str(error)
    return ""


@lru_cache(maxsize=64)
def parse_default_mode(text: str | None) -> str:
    """The default deployment mode of key `deploy`; "" when the key is absent."""
    if text is None:
        return ""
    mode = _load(DeployConfig, text, key="deploy").defaultDeploymentMode
    if not mode:
        raise ConfigFault("invalid deploy config - defaultDeploymentMode is required")
    mode = OLD_MODES.get(mode, mode)
    if mode not in MODES:
        raise ConfigFault(
            f"invalid deployment mode {mode!r}. Supported modes are Knative, Standard, ModelMesh"
        )
    return mode


@lru_cache(maxsize=64)
def rollout_strategy(text: str | None) -> Mapping[str, str]:
    """maxSurge and maxUnavailable of key `deploy`, where the default mode is Standard."""
    if parse_default_mode(text) != "Standard" or text is None:
        return {}
    given = _load(DeployConfig, text, key="deploy").deploymentRolloutStrategy
    rollout = given.get("defaultRollout")
    if not isinstance(rollout, dict):
        return {}
    fields = ("maxSurge", "maxUnavailable")
    return {field: str(rollout[field]) for field in fields if rollout.get(field)}


@lru_cache(maxsize=64)
def parse_router(text: str | None) -> RouterConfig:
    """Key `router`. Every quantity must be one: without them no graph can be made."""
    config = _load(RouterConfig, text, key="router") if text is not None else RouterConfig()
    for field in ("memoryRequest", "memoryLimit", "cpuRequest", "cpuLimit"):
        value = getattr(config, field)
        if quantities.quantity(value) is None:
            raise ConfigFault(
                f"Failed to parse resource configuration for router: {field} is {value!r}, "
                "which is no quantity"
            )
    return config


@lru_cache(maxsize=64)
def parse_service(text: str | None) -> ServiceConfig:
    """Key `service`; KServe logs a parse error and goes on, so an error is the default."""
    try:
        return ServiceConfig() if text is None else _load(ServiceConfig, text, key="service")
    except ConfigFault:
        return ServiceConfig()


@lru_cache(maxsize=64)
def parse_inference_service(text: str | None) -> InferenceServiceConfig:
    """Key `inferenceService`."""
    if text is None:
        return InferenceServiceConfig()
    return _load(InferenceServiceConfig, text, key="inferenceService")


@lru_cache(maxsize=64)
def parse_security(text: str | None) -> SecurityConfig:
    """Key `security`; an empty text is an empty object, as in KServe."""
    return _load(SecurityConfig, text, key="security") if text else SecurityConfig()


@lru_cache(maxsize=64)
def disallowed(text: str | None, *, always: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Annotations and labels that routes must not carry, by key `inferenceService`.

    Without the key both are empty (Q26), unless `always`.
    """
    config = parse_inference_service(text)
    if text is None and not always:
        return frozenset(), frozenset()
    return (
        frozenset((*BUILT_IN_ANNOTATIONS, *config.serviceAnnotationDisallowedList)),
        frozenset((*BUILT_IN_LABELS, *config.serviceLabelDisallowedList)),
    )


EXAMPLE_KEY = "_example"
