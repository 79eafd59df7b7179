"""Certificates and annotations of generated Ingresses from configuration (F14).

`ingressTLSSecretName` and `ingressAnnotations` hold for every service; an annotation on the
service wins, and its own secret is named by TLS_ANNOTATION ("" there means none).
"""

from __future__ import annotations

from ingressctl.api.inferenceservices import TLS_ANNOTATION
from ingressctl.core.model import Route, Tls
from ingressctl.core.values import replace
from ingressctl.sources.kserve.draft import Context


def add(routes: tuple[Route, ...], context: Context) -> tuple[Route, ...]:
    """The routes of one Ingress with the configured annotations and its certificate."""
    annotated = tuple(_annotated(route, context) for route in routes)
    secret = context.service.annotations.get(TLS_ANNOTATION, context.ingress.ingressTLSSecretName)
    if not secret or not annotated:
        return annotated
    names = dict.fromkeys(host.name for route in annotated for host in route.hosts())
    return (replace(annotated[0], tls=(Tls(tuple(names), secret),)), *annotated[1:])


def _annotated(route: Route, context: Context) -> Route:
    annotations = {**context.ingress.ingressAnnotations, **dict(route.annotations)}
    return replace(route, annotations=tuple(sorted(annotations.items())))
