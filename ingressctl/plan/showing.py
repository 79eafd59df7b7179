"""What of an object people are shown: the wish, without bookkeeping and API defaults.

A default that the API server fills in, a status or a managed field would drown the one line
that changed. Values of Secrets are never shown.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from ingressctl.api.refs import Raw
from ingressctl.plan import normalise

NOISE = frozenset(
    (
        "managedFields resourceVersion generation uid creationTimestamp selfLink "
        "deletionTimestamp deletionGracePeriodSeconds ownerReferences finalizers generateName"
    ).split()
)
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
BOOKKEEPING = frozenset((LAST_APPLIED, "deployment.kubernetes.io/revision"))
MASK = "***"

_SERVICE_DEFAULTS: Mapping[str, Any] = {
    "internalTrafficPolicy": "Cluster",
    "ipFamilyPolicy": "SingleStack",
    "sessionAffinity": "None",
    "type": "ClusterIP",
}
_SERVICE_ASSIGNED = ("clusterIPs", "ipFamilies")


def shown(
    obj: Raw, *, everything: bool = False, beside: Raw | None = None, side: str = ""
) -> Mapping[str, Any]:
    """The object as it is compared and printed; `everything` keeps noise, never Secrets.

    `beside` is the same object before or after: a value that differs there is masked with
    `side`, so that the change is seen and the value is not.
    """
    masked = _masked(obj, beside, side) if obj.get("kind") == "Secret" else obj
    if everything:
        return masked
    result = {key: masked[key] for key in ("apiVersion", "kind") if key in masked}
    result["metadata"] = _metadata(masked)
    rest = {key: value for key, value in masked.items() if key not in result and key != "status"}
    if "spec" in rest:
        rest["spec"] = _spec(masked)
    return {**result, **rest}


def _metadata(obj: Raw) -> dict[str, Any]:
    kept = {}
    for key, value in (obj.get("metadata") or {}).items():
        if key in NOISE:
            continue
        said = _said(value) if key == "annotations" else value
        if said:
            kept[key] = said
    return kept


def _said(annotations: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in annotations.items() if name not in BOOKKEEPING}


def _spec(obj: Raw) -> Any:
    kind = obj.get("kind")
    if kind == "HTTPRoute":
        return _tidy_route(normalise.normal_spec(obj))
    spec = _without_empty(obj["spec"])
    if kind == "Service" and isinstance(spec, dict):
        return _service(spec)
    return spec


def _tidy_route(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Normalised HTTPRoutes minus the values that every one of them has."""
    tidy = dict(spec)
    tidy["parentRefs"] = [_less(item, normalise.PARENT_DEFAULTS) for item in spec["parentRefs"]]
    tidy["rules"] = [
        {**rule, "backendRefs": _tidy_backends(rule["backendRefs"])} for rule in spec["rules"]
    ]
    cleaned: dict[str, Any] = _without_empty(tidy)
    return cleaned


def _tidy_backends(backends: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The default weight matters only beside another backend."""
    defaults = normalise.BACKEND_DEFAULTS
    if len(backends) > 1:
        defaults = {key: value for key, value in defaults.items() if key != "weight"}
    return [_less(backend, defaults) for backend in backends]


def _less(value: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    return {key: item for key, item in value.items() if defaults.get(key, _NOTHING) != item}


_NOTHING = object()


def _service(spec: dict[str, Any]) -> dict[str, Any]:
    """A Service without what the API server assigns or fills in."""
    less = {key: value for key, value in spec.items() if key not in _SERVICE_ASSIGNED}
    if less.get("clusterIP") != "None":
        less.pop("clusterIP", None)
    less = _less(less, _SERVICE_DEFAULTS)
    if "ports" in less:
        less["ports"] = [_less(port, {"protocol": "TCP"}) for port in less["ports"]]
    return less


def _without_empty(value: Any) -> Any:
    """Absent, null, "" and {} say the same in Kubernetes' APIs; lists keep their places."""
    if isinstance(value, dict):
        cleaned = {}
        for key, item in value.items():
            kept = _without_empty(item) if isinstance(item, dict | list) else item
            if kept or not (kept is None or isinstance(kept, str | dict | list)):
                cleaned[key] = kept
        return cleaned
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    return value


def _masked(obj: Raw, beside: Raw | None, side: str) -> Raw:
    """A Secret as it is stored, without its values and without kubectl's copy of them."""
    values = _stored(obj)
    others = values if beside is None else _stored(beside)
    data = {
        key: MASK if others.get(key, value) == value else f"{MASK} ({side})"
        for key, value in values.items()
    }
    hidden = {key: value for key, value in obj.items() if key not in ("data", "stringData")}
    metadata = {**(obj.get("metadata") or {})}
    if LAST_APPLIED in (metadata.get("annotations") or {}):
        metadata["annotations"] = {**metadata["annotations"], LAST_APPLIED: MASK}
    return {**hidden, "metadata": metadata, **({"data": data} if data else {})}


def _stored(secret: Raw) -> dict[str, Any]:
    """The values of a Secret; `stringData` is how people write them, and wins."""
    given = {key: secret.get(key) for key in ("data", "stringData")}
    data, plain = (value if isinstance(value, Mapping) else {} for value in given.values())
    encoded = {key: base64.b64encode(str(value).encode()).decode() for key, value in plain.items()}
    return {**data, **encoded}
