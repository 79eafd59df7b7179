"""Hosts, labels and names over their limits (F3, F91), names that two services want (Q50),
and schemes that contradict (F13)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from urllib.parse import urlsplit

from ingressctl.api import dns, inferencegraphs
from ingressctl.api.inferenceservices import InferenceService
from ingressctl.api.refs import Owner, Ref, owner_of, ref_of
from ingressctl.core.outcome import Finding
from ingressctl.plan.checks.picture import HTTP_ROUTE, KNATIVE_SERVICE, SERVICE, Picture


def find(picture: Picture) -> Iterator[Finding]:
    """Names that DNS or Kubernetes will refuse, as far as no fault tells already."""
    for service in picture.services:
        yield from _object_names(service)
        yield from _hosts(service, picture)
        yield from _scheme(service, picture)
    yield from _clashes(picture)


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


def _clashes(picture: Picture) -> Iterator[Finding]:
    """Objects of one kind and name that several want; the holder stands first."""
    wanting: dict[Ref, list[Ref]] = {}
    for service in picture.services:
        for ref in _wanted(service, picture):
            wanting.setdefault(ref, []).append(service.ref)
    for owner, _ in picture.objects(inferencegraphs.KIND):
        for ref in _made(owner, picture):
            wanting.setdefault(ref, []).append(owner)
    for ref, services in wanting.items():
        ordered = sorted(services, key=lambda service: _rank(service, ref, picture))
        for holder, other in combinations(ordered, 2):
            yield Finding.of(
                "IC2004",
                other,
                holder,
                kind=ref.kind,
                namespace=ref.namespace,
                name=ref.name,
                holder=str(holder),
                other=str(other),
            )


def _wanted(service: InferenceService, picture: Picture) -> set[Ref]:
    """What a service makes, and HTTPRoutes by their names: one that lost its host to the other
    service is not made.
    """
    made = _made(service.ref, picture)
    routed = not (service.stopped or picture.ingress.disableIngressCreation)
    standard = picture.mode(service) == "Standard"
    if routed and standard and picture.provider(service) == "gateway_api":
        parts = (f"{service.name}-{component}" for component, _ in service.components)
        names = (service.name, *parts)
        made |= {Ref(*HTTP_ROUTE, service.namespace, name) for name in names}
    return made


def _made(owner: Ref, picture: Picture) -> set[Ref]:
    """What an owner makes, and the Service that Knative makes of a Knative Service."""
    step = picture.steps.get(owner)
    if step is None:
        return set()
    made = {ref_of(obj) for obj in step.emission.objects}
    made |= {child.ref for child in step.outcome.children}
    knative = (ref for ref in made if ref[:2] == KNATIVE_SERVICE)
    return made | {Ref(*SERVICE, ref.namespace, ref.name) for ref in knative}


def _rank(service: Ref, ref: Ref, picture: Picture) -> tuple[bool, bool, str, str]:
    """Who has the object, then the older one, then the first by name."""
    owner: Owner = owner_of(picture.world.get(service) or {})
    has = owner.controls(picture.world.get(ref) or {})
    return (not has, not owner.created, owner.created, service.name)
