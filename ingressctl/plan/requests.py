"""A request that works, for each service and graph (F108): what users ask for first.

The path of a model API is not in the URL that status prints. Which one holds follows from
the protocol of the model and its runtime: v1, v2 (Open Inference Protocol), or OpenAI for
language models. A gRPC model has no path: what is told is the host and the method to call.

What is told works: it is asked of what was emitted, as `explain` asks (plan/explain.py), and
left out where nothing answers. So no status URL is believed whose provider made no route.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ingressctl.api import inferencegraphs
from ingressctl.api.inferenceservices import InferenceService, ViewFault
from ingressctl.api.refs import Raw, Ref
from ingressctl.core.ports import Provider
from ingressctl.core.settings import Settings
from ingressctl.core.table import Request
from ingressctl.plan import entries, explain, registry, serving
from ingressctl.plan.cascade import Cascade, Step
from ingressctl.plan.explanation import leaves

OPENAI_SERVERS = ("huggingface", "vllm")
OPENAI_TASKS = "/openai/v1/chat/completions"
GRPC_METHODS: Mapping[str, str] = {
    "grpc-v1": "tensorflow.serving.PredictionService/Predict",
    "grpc-v2": "inference.GRPCInferenceService/ModelInfer",
}
RUNTIMES = (
    ("serving.kserve.io", "ServingRuntime"),
    ("serving.kserve.io", "ClusterServingRuntime"),
)


@dataclass(frozen=True, slots=True)
class Usage:
    """A request for one service: URLs from outside ("" if nothing leads in) and from inside.

    `call` is the method of gRPC, "" for HTTP.
    """

    service: Ref
    outside: str
    inside: str
    call: str = ""

    def line(self, url: str) -> str:
        """The request to one of the URLs, in words."""
        if self.call:
            return f"{self.service}: grpc {urlsplit(url).netloc} {self.call}"
        return f"{self.service}: POST {url}"


def usage(
    cascade: Cascade,
    *,
    settings: Settings,
    providers: Mapping[str, Provider] | None = None,
    only: Container[Ref] | None = None,
) -> tuple[str, ...]:
    """Lines to print: a request from outside and one from inside for each service."""
    installed = registry.providers() if providers is None else providers
    carried = serving.carried(cascade, settings, installed)

    def works(url: str, via: str = "") -> bool:
        answer = explain.explain(
            _request(url), cascade.world, settings, via=via, providers=installed, carried=carried
        )
        ends = (leaf for attempt in answer.attempts for leaf in leaves(attempt))
        return any(leaf.status == 0 for leaf in ends)

    lines: list[str] = []
    for item in usages(cascade, settings=settings):
        if only is not None and item.service not in only:
            continue
        if item.outside and works(item.outside):
            lines.append(item.line(item.outside))
        if works(item.inside) or works(item.inside, entries.MESH):
            lines.append(f"{item.line(item.inside)} (in the cluster)")
    return tuple(lines)


def _request(url: str) -> Request:
    parts = urlsplit(url)
    return Request(
        "POST",
        parts.netloc,
        parts.path,
        {},
        scheme="https" if parts.scheme == "https" else "http",
        port=parts.port or 0,
    )


def usages(cascade: Cascade, *, settings: Settings) -> Iterator[Usage]:
    """The requests of every service that has a URL."""
    for step in cascade.steps:
        obj = cascade.world.get(step.ref)
        url = _url(step)
        if obj is None or not url:
            continue
        try:
            path, call = _called(step.ref, obj, cascade)
        except ViewFault:
            continue
        inside = str(((step.outcome.status or {}).get("address") or {}).get("url") or "")
        local = (urlsplit(url).hostname or "").endswith(f".svc.{settings.cluster_domain}")
        outside = "" if local else url.rstrip("/") + path
        yield Usage(step.ref, outside, (inside or url).rstrip("/") + path, call)


def _called(ref: Ref, obj: Raw, cascade: Cascade) -> tuple[str, str]:
    """The path of a prediction and the method of gRPC; a graph takes every path.

    Raises ViewFault.
    """
    if ref[:2] == inferencegraphs.KIND:
        return "/", ""
    service = InferenceService(obj)
    return api_path(service, cascade), GRPC_METHODS.get(_protocol(service, cascade), "")


def _url(step: Step) -> str:
    return str((step.outcome.status or {}).get("url") or "")


def api_path(service: InferenceService, cascade: Cascade) -> str:
    """The path of a prediction, by protocol and name of the model."""
    protocol = _protocol(service, cascade)
    if protocol in GRPC_METHODS:
        return f"/{GRPC_METHODS[protocol]}"
    if protocol == "openai":
        return OPENAI_TASKS
    if protocol == "v2":
        return f"/v2/models/{service.name}/infer"
    return f"/v1/models/{service.name}:predict"


def _protocol(service: InferenceService, cascade: Cascade) -> str:
    model = service.spec.predictor.model or {}
    written = str(model.get("protocolVersion") or "")
    if written:
        return written
    kind = str((model.get("modelFormat") or {}).get("name") or "")
    if kind in OPENAI_SERVERS:
        return "openai"
    runtime = _runtime(service, model, cascade)
    spoken = tuple((runtime.get("spec") or {}).get("protocolVersions") or ())
    return "v2" if spoken and "v1" not in spoken and "v2" in spoken else "v1"


def _runtime(
    service: InferenceService, model: Mapping[str, Any], cascade: Cascade
) -> Mapping[str, Any]:
    """The runtime that the model names or that the status records."""
    told = service.status.get("servingRuntimeName") or service.status.get(
        "clusterServingRuntimeName"
    )
    name = str(model.get("runtime") or told or "")
    for group, kind in RUNTIMES:
        space = service.namespace if kind == "ServingRuntime" else ""
        found = cascade.world.get(Ref(group, kind, space, name))
        if found is not None:
            return found
    return {}
