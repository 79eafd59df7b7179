"""Rules of one InferenceService: name, implementations, components, canaryTrafficPercent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ingressctl.api.admission import (
    canaries,
    containers,
    forms,
    modes,
    multinode,
    names,
    scaling,
    storage,
)
from ingressctl.api.admission.refusals import Differs, Refusal
from ingressctl.api.models.inferenceservices import Component, InferenceService, Predictor
from ingressctl.api.refs import Raw

_LOGGER_MODES = ("all", "request", "response")


def refusals(
    service: InferenceService,
    *,
    config: Mapping[str, str],
    differs: Differs,
    peers: Iterable[Raw],
) -> Iterator[Refusal]:
    """Every fault of the service, in the order in which KServe looks for them."""
    yield from names.of_service(service)
    if differs("F52"):
        yield from names.of_predictor(service.spec.predictor, "spec.predictor")
    yield from scaling.class_refusals(service)
    yield from containers.blocked_variables(service)
    yield from multinode.refusals(service, differs=differs, peers=peers)
    yield from containers.storage_of_transformer(service.spec.predictor)
    yield from _framework_names(service.spec.predictor)
    for name, component in forms.components(service):
        yield from storage.refusals(component, f"spec.{name}")
        yield from _component(service, name, component, differs)
    yield from _traffic_percents(service, config, differs)
    yield from canaries.refusals(service, differs=differs)


def _framework_names(predictor: Predictor) -> Iterator[Refusal]:
    models = [*forms.frameworks(predictor)]
    if predictor.model is not None:
        models.append(("model", predictor.model))
    for key, model in models:
        if model.name:
            yield Refusal(
                "the 'name' field is not allowed in standard predictor",
                f"spec.predictor.{key}.name",
                "remove it: the container's name is always kserve-container",
            )


def _component(
    service: InferenceService, name: str, component: Component, differs: Differs
) -> Iterator[Refusal]:
    path = f"spec.{name}"
    if forms.implementations(component) != 1:
        yield Refusal(
            forms.exactly_one_text(name), path, "write one implementation", _cause(component)
        )
    if isinstance(component, Predictor) and differs("R9"):
        yield from containers.no_serving_container(component, path)
    yield from scaling.concurrency_and_replicas(component, path)
    if differs("F5"):
        yield from _timeout(component, path)
    yield from _logger(component, path)
    yield from scaling.metrics(service, component, path)


def _timeout(component: Component, path: str) -> Iterator[Refusal]:
    """KServe stores a negative one, and nobody takes what it makes of it."""
    if (component.timeout or 0) < 0:
        yield Refusal(
            f"{path}.timeout must not be negative, it is {component.timeout}",
            f"{path}.timeout",
            "write a number of seconds; 0 is no limit",
            "F5",
        )


def _cause(component: Component) -> str:
    """R1: beside `model` KServe's defaulting lets a framework key win without a word."""
    both = isinstance(component, Predictor) and component.model and forms.frameworks(component)
    return "R1" if both else ""


def _logger(component: Component, path: str) -> Iterator[Refusal]:
    if component.logger is not None and component.logger.mode not in _LOGGER_MODES:
        yield Refusal(
            "invalid logger type", f"{path}.logger.mode", "write all, request or response"
        )


def _traffic_percents(
    service: InferenceService, config: Mapping[str, str], differs: Differs
) -> Iterator[Refusal]:
    """Q39: KServe looks at canaryTrafficPercent in Knative mode only, and never checks it."""
    if not differs("Q39"):
        return
    for name, component in forms.components(service):
        percent = component.canaryTrafficPercent
        if percent is None:
            continue
        path = f"spec.{name}.canaryTrafficPercent"
        if _mode(service, config) == "Standard":
            yield Refusal(
                f"{path} has no effect in Standard deployment mode: "
                "a canary is written in spec.canary there",
                path,
                "remove it and describe the canary in spec.canary",
                "Q39",
            )
        elif not 0 <= percent <= 100:
            yield Refusal(
                f"{path} must be between 0 and 100, it is {percent}",
                path,
                "write a whole number from 0 to 100",
                "Q39",
            )


def _mode(service: InferenceService, config: Mapping[str, str]) -> str:
    stored = service.status.deploymentMode if service.status else None
    return modes.resolve(stored, service.metadata.annotations, config)
