"""InferenceServices and runtimes for tests of admission, and arbitrary JSON."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from ingressctl.api import admission
from ingressctl.api.inferenceservices import FRAMEWORKS, MODE_ANNOTATION
from ingressctl.api.refs import Raw
from ingressctl.core.differences import BETTER, KSERVE, Compat

STANDARD = {MODE_ANNOTATION: "Standard"}
MODEL: dict[str, Any] = {"modelFormat": {"name": "sklearn"}, "storageUri": "gs://models/v1"}


def service(
    spec: Any = None, *, annotations: Any = None, name: Any = "iris", **others: Any
) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": name, "namespace": "team-a"}
    if annotations is not None:
        meta["annotations"] = annotations
    return {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": meta,
        "spec": {"predictor": {"model": MODEL}} if spec is None else spec,
        **others,
    }


def canary_service(*canaries: Mapping[str, Any], **stable: Any) -> dict[str, Any]:
    predictor = {"model": MODEL, **stable}
    return service({"predictor": predictor, "canary": list(canaries)}, annotations=STANDARD)


def canary(percent: Any, name: Any = "v2", **fields: Any) -> dict[str, Any]:
    predictor = {"name": name, "model": {**MODEL, "storageUri": "gs://models/v2"}, **fields}
    return {"trafficPercent": percent, "predictor": predictor}


def runtime(
    name: str, *formats: Mapping[str, Any], namespace: str = "", **spec: Any
) -> dict[str, Any]:
    meta = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "ServingRuntime" if namespace else "ClusterServingRuntime",
        "metadata": meta,
        "spec": {"supportedModelFormats": list(formats), "protocolVersions": ["v1"], **spec},
    }


def refuse(
    new: Raw,
    *,
    old: Raw | None = None,
    compat: Compat = BETTER,
    config: Mapping[str, str] | None = None,
    peers: tuple[Raw, ...] = (),
) -> dict[str, str]:
    """Message by path of everything that is refused. Fails if two faults share a path."""
    refusals = admission.validate(
        new,
        old=old,
        operation="create" if old is None else "update",
        config=config or {},
        differs=compat.differs,
        peers=peers,
    )
    told = {refusal.path: refusal.message for refusal in refusals}
    assert len(told) == len(refusals)
    assert all(refusal.remedy for refusal in refusals)
    return told


def default(
    obj: Raw,
    *,
    old: Raw | None = None,
    compat: Compat = BETTER,
    config: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    return dict(admission.default(obj, config=config or {}, differs=compat.differs, old=old))


KEYS = st.sampled_from(
    [
        *(
            "metadata spec status predictor transformer explainer canary model art name "
            "containers initContainers workerSpec annotations labels trafficPercent "
            "minReplicas maxReplicas modelFormat storageUri runtime protocolVersion resources "
            "requests limits ports env deploymentMode kind apiVersion supportedModelFormats "
            "priority cpu"
        ).split(),
        *FRAMEWORKS,
        MODE_ANNOTATION,
        "serving.kserve.io/autoscalerClass",
    ]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-5, 200)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "v2", "kserve-container", "Standard", "Knative", "sklearn", "none"])
    | st.text("aZ0-_.:/ é\n", max_size=8)
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4)
)
OBJECTS = st.dictionaries(KEYS, JSON, max_size=4)
KINDS = st.sampled_from(
    ["InferenceService", "ServingRuntime", "ClusterServingRuntime", "Pod", None, 3]
)
COMPATS = st.sampled_from([KSERVE, BETTER])
CONFIG = {
    "deploy": '{"defaultDeploymentMode": "Standard"}',
    "inferenceService": '{"resource": {"cpuLimit": "1", "memoryLimit": "2Gi", '
    '"cpuRequest": "1", "memoryRequest": "2Gi"}}',
    "security": '{"autoMountServiceAccountToken": false}',
}

CONTAINERS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["", "kserve-container", "side", "transformer-container"]),
        "image": st.just("example/server:1"),
        "ports": st.lists(st.fixed_dictionaries({"containerPort": st.integers(1, 9)}), max_size=2),
        "resources": st.fixed_dictionaries(
            {},
            optional={
                "requests": st.dictionaries(
                    st.sampled_from(["cpu", "memory"]), st.sampled_from(["4", "100m", "4Gi"])
                ),
                "limits": st.dictionaries(
                    st.sampled_from(["cpu", "memory"]), st.sampled_from(["4", "100m", "4Gi"])
                ),
            },
        ),
    },
)
PREDICTORS = st.fixed_dictionaries(
    {},
    optional={
        "containers": st.lists(CONTAINERS, max_size=3),
        "model": st.sampled_from(["sklearn", "onnx", "triton", "vLLM"]).map(
            lambda name: {"modelFormat": {"name": name}}
        ),
        "sklearn": CONTAINERS,
        "triton": CONTAINERS,
        "workerSpec": st.just({"containers": [{"image": "x"}]}),
    },
)
SERVICES = st.builds(
    service,
    st.fixed_dictionaries(
        {"predictor": PREDICTORS},
        optional={
            "transformer": st.fixed_dictionaries(
                {}, optional={"containers": st.lists(CONTAINERS, max_size=2)}
            ),
            "explainer": st.fixed_dictionaries({}, optional={"art": CONTAINERS}),
            "canary": st.lists(
                st.fixed_dictionaries(
                    {"trafficPercent": st.integers(0, 100), "predictor": PREDICTORS}
                ),
                max_size=2,
            ),
        },
    ),
    annotations=st.sampled_from([None, {}, STANDARD, {MODE_ANNOTATION: "RawDeployment"}]),
)


@st.composite
def broken(draw: st.DrawFn) -> dict[str, Any]:
    """A service of right types in which one value, somewhere, is arbitrary."""
    obj: dict[str, Any] = copy.deepcopy(draw(SERVICES))
    place: Any = obj
    while True:
        key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or draw(st.integers(0, 4)) == 0:
            place[key] = draw(JSON)
            return obj
        place = inner
