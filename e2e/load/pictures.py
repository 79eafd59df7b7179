"""What of a service's objects has to be the same, however it came to be.

Times, versions and ids differ from run to run; what other controllers make of the objects
(ReplicaSets, pods, EndpointSlices, statuses of workloads and routes) is theirs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from e2e.pods import api

Object = dict[str, Any]

LISTS = {
    "InferenceService": "/apis/serving.kserve.io/v1beta1/namespaces/{}/inferenceservices",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "Service": "/api/v1/namespaces/{}/services",
    "HorizontalPodAutoscaler": "/apis/autoscaling/v2/namespaces/{}/horizontalpodautoscalers",
    "HTTPRoute": "/apis/gateway.networking.k8s.io/v1/namespaces/{}/httproutes",
    "VirtualService": "/apis/networking.istio.io/v1/namespaces/{}/virtualservices",
}
PASSING = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields")
OF_NAMES = re.compile(r"(?<=-predictor-)[a-f0-9]{6,10}\b")
"""ReplicaSets are named after all that is in their pods, names too."""

GIVEN = ("clusterIP", "clusterIPs")


class Picture(dict[str, Object]):
    """The objects whose names begin with that of a service, by kind and name."""

    @property
    def service(self) -> Object:
        """The InferenceService."""
        return next(obj for key, obj in self.items() if key.startswith("InferenceService/"))

    @property
    def status(self) -> Mapping[str, Any]:
        """That of the InferenceService."""
        found: Mapping[str, Any] = self.service.get("status") or {}
        return found

    def condition(self, kind: str) -> str:
        """Of the InferenceService; "" without one."""
        found = (item for item in self.status.get("conditions") or () if item["type"] == kind)
        return next((str(item["status"]) for item in found), "")

    def names(self, kind: str) -> set[str]:
        """Of all objects of a kind."""
        return {key.partition("/")[2] for key in self if key.startswith(f"{kind}/")}

    def versions(self) -> dict[str, str]:
        """What changes whenever an object does."""
        return {key: obj["metadata"]["resourceVersion"] for key, obj in self.items()}

    def lasting(self, words: Mapping[str, str]) -> dict[str, Any]:
        """What is to be compared, with `words` (the run's own name and domains) replaced."""
        text = json.dumps({key: _lasting(obj) for key, obj in self.items()}, sort_keys=True)
        for word, general in words.items():
            text = text.replace(word, general)
        text = OF_NAMES.sub("SET", text)
        found: dict[str, Any] = json.loads(text)
        return found


async def taken(kubeconfig: Path, namespace: str, name: str) -> Picture:
    """All as it is now."""
    picture = Picture()
    async with api.connect(kubeconfig) as client:
        for kind, path in LISTS.items():
            for obj in (await client.get(path.format(namespace)))["items"]:
                own = obj["metadata"]["name"]
                if own == name or own.startswith(f"{name}-"):
                    picture[f"{kind}/{own}"] = obj
    return picture


def _lasting(obj: Object) -> Object:
    meta = {key: value for key, value in obj["metadata"].items() if key not in PASSING}
    for owner in meta.get("ownerReferences") or ():
        owner.pop("uid")
    kept = {key: value for key, value in obj.items() if key not in ("metadata", "status")}
    spec = kept.get("spec") or {}
    kept["spec"] = {key: value for key, value in spec.items() if key not in GIVEN}
    if "predictor" in spec:
        kept["status"] = _without_times(obj.get("status") or {})
    return {"metadata": meta, **kept}


def _without_times(status: Mapping[str, Any]) -> Object:
    conditions = [
        {key: value for key, value in item.items() if key != "lastTransitionTime"}
        for item in status.get("conditions") or ()
    ]
    return {**status, "conditions": sorted(conditions, key=lambda item: str(item["type"]))}


def differences(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Where two pictures differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            yield from differences(one.get(key), other.get(key), f"{path}/{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, pair in enumerate(zip(one, other, strict=True)):
            yield from differences(*pair, f"{path}/{place}")
    elif one != other:
        yield f"{path}: {one!r} is {other!r}"
