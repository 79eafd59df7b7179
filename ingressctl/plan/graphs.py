"""Graphs as their routers run them: which ones a request comes to, and with which URLs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from urllib.parse import urlsplit

import msgspec

from ingressctl.api import configmaps, inferencegraphs, inferenceservices
from ingressctl.api.inferencegraphs import KIND, Fallback, Node, Spec, Step
from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core import naming
from ingressctl.core.kserve import configuration
from ingressctl.core.model import Service
from ingressctl.core.ports import Provider
from ingressctl.core.settings import Settings
from ingressctl.core.values import Value
from ingressctl.core.world import Reads, World
from ingressctl.plan import addressing, chain
from ingressctl.plan.explanation import Branch, Explanation, leaves
from ingressctl.sources.graph import pods, targets, view
from ingressctl.sources.graph.scope import KNATIVE_SERVICE

_REVISION = re.compile(r"-\d{5}(-private)?$")

Url = Callable[[str], str]
"""A step's URL, to what is called in its place."""


class Runnable(Value, frozen=True):
    """A graph in which every step that is not a node has a URL. `propagate` is what its
    router has in PROPAGATE_HEADERS, None where the variable is not set."""

    ref: Ref
    spec: Spec
    propagate: str | None
    stopped: bool = False


def met(answer: Explanation, world: World) -> tuple[Raw, ...]:
    """The graphs whose routers a request may come to, the first entry's first."""
    found: dict[Ref, Raw] = {}
    for attempt in answer.attempts:
        for leaf in leaves(attempt):
            graph = _behind(leaf.branch, world)
            if graph is not None:
                found[ref_of(graph)] = graph
    return tuple(found.values())


def _behind(branch: Branch | None, world: World) -> Raw | None:
    target = branch.split.target if branch is not None else None
    return of_service(target, world) if isinstance(target, Service) else None


def of_service(service: Service, world: World) -> Raw | None:
    """The graph whose router stands behind a Service, or behind a revision of its own."""
    obj = world.get(Ref("", "Service", service.namespace, service.name))
    above = chain.owners(obj, world) if obj is not None else ()
    base = without_revision(service)
    for ref in (*above, Ref(*KIND, base.namespace, base.name)):
        graph = world.get(ref) if ref[:2] == KIND else None
        if graph is not None:
            return graph
    return None


def of_host(host: str, world: World, settings: Settings) -> Raw | None:
    """The graph whose router a client inside the cluster reaches by that name."""
    ref = addressing.service(host, settings.cluster_domain)
    return None if ref is None else of_service(Service(ref.namespace, ref.name), world)


def without_revision(service: Service) -> Service:
    """The Service of a Knative Service, given that of one of its revisions."""
    return Service(service.namespace, _REVISION.sub("", service.name))


def runnable(
    obj: Raw, world: World, settings: Settings, providers: Mapping[str, Provider]
) -> Runnable:
    """The graph with the URLs that its reconcile finds. What cannot be resolved yet has the
    in-cluster name of its target. Raises inferenceservices.ViewFault."""
    graph = view.of(obj, world)
    reads = Reads(world, settings, providers=providers)
    resolved = targets.resolve(graph.namespace, graph.spec, reads).spec
    spec = _mapped(resolved, lambda step: _named(step, graph.namespace, settings))
    try:
        propagate = pods.propagated(configuration.router(reads), reads)
    except configmaps.ConfigFault:
        propagate = None
    return Runnable(graph.ref, spec, propagate, graph.stopped)


def of_owners(
    owners: Iterable[Ref], world: World, settings: Settings, providers: Mapping[str, Provider]
) -> Mapping[Service, Runnable]:
    """The graphs among owners of routes, by the Services that lead to their routers.

    In Knative mode the owner is the graph's Knative Service.
    """
    found = {}
    for ref in owners:
        graph = of_service(Service(ref.namespace, ref.name), world) if ref[:2] in _OWNERS else None
        if graph is not None and graph["metadata"]["name"] == ref.name:
            found[Service(ref.namespace, ref.name)] = runnable(graph, world, settings, providers)
    return found


_OWNERS = (KIND, KNATIVE_SERVICE)


def public_host(service: Service, world: World) -> str:
    """The public host of the InferenceService or graph of a Service's name; "" without."""
    for kind in (inferenceservices.KIND, KIND):
        obj = world.get(Ref(*kind, service.namespace, service.name))
        url = str(((obj or {}).get("status") or {}).get("url") or "")
        if url:
            return urlsplit(url).hostname or ""
    return ""


def with_urls(spec: Spec, url: Url) -> Spec:
    """The graph with other URLs."""
    return _mapped(spec, lambda step: url(step.serviceUrl) if step.serviceUrl else "")


def urls(spec: Spec) -> Iterator[str]:
    """All URLs that a router of the graph may call."""
    for target in inferencegraphs.targets(spec):
        if target.serviceUrl and not target.nodeName:
            yield target.serviceUrl


def _named(target: Step | Fallback, namespace: str, settings: Settings) -> str:
    name = target.serviceName or target.graphName
    if target.serviceUrl or target.nodeName or not name:
        return target.serviceUrl
    return f"http://{naming.internal_host(name, namespace, settings.cluster_domain)}/"


def _mapped(spec: Spec, url: Callable[[Step | Fallback], str]) -> Spec:
    nodes = {name: _node(node, url) for name, node in spec.nodes.items()}
    return msgspec.structs.replace(spec, nodes=nodes)


def _node(node: Node, url: Callable[[Step | Fallback], str]) -> Node:
    steps = [_step(step, url) for step in node.steps or ()]
    return msgspec.structs.replace(node, steps=steps)


def _step(step: Step, url: Callable[[Step | Fallback], str]) -> Step:
    fallback = step.fallback
    if fallback is not None:
        fallback = msgspec.structs.replace(fallback, serviceUrl=url(fallback))
    return msgspec.structs.replace(step, serviceUrl=url(step), fallback=fallback)
