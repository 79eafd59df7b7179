"""Steps of graphs whose URL does not lead where it seems to.

A public name of this very cluster leads from inside to the gateway and back at best, and
resolves to nothing at worst; an InferenceService by its name is called at its address in the
cluster (F75). The in-cluster name of a graph is its router's, whatever the path says: a model
of that name is somewhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ingressctl.api import inferencegraphs, urls
from ingressctl.api.admission.graphs import across, places
from ingressctl.api.inferencegraphs import Spec
from ingressctl.api.refs import Ref
from ingressctl.core.kserve import configuration
from ingressctl.core.outcome import Finding
from ingressctl.plan.checks.picture import Picture


def find(picture: Picture) -> Iterator[Finding]:
    """Every step with a URL under one of the cluster's own domains."""
    domains = (picture.ingress.ingressDomain, *configuration.domains(picture.reads))
    own = tuple(f".{domain}" for domain in domains if domain and not domain.startswith("svc."))
    routers = across.hosts(obj for _, obj in picture.objects(inferencegraphs.KIND))
    for ref, obj in picture.objects(inferencegraphs.KIND):
        spec = inferencegraphs.loose(obj)
        if spec is None:
            continue
        for path, host in _public(spec, own):
            yield Finding.of("IC6003", ref, path=path, host=host)
        for path, host, graph in _of_routers(spec, routers):
            yield Finding.of("IC6005", ref, path=path, host=host, graph=str(graph))


def _of_routers(spec: Spec, routers: Mapping[str, Ref]) -> Iterator[tuple[str, str, Ref]]:
    for path, target in places.targets(spec):
        host = urls.host_of(target.serviceUrl)
        if host in routers and across.is_of_model(target.serviceUrl):
            yield f"{path}.serviceUrl", host, routers[host]


def _public(spec: Spec, domains: Iterable[str]) -> Iterator[tuple[str, str]]:
    for path, target in places.targets(spec):
        host = urls.host_of(target.serviceUrl)
        if host.endswith(tuple(domains)):
            yield f"{path}.serviceUrl", host
