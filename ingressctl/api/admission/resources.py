"""Default requests and limits of custom containers (spec/kserve-workloads.md 2).

Each absent one of cpu and memory is filled in from `inferenceService.resource`. KServe
does not look at what is there, so a default limit may lie below the own request and the
Deployment is refused for ever (W3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ingressctl.api import configmaps
from ingressctl.api.quantities import quantity


@dataclass(frozen=True, slots=True)
class Defaults:
    """Requests and limits by resource; with `raise_limits` neither contradicts the own ones."""

    requests: Mapping[str, str]
    limits: Mapping[str, str]
    raise_limits: bool

    @staticmethod
    def of(config: Mapping[str, str], *, raise_limits: bool) -> Defaults:
        """From `data` of the ConfigMap. Raises configmaps.ConfigFault."""
        given = configmaps.parse_inference_service(config.get("inferenceService")).resource
        requests = {"cpu": given.cpuRequest, "memory": given.memoryRequest}
        limits = {"cpu": given.cpuLimit, "memory": given.memoryLimit}
        return Defaults(_set(requests), _set(limits), raise_limits)

    def into(self, container: dict[str, Any]) -> None:
        """Fills in what the container does not say."""
        if container.get("resources") is None:
            container["resources"] = {}
        resources = container["resources"]
        if not isinstance(resources, dict):
            return
        own_requests, own_limits = resources.get("requests") or {}, resources.get("limits") or {}
        if not (isinstance(own_requests, Mapping) and isinstance(own_limits, Mapping)):
            return
        requests = {**self.requests, **own_requests}
        limits = {**self.limits, **own_limits}
        if self.raise_limits:
            limits = {**limits, **_bounded(limits, own_requests, own_limits, at_least=True)}
            requests = {**requests, **_bounded(requests, own_limits, own_requests, at_least=False)}
        resources.update({"requests": requests} if requests else {})
        resources.update({"limits": limits} if limits else {})


def _set(values: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in values.items() if value}


def _bounded(
    filled: Mapping[str, Any], bound: Mapping[str, Any], own: Mapping[str, Any], *, at_least: bool
) -> dict[str, Any]:
    """The defaults among `filled` that the user's `bound` on the other side moves."""
    moved: dict[str, Any] = {}
    for name in set(filled) - set(own):
        mine, theirs = quantity(filled[name]), quantity(bound.get(name))
        if mine is None or theirs is None:
            continue
        if (mine < theirs) if at_least else (mine > theirs):
            moved[name] = bound[name]
    return moved
