"""The pods of transformer and explainer: no runtime, a few arguments of KServe's.

spec/kserve-workloads.md 7. They always talk to the stable predictor.
"""

from __future__ import annotations

from collections.abc import Mapping

from ingressctl.api.inferenceservices import Component, InferenceService
from ingressctl.api.refs import Raw
from ingressctl.core.world import Reads
from ingressctl.sources.kserve.components import pods
from ingressctl.sources.kserve.components.pods import ISVC_NAME, MAIN, Pod


def pod(
    component: str, raw: Raw, typed: Component, service: InferenceService, *, reads: Reads
) -> Pod:
    """The pod of that component."""
    containers = tuple(raw.get("containers") or ()) or (_explainer_container(raw),)
    first = {**containers[0], "name": MAIN}
    always = component == "explainer" and not reads.differs("W13")
    first = _with_arguments(first, typed, service, port_always=always)
    if component == "transformer":
        first = dict(pods.with_variable(first, ISVC_NAME, service.name))
    return Pod((first, *containers[1:]), pods.fields_of(raw))


def _explainer_container(raw: Raw) -> Raw:
    """An explainer by its key (`art`) carries the container's fields there."""
    key = raw.get("art") or {}
    return {
        name: key[name] for name in ("image", "args", "env", "ports", "resources") if name in key
    }


def _with_arguments(
    container: Raw, typed: Component, service: InferenceService, *, port_always: bool
) -> dict[str, object]:
    args = list(container.get("args") or ())
    for name, value in _arguments(typed, service).items():
        if (port_always and name == "--http_port") or not _has(args, name):
            args += [name, value]
    return {**container, "args": args}


def _arguments(typed: Component, service: InferenceService) -> Mapping[str, str]:
    wanted = {
        "--model_name": service.name,
        "--predictor_host": f"{service.object_name('predictor')}.{service.namespace}",
        "--http_port": "8080",
    }
    if typed.containerConcurrency:
        wanted["--workers"] = str(typed.containerConcurrency)
    return wanted


def _has(args: list[str], name: str) -> bool:
    return any(str(arg).split("=", 1)[0].split(" ", 1)[0] == name for arg in args)
