"""Fields that no InferenceService or InferenceGraph has: an API server drops them silently.

Names come from the models of admission, and from Kubernetes' pod and container, which a
component and a model hold among their own fields. What is below other fields of a pod is
not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ingressctl.api import spelling
from ingressctl.api.inferenceservices import FRAMEWORKS
from ingressctl.api.models import inferencegraphs as graphs
from ingressctl.api.models import inferenceservices as models
from ingressctl.api.models import pods
from ingressctl.api.refs import Raw

_OBJECT = frozenset({"apiVersion", "kind", "metadata", "spec", "status"})
_METADATA = frozenset(
    "annotations creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers "
    "generateName generation labels managedFields name namespace ownerReferences "
    "resourceVersion selfLink uid".split()
)
_POD = frozenset(
    "activeDeadlineSeconds affinity automountServiceAccountToken containers dnsConfig dnsPolicy "
    "enableServiceLinks ephemeralContainers hostAliases hostIPC hostNetwork hostPID hostUsers "
    "hostname hostnameOverride imagePullSecrets initContainers nodeName nodeSelector os overhead "
    "preemptionPolicy priority priorityClassName readinessGates resourceClaims resources "
    "restartPolicy runtimeClassName schedulerName schedulingGates securityContext serviceAccount "
    "serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain "
    "terminationGracePeriodSeconds tolerations topologySpreadConstraints volumes "
    "workloadRef".split()
)
_CONTAINER = frozenset(
    "args command env envFrom image imagePullPolicy lifecycle livenessProbe name ports "
    "readinessProbe resizePolicy resources restartPolicy restartPolicyRules securityContext "
    "startupProbe stdin stdinOnce terminationMessagePath terminationMessagePolicy tty "
    "volumeDevices volumeMounts workingDir".split()
)
_OF_COMPONENT = frozenset({"scaleMetricType", "storageContainerName"})
"""Fields of a component that no rule of admission reads."""


class Level(NamedTuple):
    """The names at one level, and the levels below some of them.

    `each` is the level below every name of a map whose keys are free.
    """

    names: frozenset[str]
    inside: Mapping[str, Level]
    each: Level | None = None


class Unknown(NamedTuple):
    """A field that is not known, and the known one that it resembles ("" if none does)."""

    path: str
    name: str
    known: str


def find(obj: Raw) -> Iterator[Unknown]:
    """Every unknown field of the object, in the order in which it is written."""
    return _at(obj, LEVELS.get(str(obj.get("kind")), FREE), "")


def _at(value: Any, level: Level, path: str) -> Iterator[Unknown]:
    if isinstance(value, list):
        for place, item in enumerate(value):
            yield from _at(item, level, f"{path}[{place}]")
    if not isinstance(value, Mapping):
        return
    for name, inner in value.items():
        where = f"{path}.{name}" if path else str(name)
        if level.each is not None:
            yield from _at(inner, level.each, where)
        elif level is not FREE and name not in level.names:
            yield Unknown(where, str(name), spelling.closest(str(name), level.names))
        elif name in level.inside:
            yield from _at(inner, level.inside[name], where)


def _level(names: frozenset[str], **inside: Level) -> Level:
    return Level(names, inside)


def _fields(*kinds: type[pods.Strict]) -> frozenset[str]:
    return frozenset(name for kind in kinds for name in kind.model_fields)


def _component(kind: type[models.Component], **inside: Level) -> Level:
    names = _fields(kind) | _POD | _OF_COMPONENT
    containers = _level(_CONTAINER)
    return _level(names, containers=containers, initContainers=containers, **inside)


def _predictor() -> Level:
    framework = _level(_fields(models.Framework) | _CONTAINER)
    model = _level(
        _fields(models.Model) | _CONTAINER, modelFormat=_level(_fields(models.ModelFormat))
    )
    workers = _level(_fields(pods.WorkerSpec) | _POD, containers=_level(_CONTAINER))
    kinds = {name: framework for name in models.Predictor.model_fields if name in FRAMEWORKS}
    return _component(models.Predictor, model=model, workerSpec=workers, **kinds)


def _service() -> Level:
    predictor = _predictor()
    art = _level(_fields(models.Framework) | _CONTAINER | {"type", "config"})
    spec = _level(
        _fields(models.Spec),
        predictor=predictor,
        transformer=_component(models.Transformer),
        explainer=_component(models.Explainer, art=art),
        canary=_level(_fields(models.Canary), predictor=predictor),
    )
    return _level(_OBJECT, metadata=_level(_METADATA), spec=spec)


def _graph() -> Level:
    step = _level(
        _fields(graphs.Step),
        retries=_level(_fields(graphs.Retries)),
        fallback=_level(_fields(graphs.Fallback)),
    )
    node = _level(_fields(graphs.Node), steps=step)
    spec = _level(
        _fields(graphs.Spec),
        nodes=Level(frozenset(), {}, node),
        routerTimeouts=_level(_fields(graphs.RouterTimeouts)),
        resources=_level(frozenset({"requests", "limits", "claims"})),
    )
    return _level(_OBJECT, metadata=_level(_METADATA), spec=spec)


FREE = Level(frozenset(), {})
LEVELS: Mapping[str, Level] = {"InferenceService": _service(), "InferenceGraph": _graph()}
