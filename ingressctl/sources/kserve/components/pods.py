"""What the pods of a component are, apart from names, labels and replicas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from ingressctl.api.refs import Raw
from ingressctl.core.values import Value

MAIN = "kserve-container"
COLLOCATED = "transformer-container"
ISVC_NAME = "INFERENCE_SERVICE_NAME"

POD_FIELDS = frozenset(
    (
        "volumes initContainers nodeSelector affinity tolerations serviceAccountName "
        "automountServiceAccountToken securityContext imagePullSecrets schedulerName "
        "priorityClassName priority runtimeClassName hostIPC hostNetwork hostPID hostAliases "
        "dnsPolicy dnsConfig terminationGracePeriodSeconds activeDeadlineSeconds restartPolicy "
        "shareProcessNamespace enableServiceLinks topologySpreadConstraints preemptionPolicy "
        "overhead resourceClaims resources setHostnameAsFQDN"
    ).split()
)
"""Fields of a component that belong to the pod; containers are handled apart."""

RUNTIME_POD_FIELDS = (
    "nodeSelector",
    "affinity",
    "tolerations",
    "volumes",
    "imagePullSecrets",
    "schedulerName",
    "resourceClaims",
)
"""Of a runtime's pod only these are taken over (spec/kserve-workloads.md 3, W6)."""


_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Pod(Value, frozen=True):
    """Containers, other pod fields, and labels and annotations that a runtime adds."""

    containers: tuple[Raw, ...]
    fields: Raw = _NOTHING
    labels: Mapping[str, str] = _NOTHING
    annotations: Mapping[str, str] = _NOTHING

    def spec(self) -> dict[str, Any]:
        """The pod spec; protocols of ports are written out as the schemas do."""
        return {**self.fields, "containers": [_with_protocols(item) for item in self.containers]}


def fields_of(component: Raw) -> dict[str, Any]:
    """The pod fields of a component as the user wrote them."""
    return {key: value for key, value in component.items() if key in POD_FIELDS}


def find(containers: Iterable[Raw], name: str) -> Raw | None:
    """The first container of that name."""
    return next((item for item in containers if item.get("name") == name), None)


def published(containers: tuple[Raw, ...]) -> Raw:
    """The container whose ports a Service shows (spec/kserve-runtimes.md 8)."""
    found = find(containers, COLLOCATED) or find(containers, MAIN)
    return found or (containers[0] if containers else {})


def with_variable(container: Raw, name: str, value: str) -> Raw:
    """The container with an environment variable: in its place, else last."""
    env = list(container.get("env") or ())
    places = [place for place, entry in enumerate(env) if entry.get("name") == name]
    for place in places:
        env[place] = {"name": name, "value": value}
    if not places:
        env.append({"name": name, "value": value})
    return {**container, "env": env}


def _with_protocols(container: Raw) -> Raw:
    ports = container.get("ports")
    if not ports:
        return container
    return {**container, "ports": [{"protocol": "TCP", **port} for port in ports]}
