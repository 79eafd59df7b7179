"""The public hosts that InferenceGraphs ask for (Q15, IG-R12).

In Knative mode the host is the one that Knative gives to a Service of the graph's name, which
is the host of an InferenceService of that name too. A graph that is stopped or private asks
for none; it holds its hosts while its status has a URL.
"""

from __future__ import annotations

from collections.abc import Iterator

from ingressctl.api import configmaps, inferencegraphs
from ingressctl.api.inferenceservices import ViewFault
from ingressctl.api.refs import Raw
from ingressctl.core import naming
from ingressctl.core.kserve import configuration
from ingressctl.core.world import Claim, Claimant, Reads
from ingressctl.sources.graph import knative, reconcile, routes, view
from ingressctl.sources.graph.scope import Scope


def claims(obj: Raw, reads: Reads) -> tuple[Claim, ...]:
    """A claim for each host of one graph; none where its hosts are not known."""
    try:
        graph = view.of(obj, reads.world)
        config, router = configuration.load(reads), configmaps.RouterConfig()
        mode = reconcile.resolve_mode(graph, config, reads)
        names = tuple(_hosts(Scope(graph, config, router, mode, reads, graph.spec)))
    except (configmaps.ConfigFault, ViewFault, naming.NameFault):
        return ()
    meta = obj.get("metadata") or {}
    created, holds = str(meta.get("creationTimestamp") or ""), bool(graph.status.get("url"))
    return tuple(Claim(graph.ref, name, holds, created) for name in names)


def _hosts(scope: Scope) -> Iterator[str]:
    if scope.graph.stopped:
        return
    if not scope.is_standard:
        if found := knative.public_host(scope):
            yield found
        return
    if not scope.reads.differs("IG-R4"):
        return
    ingress = scope.ingress()
    if routes.is_private(scope, ingress):
        return
    top = routes.host(scope, ingress)
    yield top
    for host in routes.additional(scope, ingress, top):
        yield host.name


CLAIMANT = Claimant(inferencegraphs.KIND, claims)
