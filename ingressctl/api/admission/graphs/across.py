"""Loops over several graphs: by `graphName`, or by a URL that is the address of another graph.

The other graphs are read as they are stored, faulty or not: what they name counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from ingressctl.api import urls
from ingressctl.api.admission.refusals import Refusal
from ingressctl.api.inferencegraphs import KIND
from ingressctl.api.refs import Raw, Ref, ref_of

Link = tuple[str, Ref]
"""The field that leads out of a graph, and the graph it leads to."""


def loops(new: Raw, peers: Iterable[Raw]) -> Iterator[Refusal]:
    """Every step of `new` through which a request would come back to it."""
    graphs = {ref_of(peer): peer for peer in peers if _is_graph(peer)}
    start = ref_of(new)
    graphs[start] = new
    by_host = hosts(graphs.values())
    for path, target in _links(new, by_host):
        way = _way(target, start, graphs, by_host)
        if way:
            shown = " -> ".join(f"{ref.namespace}/{ref.name}" for ref in (start, *way))
            yield Refusal(
                f"{path} closes a loop of graphs: {shown}; a request would never end",
                path,
                "name a service, or a graph that does not lead back",
                "IG-D1",
            )


def _is_graph(obj: Raw) -> bool:
    ref = ref_of(obj)
    return (ref.group, ref.kind) == KIND


def _way(
    start: Ref, wanted: Ref, graphs: Mapping[Ref, Raw], by_host: Mapping[str, Ref]
) -> tuple[Ref, ...]:
    """A shortest way from graph to graph; empty if there is none."""
    before: dict[Ref, Ref | None] = {start: None}
    waiting = [start]
    for ref in waiting:
        if ref == wanted:
            return _back(ref, before)
        for _, target in _links(graphs.get(ref, {}), by_host):
            if target not in before:
                before[target] = ref
                waiting.append(target)
    return ()


def _back(ref: Ref | None, before: Mapping[Ref, Ref | None]) -> tuple[Ref, ...]:
    way: list[Ref] = []
    while ref is not None:
        way.append(ref)
        ref = before[ref]
    return tuple(reversed(way))


def _links(graph: Raw, by_host: Mapping[str, Ref]) -> Iterator[Link]:
    """What leads out of a graph to other graphs, in the order of its nodes.

    A host may be the name alone, which is one of the graph's own namespace.
    """
    if not graph:
        return
    namespace = ref_of(graph).namespace
    for path, target in _targets(graph):
        named = target.get("graphName")
        if isinstance(named, str) and named:
            yield f"{path}.graphName", Ref(*KIND, namespace, named)
        called = target.get("serviceUrl")
        if isinstance(called, str) and not is_of_model(called):
            host = urls.host_of(called)
            ref = by_host.get(host) or by_host.get(f"{host}.{namespace}")
            if ref is not None:
                yield f"{path}.serviceUrl", ref


def _targets(graph: Raw) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every step and every fallback, by their paths; what has another shape is left out."""
    spec = graph.get("spec")
    nodes = spec.get("nodes") if isinstance(spec, Mapping) else None
    for name, node in sorted(nodes.items()) if isinstance(nodes, Mapping) else ():
        steps = node.get("steps") if isinstance(node, Mapping) else None
        for index, step in enumerate(steps if isinstance(steps, list) else ()):
            if not isinstance(step, Mapping):
                continue
            path = f"spec.nodes.{name}.steps[{index}]"
            yield path, step
            fallback = step.get("fallback")
            if isinstance(fallback, Mapping):
                yield f"{path}.fallback", fallback


def is_of_model(url: str) -> bool:
    """Whether a URL has the path of a model. Then one is meant, though a graph may have the
    name: which of the two answers there is a question for `check`, not a reason to refuse."""
    try:
        return urlsplit(url).path.startswith(("/v1/models/", "/v2/models/", "/openai/"))
    except ValueError:
        return False


def hosts(graphs: Iterable[Raw]) -> dict[str, Ref]:
    """The host names by which each graph is reached."""
    found: dict[str, Ref] = {}
    for graph in graphs:
        ref = ref_of(graph)
        base = f"{ref.name}.{ref.namespace}"
        for host in (base, f"{base}.svc", f"{base}.svc.cluster.local", *_published(graph)):
            found.setdefault(host.lower(), ref)
    found.pop("", None)
    return found


def _published(graph: Raw) -> Iterator[str]:
    status = graph.get("status")
    if not isinstance(status, Mapping):
        return
    address = status.get("address")
    told = (status.get("url"), address.get("url") if isinstance(address, Mapping) else None)
    yield from (urls.host_of(url) for url in told if isinstance(url, str))
