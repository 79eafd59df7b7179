"""The shape of a graph: names that lead nowhere, loops, depth, and nodes that nobody reaches.

Nothing here recurses: a graph is input, and may be as deep as somebody likes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ingressctl.api.admission.graphs import places
from ingressctl.api.admission.graphs.places import Place
from ingressctl.api.admission.refusals import Differs, Refusal
from ingressctl.api.inferencegraphs import ROOT, Spec

MAX_DEPTH = 64
"""Nodes that stand in one another."""

MAX_CALLS = 10_000
"""Calls that one request may cause: nodes that are used twice multiply."""

Edge = tuple[Place, str, str]
"""A step, the field of it that names a node (with its path), and that node."""


def refusals(spec: Spec, *, differs: Differs) -> Iterator[Refusal]:
    """Names without a node, nodes without steps, loops, and what is too deep or too wide."""
    if differs("IG-D36"):
        yield from _empty(spec)
    if differs("IG-R17"):
        yield from _dangling(spec)
    if differs("IG-D1"):
        order, loops = _walk(spec)
        yield from loops
        if not loops:
            yield from _size(spec, order)


def unreachable(spec: Spec) -> Iterator[Refusal]:
    """Nodes that no request gets to."""
    reached, waiting = {ROOT}, [ROOT]
    while waiting:
        for _, _, target in edges(spec, waiting.pop()):
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    for name, _ in places.nodes(spec):
        if name not in reached:
            yield Refusal(
                f'node "{name}" is never reached: no step on the way from {ROOT} names it',
                places.node_path(name),
                "remove it, or let a step name it",
                "IG-R21",
            )


def edges(spec: Spec, name: str) -> Iterator[Edge]:
    """Where the steps of one node lead inside the graph; a name without a node has none."""
    node = spec.nodes.get(name)
    if node is None:
        return
    for place in places.of_node(name, node):
        if place.step.nodeName:
            yield place, f"{place.path}.nodeName", place.step.nodeName
        fallback = place.step.fallback
        if fallback is not None and fallback.nodeName:
            yield place, f"{place.path}.fallback.nodeName", fallback.nodeName


def _empty(spec: Spec) -> Iterator[Refusal]:
    for name, node in places.nodes(spec):
        if not node.steps:
            yield Refusal(
                f'node "{name}" has no steps: a request that gets there has no answer',
                f"{places.node_path(name)}.steps",
                "write a step, or remove the node",
                "IG-D36",
            )


def _dangling(spec: Spec) -> Iterator[Refusal]:
    for name, _ in places.nodes(spec):
        for place, path, target in edges(spec, name):
            if target not in spec.nodes:
                yield Refusal(
                    f'{place} names the node "{target}", which the graph does not have',
                    path,
                    f"name one of {_listed(spec.nodes)}, or add the node",
                    "IG-R17",
                )


def _listed(names: Iterable[str]) -> str:
    known = sorted(names)
    return ", ".join(known[:8]) + (" ..." if len(known) > 8 else "")


def _walk(spec: Spec) -> tuple[list[str], list[Refusal]]:
    """The nodes with targets before their users, and every step that closes a loop."""
    order: list[str] = []
    loops: list[Refusal] = []
    done: set[str] = set()
    for start in [ROOT, *sorted(spec.nodes)]:
        if start not in done and start in spec.nodes:
            _walk_from(start, spec, done, order, loops)
    return order, loops


def _walk_from(
    start: str, spec: Spec, done: set[str], order: list[str], loops: list[Refusal]
) -> None:
    way = {start: edges(spec, start)}  # in the order in which they stand in one another
    while way:
        name = next(reversed(way))
        for place, path, target in way[name]:
            if target in way:
                loops.append(_loop(place, path, [*way], target))
            elif target not in done and target in spec.nodes:
                way[target] = edges(spec, target)
                break
        else:
            del way[name]
            done.add(name)
            order.append(name)


def _loop(place: Place, path: str, way: list[str], target: str) -> Refusal:
    names = [*way[way.index(target) :], target]
    shown = " -> ".join(names if len(names) <= 12 else [*names[:6], "...", *names[-5:]])
    return Refusal(
        f"{place} closes a loop: {shown}; a request would never end",
        path,
        "let the step name a node that does not lead back, or a service",
        "IG-D1",
    )


def _size(spec: Spec, order: list[str]) -> Iterator[Refusal]:
    """Depth and number of calls below root; `order` has targets before their users."""
    depth: dict[str, int] = {}
    calls: dict[str, int] = {}
    for name in order:
        inner = [target for _, _, target in edges(spec, name) if target in depth]
        depth[name] = 1 + max((depth[target] for target in inner), default=0)
        calls[name] = _calls(spec, name, calls)
    if depth.get(ROOT, 0) > MAX_DEPTH:
        yield Refusal(
            f"{depth[ROOT]} nodes stand in one another, {MAX_DEPTH} may",
            "spec.nodes",
            "put steps of nodes that only hold one step into the node above",
            "IG-D1",
        )
    if calls.get(ROOT, 0) > MAX_CALLS:
        yield Refusal(
            f"one request could cause more than {MAX_CALLS} calls, for nodes are used again "
            "inside of nodes that are used again",
            "spec.nodes",
            "use fewer nodes twice",
            "IG-D1",
        )


def _calls(spec: Spec, name: str, calls: dict[str, int]) -> int:
    """The most calls of one request to a node; counting ends beyond the limit."""
    node = spec.nodes[name]
    each = []
    for place in places.of_node(name, node):
        fallback = place.step.fallback
        own = calls.get(place.step.nodeName, 1)
        other = calls.get(fallback.nodeName, 1) if fallback is not None else 0
        each.append(own + other)
    chosen = node.routerType in ("Switch", "Splitter")
    most = max(each, default=0) if chosen else sum(each)
    return min(most, MAX_CALLS + 1)
