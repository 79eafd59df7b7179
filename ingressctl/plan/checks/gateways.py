"""Entries that routes name and that are not there, or that will not take them (F54 to F57, F107).

A gateway that exists nowhere is an error where the world holds gateways of that kind, and
a warning where it holds none: then the input may simply not contain them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import yaml

from ingressctl.api import configmaps
from ingressctl.api.inferenceservices import GATEWAYS_ANNOTATION, InferenceService
from ingressctl.api.refs import INGRESS_CLASS_ANNOTATION, Ref
from ingressctl.core.kserve import configuration
from ingressctl.core.outcome import Finding
from ingressctl.core.world import Kind
from ingressctl.plan.checks import istio
from ingressctl.plan.checks.picture import (
    GATEWAY,
    HTTP_ROUTE,
    INGRESS,
    INGRESS_CLASS,
    ISTIO_GATEWAY,
    VIRTUAL_SERVICE,
    Picture,
    spec_of,
)

GATEWAY_CLASS: Kind = ("gateway.networking.k8s.io", "GatewayClass")


def find(picture: Picture) -> Iterator[Finding]:
    """Missing gateways and classes, and settings that name two different gateways."""
    yield from _missing(_istio_parents(picture), ISTIO_GATEWAY, picture)
    yield from _missing(_gateway_parents(picture), GATEWAY, picture)
    yield from _classes(picture)
    yield from _gateway_classes(picture)
    for service in picture.services:
        yield from _chosen(service, picture)
        yield from _istio_class(service, picture)
        yield from _old_class(service, picture)
        yield from _scheme(service, picture)
        yield from _path_template(service, picture)
    yield from _two_halves(picture)


def _istio_parents(picture: Picture) -> Iterator[tuple[Ref, str]]:
    for ref, obj in picture.objects(VIRTUAL_SERVICE):
        for gateway in spec_of(obj).get("gateways") or ():
            if gateway != istio.MESH:
                yield ref, istio.full_name(str(gateway), ref.namespace)


def _gateway_parents(picture: Picture) -> Iterator[tuple[Ref, str]]:
    for ref, obj in picture.objects(HTTP_ROUTE):
        for parent in spec_of(obj).get("parentRefs") or ():
            if parent.get("kind", "Gateway") == "Gateway":
                yield ref, f"{parent.get('namespace') or ref.namespace}/{parent.get('name')}"


def _missing(parents: Iterable[tuple[Ref, str]], kind: Kind, picture: Picture) -> Iterator[Finding]:
    """An error a route where gateways are known, else one note a gateway."""
    known = bool(picture.world.list(kind))
    absent: dict[Ref, dict[Ref, None]] = {}
    for route, gateway in parents:
        namespace, _, name = gateway.rpartition("/")
        ref = Ref(*kind, namespace, name)
        if picture.world.get(ref) is None:
            absent.setdefault(ref, {})[route] = None
    for ref, routes in absent.items():
        gateway = f"{ref.namespace}/{ref.name}"
        if not known:
            yield Finding.of("IC5002", ref, gateway=gateway)
            continue
        for route in routes:
            owner = picture.owner(route)
            yield Finding.of("IC5001", route, owner, kind=kind[1], gateway=gateway)


def _classes(picture: Picture) -> Iterator[Finding]:
    """Ingress classes that the cluster does not have, where it has any."""
    if not picture.world.list(INGRESS_CLASS):
        return
    for ref, obj in picture.objects(INGRESS):
        name = str(spec_of(obj).get("ingressClassName") or "")
        if name and picture.world.get(Ref(*INGRESS_CLASS, "", name)) is None:
            yield Finding.of("IC5003", ref, picture.owner(ref), name=name)


def _gateway_classes(picture: Picture) -> Iterator[Finding]:
    """Gateways of our routes whose class is not there, or that say they are not programmed."""
    for gateway in dict.fromkeys(name for _, name in _gateway_parents(picture)):
        namespace, _, name = gateway.rpartition("/")
        ref = Ref(*GATEWAY, namespace, name)
        obj = picture.world.get(ref)
        if obj is None:
            continue
        class_name = str(spec_of(obj).get("gatewayClassName") or "")
        missing = picture.world.get(Ref(*GATEWAY_CLASS, "", class_name)) is None
        if picture.world.list(GATEWAY_CLASS) and missing:
            yield Finding.of("IC5004", ref, gateway=gateway, name=class_name)
        for condition in (obj.get("status") or {}).get("conditions") or ():
            if condition.get("type") in ("Accepted", "Programmed") and (
                condition.get("status") == "False"
            ):
                yield Finding.of(
                    "IC5005",
                    ref,
                    gateway=gateway,
                    condition=condition["type"],
                    text=condition.get("message") or condition.get("reason") or "",
                )


def _chosen(service: InferenceService, picture: Picture) -> Iterator[Finding]:
    """Gateways of the annotation that the configuration does not offer (F55)."""
    chosen = service.annotations.get(GATEWAYS_ANNOTATION, "")
    for name in filter(None, (part.strip() for part in chosen.split(","))):
        if name not in picture.ingress.ingressGateways:
            offered = ", ".join(picture.ingress.ingressGateways) or "none"
            yield Finding.of(
                "IC5006", service.ref, annotation=GATEWAYS_ANNOTATION, name=name, offered=offered
            )


def _istio_class(service: InferenceService, picture: Picture) -> Iterator[Finding]:
    """Standard mode makes an Ingress: nobody makes a VirtualService for it (F57)."""
    if picture.mode(service) != "Standard" or picture.provider(service) != "ingress":
        return
    if picture.ingress.ingressClassName != "istio" or not _has_ingress(service, picture):
        return
    known = picture.world.list(INGRESS_CLASS)
    if picture.world.get(Ref(*INGRESS_CLASS, "", "istio")) is None and not known:
        yield Finding.of(
            "IC5007", service.ref, name="istio", gateway_api=_gateway_api(picture.ingress)
        )


def _old_class(service: InferenceService, picture: Picture) -> Iterator[Finding]:
    """The annotation that named a class before the field did, and names another one (F56)."""
    given, asked = (
        picture.ingress.ingressClassName,
        service.annotations.get(INGRESS_CLASS_ANNOTATION),
    )
    if not asked or not given or asked == given or picture.provider(service) != "ingress":
        return
    if picture.reads.differs("Q5"):
        yield Finding.of(
            "IC5601", service.ref, annotation=INGRESS_CLASS_ANNOTATION, asked=asked, given=given
        )


def _scheme(service: InferenceService, picture: Picture) -> Iterator[Finding]:
    """URLs with http at a Gateway whose listeners all have TLS (F13).

    The reverse is no contradiction: TLS may end at a load balancer before the Gateway.
    """
    namespace, _, name = picture.ingress.kserveIngressGateway.rpartition("/")
    gateway = Ref(*GATEWAY, namespace, name)
    route = Ref(*HTTP_ROUTE, service.namespace, service.name)
    wanted = picture.ingress.urlScheme
    obj = picture.world.get(gateway)
    if wanted != "http" or obj is None or picture.made.get(route) != service.ref:
        return
    protocols = {str(item.get("protocol")) for item in spec_of(obj).get("listeners") or ()}
    if protocols and protocols <= {"HTTPS", "TLS"}:
        yield Finding.of(
            "IC2610",
            service.ref,
            gateway,
            wanted=wanted,
            gateway=f"{namespace}/{name}",
            scheme="https",
        )


def _gateway_api(ingress: configmaps.IngressConfig) -> str:
    """The settings that turn HTTPRoutes on: without a Gateway, KServe refuses the others."""
    switch = "ingress.enableGatewayApi to true"
    if ingress.kserveIngressGateway:
        return switch
    return f"{switch} with ingress.kserveIngressGateway to NAMESPACE/NAME of a Gateway"


def _has_ingress(service: InferenceService, picture: Picture) -> bool:
    return picture.world.get(Ref(*INGRESS, service.namespace, service.name)) is not None


def _path_template(service: InferenceService, picture: Picture) -> Iterator[Finding]:
    """A path template that the provider cannot serve, because it cannot cut the path off."""
    provider = picture.reads.providers.get(picture.provider(service))
    if not picture.ingress.pathTemplate or provider is None:
        return
    if "path-rewrite" not in provider.capabilities:
        yield Finding.of("IC4301", service.ref, provider=provider.name)


def _two_halves(picture: Picture) -> Iterator[Finding]:
    """KServe's gateway and the one that Knative's own routes use are set apart (F107)."""
    external = set(_external_gateways(picture))
    ours = set(picture.ingress.gateways)
    if not external or not ours or external & ours:
        return
    for service in picture.services:
        if picture.mode(service) == "Knative" and picture.provider(service) == "istio":
            yield Finding.of(
                "IC5008",
                service.ref,
                Ref("", "ConfigMap", picture.settings.knative_namespace, "config-istio"),
                Ref("", "ConfigMap", picture.settings.config_namespace, configuration.NAME),
                ours=", ".join(sorted(ours)),
                theirs=", ".join(sorted(external)),
            )


def _external_gateways(picture: Picture) -> Iterator[str]:
    """Public gateways of config-istio, in either of its two spellings (net-istio).

    Keys `gateway.NAMESPACE.NAME`, and the YAML list under `external-gateways`.
    """
    name = Ref("", "ConfigMap", picture.settings.knative_namespace, "config-istio")
    data = (picture.world.get(name) or {}).get("data") or {}
    for key in data:
        prefix, _, rest = str(key).partition(".")
        if prefix == "gateway" and "." in rest:
            yield rest.replace(".", "/", 1)
    try:
        listed = yaml.load(str(data.get("external-gateways") or ""), yaml.CSafeLoader)
    except yaml.YAMLError:
        return
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict):
            yield f"{entry.get('namespace')}/{entry.get('name')}"
