"""The host names of an each rule once (spec/kserve-ingress.md 5)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from urllib.parse import urlsplit

from ingressctl.api import dns
from ingressctl.api.configmaps import IngressConfig
from ingressctl.core import naming
from ingressctl.core.kserve.served import Served
from ingressctl.core.model import Host
from ingressctl.core.world import Reads


def standard_host(service: Served, name: str, ingress: IngressConfig, reads: Reads) -> str:
    """The rendered host of `name` (the service or a component). Raises naming.NameFault."""
    host = naming.render_host(
        ingress.domainTemplate,
        name=name,
        namespace=service.namespace,
        domain=ingress.ingressDomain,
        annotations=service.annotations,
        labels=service.labels,
        name_missing_keys=reads.differs("Q17"),
    )
    return host.rstrip(".") if reads.differs("Q18") else host


def internal_host(service: Served, name: str, reads: Reads) -> str:
    """``<name>.<namespace>.svc.<cluster domain>``"""
    return naming.internal_host(name, service.namespace, reads.settings.cluster_domain)


def internal_hosts(service: Served, reads: Reads) -> tuple[Host, ...]:
    """The in-cluster names of the service: the full one, and with Q2 the short ones."""
    full = Host(internal_host(service, service.name, reads), "exact", "local", "internal")
    if not reads.differs("Q2"):
        return (full,)
    short = f"{service.name}.{service.namespace}"
    return (
        full,
        Host(f"{short}.svc", "short", "local", "internal"),
        Host(short, "short", "local", "internal"),
    )


def additional_hosts(
    service_host: str, domains: Iterable[str], extra: Sequence[str], reads: Reads
) -> tuple[Host, ...]:
    """The service host's prefix before its known domain, under each additional domain.

    With Q14 the longest known domain at a label boundary counts, else the first textual
    suffix (spec/kserve-ingress.md 5.4).
    """
    prefix = _prefix(service_host, domains, exact=reads.differs("Q14")) if extra else ""
    if not prefix:
        return ()
    names = (prefix + domain for domain in extra if not dns.subdomain_fault(domain))
    fresh = dict.fromkeys(name for name in names if name != service_host)
    return tuple(Host(name, "exact", "public", "additional") for name in fresh)


def former(url: str | None, names: Collection[str], reads: Reads) -> tuple[Host, ...]:
    """The host that the stored status still tells, while `names` take its place (F89).

    It goes on being served until the status tells the new one, unless somebody else wants it.
    The host of a URL with a path is shared, and one within the cluster was never routed.
    """
    told = urlsplit(url or "")
    name = told.hostname or ""
    if not name or name in names or told.path.strip("/") or not reads.differs("F89"):
        return ()
    if name.endswith(f".{reads.settings.cluster_domain}") or reads.claims(name):
        return ()
    return (Host(name, "exact", "public", "former"),)


def _prefix(host: str, domains: Iterable[str], *, exact: bool) -> str:
    suffixes = [domain for domain in domains if domain and host.endswith(domain)]
    if exact:
        bounded = [domain for domain in suffixes if host[: -len(domain)].endswith((".", "-"))]
        suffixes = sorted(bounded, key=len, reverse=True)
    return host[: -len(suffixes[0])] if suffixes else ""
