"""Certificates and annotations of generated Ingresses from configuration (F14).

`ingressTLSSecretName` and `ingressAnnotations` hold for every object; an annotation on the
object wins, and its own secret is named by TLS_ANNOTATION ("" there means none).
"""

from __future__ import annotations

from ingressctl.api.configmaps import IngressConfig
from ingressctl.api.inferenceservices import TLS_ANNOTATION
from ingressctl.core.kserve.served import Served
from ingressctl.core.model import Route, Tls
from ingressctl.core.values import replace


def add(routes: tuple[Route, ...], served: Served, ingress: IngressConfig) -> tuple[Route, ...]:
    """The routes of one Ingress with the configured annotations and its certificate."""
    annotated = tuple(_annotated(route, ingress) for route in routes)
    secret = served.annotations.get(TLS_ANNOTATION, ingress.ingressTLSSecretName)
    if not secret or not annotated:
        return annotated
    names = dict.fromkeys(host.name for route in annotated for host in route.hosts())
    return (replace(annotated[0], tls=(Tls(tuple(names), secret),)), *annotated[1:])


def _annotated(route: Route, ingress: IngressConfig) -> Route:
    annotations = {**ingress.ingressAnnotations, **dict(route.annotations)}
    return replace(route, annotations=tuple(sorted(annotations.items())))
