"""The chain of owners of one object: up to what a person wrote, down to all that it makes.

Down lead owner references, labels where an owner may not be named (another namespace), and from
a route the gateways that it is bound to. The first cause is the deepest object that is not
ready: what stands above it only repeats that something below is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ingressctl.api.refs import (
    Owner,
    Raw,
    Ref,
    controller_of,
    group_of,
    labels_of,
    owner_of,
    ref_of,
)
from ingressctl.core.world import Kind, World
from ingressctl.plan import states
from ingressctl.plan.kindnames import KNATIVE
from ingressctl.plan.states import State

ISTIO_GATEWAY: Kind = ("networking.istio.io", "Gateway")
GATEWAY: Kind = ("gateway.networking.k8s.io", "Gateway")
VIRTUAL_SERVICE: Kind = ("networking.istio.io", "VirtualService")
INGRESS_CLASS: Kind = ("networking.k8s.io", "IngressClass")
KNATIVE_ROUTE: Kind = (KNATIVE, "Route")
ROUTE_LABELS = ("serving.knative.dev/route", "serving.knative.dev/routeNamespace")
MISSING = State("Unknown", "NotThere", "nobody has made it yet")
MAX_DEPTH = 12


@dataclass(frozen=True, slots=True)
class Node:
    """An object of the chain, its state, and what hangs below it. `obj` None: not there."""

    ref: Ref
    obj: Raw | None
    state: State
    below: tuple[Node, ...] = ()

    def walk(self) -> Iterator[Node]:
        """The object and everything below it, from the top."""
        yield self
        for node in self.below:
            yield from node.walk()


def owners(obj: Raw, world: World) -> tuple[Ref, ...]:
    """From the direct owner up to the object that a person wrote; () if it is that itself."""
    found: list[Ref] = []
    current: Raw | None = obj
    while current is not None and len(found) < MAX_DEPTH:
        ref = _owner(current)
        if ref is None or ref in found:
            break
        found.append(ref)
        current = world.get(ref)
    return tuple(found)


def _owner(obj: Raw) -> Ref | None:
    """The controller, else the first owner, else the Knative Route of the labels."""
    metadata = obj.get("metadata") or {}
    named = controller_of(obj) or next(iter(metadata.get("ownerReferences") or ()), None)
    if named is not None:
        group = group_of(str(named.get("apiVersion") or ""))
        place = str(metadata.get("namespace") or "")
        return Ref(group, str(named.get("kind") or ""), place, str(named.get("name") or ""))
    route, namespace = (labels_of(obj).get(label, "") for label in ROUTE_LABELS)
    if route and ref_of(obj)[:2] != KNATIVE_ROUTE:
        return Ref(*KNATIVE_ROUTE, namespace or ref_of(obj).namespace, route)
    return None


def top(obj: Raw, world: World) -> Raw:
    """The highest owner that is there."""
    there = [found for found in map(world.get, owners(obj, world)) if found is not None]
    return there[-1] if there else obj


def tree(obj: Raw, world: World, *, missing: Iterable[Raw] = ()) -> Node:
    """The object with everything below it. `missing` are objects that should be there."""
    wanted = {ref_of(item): item for item in missing if world.get(ref_of(item)) is None}
    return _node(obj, _Below(world, tuple(wanted.values())), frozenset())


class _Below:
    """What hangs below an object: owned objects, labelled ones, gateways."""

    def __init__(self, world: World, missing: tuple[Raw, ...]) -> None:
        self.world = world
        self.missing = missing

    def owned(self, obj: Raw) -> Iterator[Raw]:
        yield from self.world.owned(owner_of(obj))
        ref = ref_of(obj)
        if ref[:2] == KNATIVE_ROUTE:
            labels = dict(zip(ROUTE_LABELS, (ref.name, ref.namespace), strict=True))
            for other in self.world.list(VIRTUAL_SERVICE, None, labels):
                if controller_of(other) is None:
                    yield other

    def lacking(self, owner: Owner) -> Iterator[Ref]:
        return (ref_of(item) for item in self.missing if owner.controls(item))


def _node(obj: Raw, around: _Below, seen: frozenset[Ref]) -> Node:
    ref = ref_of(obj)
    state = states.of(obj)
    if ref in seen or len(seen) >= MAX_DEPTH:
        return Node(ref, obj, state)
    seen |= {ref}
    below = [_node(item, around, seen) for item in around.owned(obj) if ref_of(item) not in seen]
    below += [Node(item, None, MISSING) for item in around.lacking(owner_of(obj))]
    below += _doors(obj, around.world)
    return Node(ref, obj, state, tuple(sorted(below, key=_order)))


def _order(node: Node) -> tuple[bool, str, str, str]:
    """Routes and workloads by kind and name, the gateways that they are bound to last."""
    return (node.ref[:2] in (ISTIO_GATEWAY, GATEWAY, INGRESS_CLASS), node.ref.kind, *node.ref[2:])


def _doors(obj: Raw, world: World) -> Iterator[Node]:
    """The gateways or the class that a route names; one that is not there is left to checks."""
    for ref in dict.fromkeys(_bound(obj)):
        found = world.get(ref)
        if found is not None:
            yield Node(ref, found, states.of(found))


def _bound(obj: Raw) -> Iterator[Ref]:
    ref, spec = ref_of(obj), obj.get("spec") or {}
    if ref[:2] == VIRTUAL_SERVICE:
        for name in _texts(spec.get("gateways")):
            place, _, own = name.rpartition("/")
            if own != "mesh":
                yield Ref(*ISTIO_GATEWAY, place or ref.namespace, own)
    elif ref.group == GATEWAY[0]:
        for parent in spec.get("parentRefs") or ():
            place = str(parent.get("namespace") or ref.namespace)
            yield Ref(*GATEWAY, place, str(parent.get("name") or ""))
    elif ref.kind == "Ingress" and spec.get("ingressClassName"):
        yield Ref(*INGRESS_CLASS, "", str(spec["ingressClassName"]))


def _texts(value: Any) -> Iterator[str]:
    return (str(item) for item in value or ())


def first_cause(node: Node) -> Node | None:
    """The deepest object that is not ready: one that failed before one that is on its way.

    None where everything below and the object itself is ready, or says nothing.
    """
    deepest = [(depth, found) for depth, found in _ends(node, 0)]
    if not deepest:
        return None
    return max(deepest, key=lambda item: (item[1].state.status == "False", item[0]))[1]


def _ends(node: Node, depth: int) -> Iterator[tuple[int, Node]]:
    """Objects that are not ready with nothing below them that is not ready either.

    What is not ready below an object that is does no harm: an old revision, a spare gateway.
    """
    if not node.state.is_bad and node.state.status:
        return
    below = [end for item in node.below for end in _ends(item, depth + 1)]
    if below:
        yield from below
    elif node.state.is_bad:
        yield depth, node
