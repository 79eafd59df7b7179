"""Whether a graph may be run: admission's rules once more, for what was stored without them.

A loop over several graphs is found by following the names from one graph to the next.
"""

from __future__ import annotations

from collections.abc import Iterator

from ingressctl.api import admission, inferencegraphs
from ingressctl.api.admission import Refusal
from ingressctl.api.refs import Raw, Ref
from ingressctl.core.world import Reads
from ingressctl.sources.graph.observing import Said
from ingressctl.sources.graph.view import Graph


def refusals(graph: Graph, mode: str, reads: Reads) -> tuple[Refusal, ...]:
    """Why the graph is not run; empty if it is. `mode` is the one that it is in.

    KServe's controller checks nothing, so while IG-R6 is off only differences refuse.
    """
    pinned = {**graph.raw, "status": {**graph.status, "deploymentMode": mode}}
    found = admission.validate(
        pinned,
        operation="create",
        config={},
        differs=reads.differs,
        peers=tuple(_reached(graph, reads)),
    )
    if reads.differs("IG-R6"):
        return found
    return tuple(refusal for refusal in found if refusal.difference)


def said(found: tuple[Refusal, ...]) -> Said:
    """GraphValid, with the first fault where there is one."""
    if not found:
        return Said("True")
    first = found[0]
    more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
    return Said("False", "InvalidGraph", f"{first.path}: {first.message}{more}")


def _reached(graph: Graph, reads: Reads) -> Iterator[Raw]:
    """The graphs that a request may get to by name."""
    seen = {graph.name}
    waiting = list(_names(graph.raw))
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        other = reads.get(Ref(*inferencegraphs.KIND, graph.namespace, name))
        if other is not None:
            yield other
            waiting += _names(other)


def _names(obj: Raw) -> Iterator[str]:
    spec = inferencegraphs.loose(obj)
    if spec is not None:
        names = (target.graphName for target in inferencegraphs.targets(spec))
        yield from filter(None, names)
