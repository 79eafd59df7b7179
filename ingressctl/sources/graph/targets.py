"""Every step's URL: services by name, and other graphs by name, anew in every reconcile.

What was read is recorded, so a graph is looked at again whenever a target changes (IG-R1).
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from ingressctl.api import inferencegraphs
from ingressctl.api.admission.graphs import places, steps
from ingressctl.api.inferencegraphs import Fallback, Node, Spec, Step
from ingressctl.api.refs import Ref
from ingressctl.core import naming
from ingressctl.core.kserve import configuration
from ingressctl.core.values import Value
from ingressctl.core.world import Reads
from ingressctl.sources.graph import services
from ingressctl.sources.graph.services import TargetFault

Target = TypeVar("Target", Step, Fallback)


class Problem(Value, frozen=True):
    """A target that cannot be called now. `path` is the field that names it."""

    path: str
    reason: str
    message: str
    waits: bool


class Resolved(Value, frozen=True):
    """The graph with a URL for each step that is not a node, and what is in the way."""

    spec: Spec
    problems: tuple[Problem, ...] = ()


def resolve(namespace: str, spec: Spec, reads: Reads) -> Resolved:
    """URLs that are given already stay as they are."""
    problems: list[Problem] = []
    nodes = {
        name: _node(namespace, name, node, reads, problems)
        for name, node in sorted(spec.nodes.items())
    }
    return Resolved(msgspec.structs.replace(spec, nodes=nodes), tuple(problems))


def _node(namespace: str, name: str, node: Node, reads: Reads, problems: list[Problem]) -> Node:
    if not node.steps:
        return node
    steps = []
    for place in places.of_node(name, node):
        step = _called(namespace, place.step, place.step.path, place.path, reads, problems)
        if step.fallback is not None:
            path = f"{place.path}.fallback"
            fallback = _called(namespace, step.fallback, "", path, reads, problems)
            step = msgspec.structs.replace(step, fallback=fallback)
        steps.append(step if not step.serviceUrl else msgspec.structs.replace(step, path=""))
    return msgspec.structs.replace(node, steps=steps)


def _called(
    namespace: str, target: Target, path: str, where: str, reads: Reads, problems: list[Problem]
) -> Target:
    """The step or fallback with its URL, or as it is with a problem."""
    if target.serviceUrl or not (target.serviceName or target.graphName):
        return target
    field = "serviceName" if target.serviceName else "graphName"
    try:
        if target.serviceName:
            url = services.url(namespace, target.serviceName, path, reads)
        else:
            url = _graph_url(namespace, target.graphName, path, reads)
    except TargetFault as fault:
        problems.append(Problem(f"{where}.{field}", fault.reason, str(fault), fault.waits))
        return target
    if reads.differs("IG-D38") and (why := steps.url_fault(url)):
        text = f"{url} cannot be called: {why}"
        problems.append(Problem(f"{where}.{field}", "AddressUnusable", text, waits=True))
        return target
    return msgspec.structs.replace(target, serviceUrl=url)


def _graph_url(namespace: str, name: str, path: str, reads: Reads) -> str:
    """The Service of another graph's router has that graph's name in either mode."""
    graph = reads.get(Ref(*inferencegraphs.KIND, namespace, name))
    if graph is None:
        text = f'inferencegraphs.serving.kserve.io "{name}" not found in namespace {namespace}'
        raise TargetFault("GraphNotFound", text, waits=True)
    status = graph.get("status") or {}
    address = (status.get("address") or {}).get("url")
    if not address and not status.get("url"):
        raise TargetFault("GraphNotReady", f"graph {name} is not ready", waits=True)
    if not address:
        host = naming.internal_host(name, namespace, reads.settings.cluster_domain)
        port = ":8080" if configuration.headless(reads) else ""
        address = f"http://{host}{port}"
    return f"{str(address).rstrip('/')}{path or '/'}"
