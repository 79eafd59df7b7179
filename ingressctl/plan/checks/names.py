"""Hosts, labels and names over their limits (F3, F91), and schemes that contradict (F13)."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from ingressctl.api import dns
from ingressctl.api.inferenceservices import InferenceService
from ingressctl.core.outcome import Finding
from ingressctl.plan.checks.picture import Picture


def find(picture: Picture) -> Iterator[Finding]:
    """Names that DNS or Kubernetes will refuse, as far as no fault tells already."""
    for service in picture.services:
        yield from _object_names(service)
        yield from _hosts(service, picture)
        yield from _scheme(service, picture)


def _object_names(service: InferenceService) -> Iterator[Finding]:
    names = [service.object_name(component) for component, _ in service.components]
    names += [service.canary_name(canary) for canary in service.canaries]
    for name in names:
        if len(name) > dns.LABEL_LIMIT:
            yield Finding.of("IC2003", service.ref, name=name, length=len(name))


def _hosts(service: InferenceService, picture: Picture) -> Iterator[Finding]:
    step = picture.steps.get(service.ref)
    if step is None or step.faults:
        return
    names = {host.name for route in step.outcome.routes for host in route.hosts()}
    for component, _ in service.components:
        status = (service.status.get("components") or {}).get(component) or {}
        names.add(urlsplit(str(status.get("url") or "")).hostname or "")
    for name in sorted(names - {"", "*"}):
        fault = dns.fqdn_fault(name.removeprefix("*."))
        if fault:
            yield Finding.of("IC2001", service.ref, text=f'host "{name}" cannot be: {fault}')


def _scheme(service: InferenceService, picture: Picture) -> Iterator[Finding]:
    """urlScheme says one thing, the URL that Knative serves another (F13)."""
    before = picture.cascade.start.get(service.ref) or service.raw
    components = (before.get("status") or {}).get("components") or {}
    url = str((components.get(service.entry) or {}).get("url") or "")
    scheme = urlsplit(url).scheme
    if picture.mode(service) != "Knative" or not scheme:
        return
    wanted = picture.ingress.urlScheme
    if scheme != wanted:
        yield Finding.of("IC2010", service.ref, wanted=wanted, url=url, scheme=scheme)
