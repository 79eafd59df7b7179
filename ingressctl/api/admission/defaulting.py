"""What admission fills in before an InferenceService is stored.

Source of the rules: spec/kserve-runtimes.md 3, spec/kserve-ingress.md 19,
spec/kserve-workloads.md 2. The input is never changed. What has a wrong type is left
alone: refusing it is for `validate`. A second pass over the result changes nothing,
except that without R1 two framework keys overwrite each other in turn, as in KServe.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingressctl.api import configmaps
from ingressctl.api.admission import resources
from ingressctl.api.admission.forms import KSERVE_CONTAINER
from ingressctl.api.admission.refusals import Differs
from ingressctl.api.inferenceservices import FRAMEWORKS, MODE_ANNOTATION
from ingressctl.api.refs import Raw

FORMAT_ANNOTATION = "modelFormat"
MODEL_MESH = "ModelMesh"
MOUNT_PATH = "/mnt/models"

_V2_KEYS = frozenset({"triton", "onnx", "huggingface"})
_V2_FORMATS = frozenset({"triton", "vLLM"})
_CONTAINER_LISTS = ("containers", "initContainers")
_CONTAINER_KEYS = frozenset({*FRAMEWORKS, "model", "art"})

Dict = dict[str, Any]


def default(
    obj: Raw, *, config: Mapping[str, str], differs: Differs, old: Raw | None = None
) -> Raw:
    """The InferenceService as it would be stored.

    `config` is `data` of inferenceservice-config; `old` the stored object on update.
    Raises configmaps.ConfigFault when a key of the configuration cannot be used.
    """
    service: Dict = _thaw(dict(obj))
    spec = _mapping(service.get("spec"))
    if spec is None:
        return service
    model_mesh = _annotation(service, MODE_ANNOTATION) == MODEL_MESH
    _default_mode(service, old, config, differs)
    if not model_mesh:
        _default_predictor(service, spec, old, differs)
    _default_containers(spec, config, differs, predictor=not model_mesh)
    if not _automount(config, differs):
        _disable_automount(spec)
    _write_zero_values(spec)
    return service


def _thaw(value: Any) -> Any:
    """A copy of JSON data that may be changed; the status is shared, as nothing writes it."""
    if isinstance(value, dict):
        return {key: inner if key == "status" else _thaw(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_thaw(inner) for inner in value]
    return value


def _mapping(value: Any) -> Dict | None:
    return value if isinstance(value, dict) else None


def _mappings(value: Any) -> list[Dict]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _annotation(obj: Raw, name: str) -> str:
    metadata = obj.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    value = annotations.get(name) if isinstance(annotations, Mapping) else None
    return value if isinstance(value, str) else ""


def _annotate(service: Dict, name: str, value: str) -> None:
    metadata = service.setdefault("metadata", {})
    if not isinstance(metadata, dict):
        return
    if metadata.get("annotations") is None:
        metadata["annotations"] = {}
    if isinstance(metadata["annotations"], dict):
        metadata["annotations"][name] = value


def _default_mode(
    service: Dict, old: Raw | None, config: Mapping[str, str], differs: Differs
) -> None:
    """The mode annotation: old names translated; written if absent, save for Knative.

    A service that runs keeps the mode of its status (Q44).
    """
    written = _annotation(service, MODE_ANNOTATION)
    if written:
        if written in configmaps.OLD_MODES:
            _annotate(service, MODE_ANNOTATION, configmaps.OLD_MODES[written])
        return
    mode = configmaps.parse_default_mode(config.get("deploy"))
    if differs("Q44"):
        mode = status_mode(service) or status_mode(old or {}) or mode
    if mode in ("Standard", MODEL_MESH):
        _annotate(service, MODE_ANNOTATION, mode)


def status_mode(obj: Raw) -> str:
    """The mode in the status, old names translated; "" if there is none."""
    status = obj.get("status")
    mode = status.get("deploymentMode") if isinstance(status, Mapping) else None
    return configmaps.OLD_MODES.get(mode, mode) if isinstance(mode, str) else ""


def _default_predictor(service: Dict, spec: Dict, old: Raw | None, differs: Differs) -> None:
    predictor = _mapping(spec.get("predictor"))
    if predictor is None:
        return
    _default_model(predictor, differs)
    _default_format_annotation(service, predictor, old, differs)
    if differs("R4"):
        for canary in _mappings(spec.get("canary")):
            _default_model(_mapping(canary.get("predictor")) or {}, differs)


def _default_model(predictor: Dict, differs: Differs) -> None:
    _rewrite_framework(predictor, differs)
    model = _mapping(predictor.get("model"))
    if model is None or model.get("protocolVersion") is not None:
        return
    formats = _V2_FORMATS | _V2_KEYS if differs("R2") else _V2_FORMATS
    if _format_of(predictor) in formats:
        model["protocolVersion"] = "v2"


def _rewrite_framework(predictor: Dict, differs: Differs) -> None:
    """The first framework key becomes `model`, over whatever stands there (R1)."""
    key = next((key for key in FRAMEWORKS if isinstance(predictor.get(key), dict)), None)
    if key is None or (predictor.get("model") is not None and differs("R1")):
        return
    model = {**predictor.pop(key), "modelFormat": {"name": key}}
    if key in _V2_KEYS and model.get("protocolVersion") is None:
        model["protocolVersion"] = "v2"
    model.pop("runtime", None)
    predictor["model"] = model


def _format_of(predictor: Any) -> str:
    """Name of the model's format, of a `model` or of a framework key; "" if none."""
    if not isinstance(predictor, Mapping):
        return ""
    model = predictor.get("model")
    if isinstance(model, Mapping):
        named = model.get("modelFormat")
        name = named.get("name") if isinstance(named, Mapping) else None
        return name if isinstance(name, str) else ""
    return next((key for key in FRAMEWORKS if isinstance(predictor.get(key), Mapping)), "")


