"""A request inside the cluster that names a Service: no route is needed, the Service answers.

Resolvers complete ``name.ns`` and ``name.ns.svc``; whoever asks from a pod may use each.
"""

from __future__ import annotations

from ingressctl.api.refs import Ref
from ingressctl.core.model import Service, Split
from ingressctl.core.table import Hop, Loss, Request, TableRule
from ingressctl.core.world import Reads

PROVIDER = "cluster DNS"
HTTP_PORT = 80


def hop(request: Request, losers: tuple[Loss, ...], reads: Reads) -> Hop | None:
    """The Service of the request's host as the only backend; None if there is none."""
    ref = service(request.bare_host, reads.settings.cluster_domain)
    if ref is None or reads.get(ref) is None:
        return None
    _, _, port = request.host.rpartition(":")
    number = int(port) if port.isdecimal() else HTTP_PORT
    split = Split(Service(ref.namespace, ref.name), number, 100)
    rule = TableRule(ref, "itself", (), (split,))
    return Hop(
        request.entry, rule, request.bare_host, request.host, request.path, request.headers, losers
    )


def is_service(request: Request, reads: Reads) -> bool:
    """Whether the request's host is the name of a Service of the world."""
    ref = service(request.bare_host, reads.settings.cluster_domain)
    return ref is not None and reads.get(ref) is not None


def service(host: str, cluster_domain: str) -> Ref | None:
    """The Service that ``name.ns``, ``name.ns.svc`` or the full name stands for."""
    bare = host.rstrip(".").removesuffix(f".{cluster_domain}").removesuffix(".svc")
    name, _, namespace = bare.partition(".")
    return Ref("", "Service", namespace, name) if namespace and "." not in namespace else None
