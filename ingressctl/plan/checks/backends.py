"""Backends that cannot answer: no such Service, no such port, an old name (F15, F25).

Generated and foreign routes are looked at alike, because a renamed component breaks both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ingressctl.api.inferenceservices import InferenceService
from ingressctl.api.refs import Raw, Ref, is_alias, labels_of
from ingressctl.core import naming
from ingressctl.core.outcome import Finding
from ingressctl.core.world import Kind
from ingressctl.plan import absent
from ingressctl.plan.checks.picture import (
    HTTP_ROUTE,
    INGRESS,
    KNATIVE_SERVICE,
    SERVICE,
    VIRTUAL_SERVICE,
    Picture,
    spec_of,
)

NO_BACKEND = 500
"""What gateways of the Gateway API answer where a backend is not there."""

OWNER_LABEL = "serving.kserve.io/inferenceservice"


class Backend(NamedTuple):
    """What one route sends to: a Service and a port (0: none named)."""

    source: Ref
    service: Ref
    port: int


def find(picture: Picture) -> Iterator[Finding]:
    """Backends without Service or port, and what a rename leaves behind."""
    yield from _absent(picture)
    yield from _without_port(picture)
    labelled = _by_service(picture)
    for service in picture.services:
        owned = labelled.get((service.namespace, service.name), ())
        for old, new in _renamed(service, owned):
            yield from _rename(service, old, new, picture)


def _by_service(picture: Picture) -> Mapping[tuple[str, str], list[Raw]]:
    """Knative Services by the namespace and name of the InferenceService of their label."""
    found: dict[tuple[str, str], list[Raw]] = defaultdict(list)
    for ref, obj in picture.objects(KNATIVE_SERVICE):
        found[ref.namespace, labels_of(obj).get(OWNER_LABEL, "")].append(obj)
    return found


def backends(picture: Picture) -> Iterator[Backend]:
    """The backends of every route in the world."""
    for ref, obj in picture.objects(HTTP_ROUTE):
        for rule in spec_of(obj).get("rules") or ():
            for backend in rule.get("backendRefs") or ():
                if backend.get("kind", "Service") == "Service":
                    place = str(backend.get("namespace") or ref.namespace)
                    target = Ref(*SERVICE, place, str(backend.get("name")))
                    yield Backend(ref, target, int(backend.get("port") or 0))
    for ref, obj in picture.objects(INGRESS):
        for rule in spec_of(obj).get("rules") or ():
            for path in (rule.get("http") or {}).get("paths") or ():
                service = (path.get("backend") or {}).get("service") or {}
                target = Ref(*SERVICE, ref.namespace, str(service.get("name")))
                yield Backend(ref, target, int((service.get("port") or {}).get("number") or 0))
    for ref, obj in picture.objects(VIRTUAL_SERVICE):
        yield from _destinations(ref, obj, picture)


def _destinations(ref: Ref, obj: Raw, picture: Picture) -> Iterator[Backend]:
    suffix = f".svc.{picture.settings.cluster_domain}"
    for http in spec_of(obj).get("http") or ():
        for route in http.get("route") or ():
            destination = route.get("destination") or {}
            name, dot, place = (
                str(destination.get("host") or "").removesuffix(suffix).partition(".")
            )
            place = place.removesuffix(".svc")
            if "." in place:
                continue
            target = Ref(*SERVICE, place if dot else ref.namespace, name)
            yield Backend(ref, target, int((destination.get("port") or {}).get("number") or 0))


def _absent(picture: Picture) -> Iterator[Finding]:
    """Services that are not there, where those of their namespace are known."""
    for source, target in dict.fromkeys(
        (source, target) for source, target, _ in backends(picture)
    ):
        if text := absent.service(target.namespace, target.name, picture.world):
            status = NO_BACKEND if source[:2] == HTTP_ROUTE else absent.BAD_GATEWAY
            yield Finding.of("IC3307", source, picture.owner(source), backend=text, status=status)


def _without_port(picture: Picture) -> Iterator[Finding]:
    for source, target, port in dict.fromkeys(backends(picture)):
        obj = picture.world.get(target)
        if obj is None or not port or is_alias(obj):
            continue
        present = [int(item.get("port") or 0) for item in spec_of(obj).get("ports") or ()]
        if present and port not in present:
            yield Finding.of(
                "IC3401",
                source,
                target,
                picture.owner(source),
                service=str(target),
                port=port,
                present=", ".join(map(str, sorted(present))),
            )


def _renamed(service: InferenceService, owned: Iterable[Raw]) -> Iterator[tuple[str, str]]:
    """Knative Services of the InferenceService under names that it no longer uses.

    KServe once called components `NAME-predictor-default`; a predictor.name does the same.
    """
    names = {service.object_name(component): component for component, _ in service.components}
    for obj in owned:
        old = str(obj["metadata"]["name"])
        if old in names:
            continue
        component = str(labels_of(obj).get("component") or _component(old, service))
        if component in names.values():
            yield old, service.object_name(component)


def _component(name: str, service: InferenceService) -> str:
    rest = name.removeprefix(service.name).removesuffix("-default")
    return rest.rpartition("-")[2]


def _rename(service: InferenceService, old: str, new: str, picture: Picture) -> Iterator[Finding]:
    """The orphaned Knative Service, our route that changes, foreign ones that do not."""
    namespace, domain = service.namespace, picture.settings.cluster_domain
    before, after = (naming.internal_host(name, namespace, domain) for name in (old, new))
    orphan = Ref(*KNATIVE_SERVICE, namespace, old)
    yield Finding.of("IC3404", orphan, service.ref, old=old, new=new)
    for kind in (VIRTUAL_SERVICE, HTTP_ROUTE, INGRESS):
        for ref, obj in picture.objects(kind):
            if picture.owner(ref) == service.ref:
                yield from _changed(ref, obj, before, after, kind)
            elif _names(spec_of(obj), before, old if ref.namespace == namespace else ""):
                yield Finding.of("IC3403", ref, orphan, old=before, new=after)


def _changed(ref: Ref, obj: Raw, before: str, after: str, kind: Kind) -> Iterator[Finding]:
    new = after if kind == VIRTUAL_SERVICE else after.partition(".")[0]
    if _names(spec_of(obj), new, ""):
        yield Finding.of("IC3402", ref, old=before, new=after)


def _names(value: Any, host: str, name: str) -> bool:
    """Whether any text of an object is the host, or the bare Service name beside it."""
    if isinstance(value, Mapping):
        return any(_names(item, host, name) for item in value.values())
    if isinstance(value, list | tuple):
        return any(_names(item, host, name) for item in value)
    return isinstance(value, str) and value in (host, name) and value != ""