def _default_format_annotation(
    service: Dict, predictor: Dict, old: Raw | None, differs: Differs
) -> None:
    """Annotation `modelFormat`: written if absent; follows the format under R3.

    What equals the format of the stored object was written by admission, not by a user.
    """
    wanted = _format_of(predictor)
    written = _annotation(service, FORMAT_ANNOTATION)
    if not wanted or written == wanted:
        return
    old_spec = (old or {}).get("spec")
    stale = isinstance(old_spec, Mapping) and written == _format_of(old_spec.get("predictor"))
    if not written or (stale and differs("R3")):
        _annotate(service, FORMAT_ANNOTATION, wanted)


def _default_containers(
    spec: Dict, config: Mapping[str, str], differs: Differs, *, predictor: bool
) -> None:
    """The serving container of custom components gets its name and default resources."""
    fill = resources.Defaults.of(config, raise_limits=differs("W3"))
    if predictor:
        _default_custom_predictor(_mapping(spec.get("predictor")) or {}, fill)
    if predictor and differs("R4"):
        for canary in _mappings(spec.get("canary")):
            _default_custom_predictor(_mapping(canary.get("predictor")) or {}, fill)
    for name in ("transformer", "explainer"):
        component = _mapping(spec.get(name)) or {}
        art = _mapping(component.get("art")) if name == "explainer" else None
        containers = _mappings(component.get("containers"))
        for container in [art] if art is not None and not containers else containers[:1]:
            container["name"] = KSERVE_CONTAINER
            fill.into(container)


def _default_custom_predictor(predictor: Dict, fill: resources.Defaults) -> None:
    containers = _mappings(predictor.get("containers"))
    if not containers or _format_of(predictor) or predictor.get("model") is not None:
        return
    if sum(container.get("name") == KSERVE_CONTAINER for container in containers) > 1:
        return
    if len(containers) == 1 or not containers[0].get("name"):
        containers[0]["name"] = KSERVE_CONTAINER
    fill.into(containers[0])


def _automount(config: Mapping[str, str], differs: Differs) -> bool:
    """Whether pods get the token of their service account; W4: unless said otherwise."""
    said = configmaps.parse_security(config.get("security")).autoMountServiceAccountToken
    return differs("W4") if said is None else said


def _disable_automount(spec: Dict) -> None:
    for name in ("predictor", "transformer", "explainer"):
        component = _mapping(spec.get(name))
        if component is not None and component.get("automountServiceAccountToken") is None:
            component["automountServiceAccountToken"] = False


def _write_zero_values(spec: Dict) -> None:
    """What Go's types and the schema add to every container: name, resources, protocol."""
    canaries = (canary.get("predictor") for canary in _mappings(spec.get("canary")))
    components = (spec.get(name) for name in ("predictor", "transformer", "explainer"))
    for component in (*components, *canaries):
        if not isinstance(component, dict):
            continue
        _write_zero_values_of_pod(component)
        _write_zero_values_of_pod(_mapping(component.get("workerSpec")) or {})
        for key in _CONTAINER_KEYS & component.keys():
            _write_zero_values_of(_mapping(component[key]))
        for uri in _mappings(component.get("storageUris")):
            if uri.get("mountPath") is None:
                uri["mountPath"] = MOUNT_PATH


def _write_zero_values_of_pod(pod: Dict) -> None:
    for name in _CONTAINER_LISTS:
        for container in _mappings(pod.get(name)):
            _write_zero_values_of(container)


def _write_zero_values_of(container: Dict | None) -> None:
    if container is None:
        return
    for key, zero in (("name", ""), ("resources", {})):
        if container.get(key) is None:
            container[key] = zero
    for port in _mappings(container.get("ports")):
        if port.get("protocol") is None:
            port["protocol"] = "TCP"
