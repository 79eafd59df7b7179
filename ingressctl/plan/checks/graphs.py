"""Steps of graphs that call a public name of this very cluster (F75).

From inside such a name leads to the gateway and back at best, and resolves to nothing at
worst; an InferenceService by its name is called at its address in the cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from ingressctl.api import inferencegraphs
from ingressctl.api.admission.graphs import places
from ingressctl.api.inferencegraphs import Fallback, Spec, Step
from ingressctl.core.kserve import configuration
from ingressctl.core.outcome import Finding
from ingressctl.plan.checks.picture import Picture


def find(picture: Picture) -> Iterator[Finding]:
    """Every step with a URL under one of the cluster's own domains."""
    domains = (picture.ingress.ingressDomain, *configuration.domains(picture.reads))
    own = tuple(f".{domain}" for domain in domains if domain and not domain.startswith("svc."))
    for ref, obj in picture.objects(inferencegraphs.KIND):
        spec = inferencegraphs.loose(obj)
        for path, host in _public(spec, own) if spec is not None else ():
            yield Finding.of("IC6003", ref, path=path, host=host)


def _public(spec: Spec, domains: Iterable[str]) -> Iterator[tuple[str, str]]:
    for path, target in _targets(spec):
        host = _host(target.serviceUrl)
        if host.endswith(tuple(domains)):
            yield f"{path}.serviceUrl", host


def _targets(spec: Spec) -> Iterator[tuple[str, Step | Fallback]]:
    for place in places.steps(spec):
        yield place.path, place.step
        if place.step.fallback is not None:
            yield f"{place.path}.fallback", place.step.fallback


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
