"""The routing step in Knative mode: gate, route, status (spec/kserve-ingress.md 7, 15.1)."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from ingressctl.core import naming
from ingressctl.core.kserve import hosts, visibility
from ingressctl.core.outcome import Fault, Finding, Keep
from ingressctl.sources.kserve import component_hosts, knative_routes, readiness
from ingressctl.sources.kserve.draft import Context, Routing


def reconcile_routes(context: Context) -> Routing:
    """The wanted route of the service; the draft gets IngressReady, url and address."""
    service = context.service
    if context.ingress.disableIstioVirtualHost:
        return _without_virtual_host(context)
    waiting = _waiting_for(context)
    try:
        path = knative_routes.rendered_path(context)
        _check_path(context, path)
    except naming.NameFault as fault:
        return _bad_path(context, str(fault))
    host = component_hosts.knative_host(service, context.draft.component_url, context.reads)
    exposure = knative_routes.Exposure(host, _is_local(context, host), path)
    if waiting or not host:
        _publish(context, exposure, waiting)
        return Routing((knative_routes.make_alias(context),), Keep(names=frozenset({service.name})))
    _publish(context, exposure, waiting)
    return Routing((knative_routes.make_route(context, exposure),))


def _waiting_for(context: Context) -> str:
    """The component that is not ready, with IngressReady set for it; "" if none."""
    names = [name for name, _ in context.service.components]
    waiting = readiness.first_unready(names, context.draft.conditions)
    if waiting:
        conditions = context.draft.conditions
        known = conditions.status(readiness.READY[waiting]) == "False"
        conditions.set(
            "IngressReady", "False" if known else "Unknown", readiness.not_created(waiting)
        )
    return waiting


def _is_local(context: Context, host: str) -> bool:
    internal = hosts.internal_host(context.service, context.service.name, context.reads)
    return visibility.labelled_local(context.service, "Knative", context.reads) or host == internal


def _check_path(context: Context, path: str) -> None:
    template = context.ingress.pathTemplate
    if not path or not context.reads.differs("Q43"):
        return
    other = naming.render_path(template, name=context.service.name, namespace="another-namespace")
    if other.rstrip("/") == path.rstrip("/"):
        raise naming.NameFault(
            f"pathTemplate {template!r} lacks {{{{ .Namespace }}}}: two services of one name "
            "in two namespaces would share the path"
        )


def _bad_path(context: Context, text: str) -> Routing:
    """KServe only logs it; with Q43 it is an error with a condition."""
    keep = Keep(names=frozenset({context.service.name}))
    alias = (knative_routes.make_alias(context),)
    if not context.reads.differs("Q43"):
        return Routing(alias, keep)
    context.draft.conditions.set("IngressReady", "False", "PathTemplateInvalid", text)
    finding = Finding.of("IC2002", context.service.ref, text=text, difference="Q43")
    return Routing(alias, keep, (finding,), (Fault(text, "routes", "pathTemplate"),))


def _publish(context: Context, exposure: knative_routes.Exposure, waiting: str) -> None:
    """url, address and IngressReady as soon as the entry component has a URL.

    With Q3 nothing is published while a component is waited for.
    """
    if not exposure.host or (waiting and context.reads.differs("Q3")):
        return
    internal = hosts.internal_host(context.service, context.service.name, context.reads)
    scheme = context.ingress.urlScheme
    url = f"{scheme}://{exposure.host}"
    if exposure.local and context.reads.differs("Q13"):
        url = f"http://{internal}"
    elif exposure.path:
        rendered = naming.render_path(
            context.ingress.pathTemplate,
            name=context.service.name,
            namespace=context.service.namespace,
        )
        url = f"{scheme}://{context.ingress.ingressDomain}{rendered}"
    if not exposure.path:
        _touch_component(context)
    context.draft.publish(url, f"http://{internal}")
    context.draft.conditions.set("IngressReady", "True")


def _without_virtual_host(context: Context) -> Routing:
    """Nothing is made or deleted; the entry component's own URL is published."""
    waiting = _waiting_for(context)
    service = context.service
    url = context.draft.component_url(service.entry)
    if url and not (waiting and context.reads.differs("Q3")):
        parts = urlsplit(url)
        address = hosts.internal_host(service, service.object_name(service.entry), context.reads)
        published = urlunsplit(parts._replace(scheme=context.ingress.urlScheme))
        _touch_component(context)
        context.draft.publish(published, f"http://{address}")
        context.draft.conditions.set("IngressReady", "True")
    return Routing()


def _touch_component(context: Context) -> None:
    if not context.reads.differs("Q23"):
        context.draft.overwrite_scheme(context.service.entry, context.ingress.urlScheme)
