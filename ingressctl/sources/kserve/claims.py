"""The public hosts that InferenceServices ask for, so that one host has one owner (Q15).

Only hosts of a service's own: those of path rules are shared on purpose. A service that
is stopped or private asks for none. It holds its hosts while its status has a URL, which
a passing failure does not take away and the loss of a host does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ingressctl.api import configmaps
from ingressctl.api.configmaps import IngressConfig
from ingressctl.api.inferenceservices import KIND, InferenceService, ViewFault
from ingressctl.api.refs import Raw
from ingressctl.core import knative_hosts, naming
from ingressctl.core.kserve import configuration, hosts, mode, visibility
from ingressctl.core.model import Host
from ingressctl.core.world import Claim, Claimant, Reads
from ingressctl.sources.kserve import component_hosts, views
from ingressctl.sources.kserve.draft import Draft


def claims(obj: Raw, reads: Reads) -> tuple[Claim, ...]:
    """A claim for each host of one service; none where its hosts are not known."""
    try:
        config, ingress = configuration.load(reads), configuration.ingress(reads)
        service = views.of(obj, reads.world)
        names = tuple(_hosts(service, mode.resolve(service, config, reads), ingress, reads))
    except (configmaps.ConfigFault, ViewFault, naming.NameFault):
        return ()
    meta = obj.get("metadata") or {}
    created, holds = str(meta.get("creationTimestamp") or ""), bool(service.status.get("url"))
    return tuple(Claim(service.ref, name, holds, created) for name in names)


def _hosts(
    service: InferenceService, resolved: str, ingress: IngressConfig, reads: Reads
) -> Iterable[str]:
    if service.stopped:
        return ()
    if resolved == "Standard":
        return _standard(service, ingress, mode.provider(resolved, ingress, reads), reads)
    return _knative(service, ingress, reads)


def _standard(
    service: InferenceService, ingress: IngressConfig, provider: str, reads: Reads
) -> Iterator[str]:
    if ingress.disableIngressCreation or visibility.standard_local(service, ingress, reads):
        return
    top = hosts.standard_host(service, service.name, ingress, reads)
    yield top
    if ingress.additionalIngressDomains:
        known = (ingress.ingressDomain,)
        yield from _names(
            hosts.additional_hosts(top, known, ingress.additionalIngressDomains, reads)
        )
    for component, _ in service.components:
        name = component_hosts.component_name(service, component, provider, reads)
        yield hosts.standard_host(service, name, ingress, reads)


def _knative(service: InferenceService, ingress: IngressConfig, reads: Reads) -> Iterator[str]:
    private = visibility.labelled_local(service, "Knative", reads)
    if ingress.disableIstioVirtualHost or private:
        return
    host = component_hosts.knative_host(service, _url_of(service, reads), reads)
    if not host or host == hosts.internal_host(service, service.name, reads):
        return
    yield host
    if ingress.additionalIngressDomains:
        known = configuration.domains(reads)
        yield from _names(
            hosts.additional_hosts(host, known, ingress.additionalIngressDomains, reads)
        )


def _url_of(service: InferenceService, reads: Reads) -> Callable[[str], str]:
    """A component's URL: the one that Knative wrote, else the one that it is going to write, so
    that a new service asks for its host before it serves."""
    told = Draft.of(service, reads).component_url

    def url(component: str) -> str:
        if found := told(component):
            return found
        host = knative_hosts.route_host(
            service.object_name(component),
            service.namespace,
            labels=service.labels,
            annotations=service.annotations,
            reads=reads,
        )
        return f"http://{host}"

    return url


def _names(found: Iterable[Host]) -> Iterator[str]:
    return (host.name for host in found)


CLAIMANT = Claimant(KIND, claims)
