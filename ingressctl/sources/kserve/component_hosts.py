"""The host names that follow from the components of an InferenceService."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from ingressctl.api.inferenceservices import InferenceService
from ingressctl.core.world import Reads


def component_name(service: InferenceService, component: str, provider: str, reads: Reads) -> str:
    """The name that a component's host is rendered from in Standard mode.

    HTTPRoutes use ``<isvc>-predictor`` whatever predictor.name says, Ingresses the full
    name; with Q25 all use the first.
    """
    if provider == "ingress" and not reads.differs("Q25"):
        return service.object_name(component)
    return f"{service.name}-{component}"


def knative_host(
    service: InferenceService, component_url: Callable[[str], str], reads: Reads
) -> str:
    """The service host in Knative mode, taken from the entry component's URL; "" without.

    KServe peels the component's name off by text replacement; with Q1 exactly the leading
    object name is replaced, and any component's URL tells the host as well.
    """
    if reads.differs("Q1"):
        order = dict.fromkeys((service.entry, *(name for name, _ in service.components)))
        hosts = ((component, _host_of(component_url(component))) for component in order)
        return next((_peel_name(host, service, name) for name, host in hosts if host), "")
    component = service.entry
    host = _host_of(component_url(component))
    if "-default" in host:
        return host.replace(f"-{component}-default", "", 1)
    return host.replace(f"-{component}", "", 1)


def _host_of(url: str) -> str:
    return urlsplit(url).hostname or ""


def _peel_name(host: str, service: InferenceService, component: str) -> str:
    object_name = service.object_name(component)
    if not host.startswith(object_name):
        return host
    rest = host[len(object_name) :]
    legacy = rest.removeprefix("-default")
    if legacy != rest and legacy.startswith((f".{service.namespace}.", f"-{service.namespace}.")):
        rest = legacy
    return service.name + rest
