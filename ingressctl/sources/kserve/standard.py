"""The routing step in Standard mode: gate, routes, status.

spec/kserve-ingress.md 9, 10.6 and 15.1, for every provider.
"""

from __future__ import annotations

from collections.abc import Callable

from ingressctl.api.refs import Raw, Ref
from ingressctl.core import naming
from ingressctl.core.conditions import Status
from ingressctl.core.kserve import gateways, hosts, ingress_extras, visibility
from ingressctl.core.model import Group, Route
from ingressctl.core.outcome import Fault, Finding, Keep
from ingressctl.sources.kserve import (
    ports,
    readiness,
    standard_compat,
    standard_routes,
)
from ingressctl.sources.kserve.draft import Context, Routing

TOP = "InferenceService"


def reconcile_routes(context: Context) -> Routing:
    """The wanted routes of the service; the draft gets IngressReady, url and address."""
    local = visibility.standard_local(context.service, context.ingress, context.reads)
    if local or context.ingress.disableIngressCreation:
        return _unpublished(context)
    try:
        if context.provider == "ingress":
            return _ingress(context)
        return _routes(context)
    except naming.NameFault as fault:
        return _bad_host(context, fault)


def _unpublished(context: Context) -> Routing:
    """No routes; IngressReady all the same. With Q24 the in-cluster URL is published."""
    return Routing(faults=_publish(context, private=context.reads.differs("Q24")))


def _bad_host(context: Context, fault: naming.NameFault) -> Routing:
    """A host or path that cannot be ends the pass; with Q16 a condition tells."""
    text = str(fault)
    if context.reads.differs("Q16"):
        context.draft.conditions.set("IngressReady", "False", "InvalidHost", text)
    code = "IC2002" if isinstance(fault, naming.PathFault) else "IC2001"
    return Routing(
        keep=Keep(everything=True),
        findings=(Finding.of(code, context.service.ref, text=text),),
        faults=(Fault(text, "routes"),),
    )


def _ingress(context: Context) -> Routing:
    """One Ingress in all: it waits for every component it leads to."""
    parts = dict(context.service.components)
    if not context.reads.differs("Q9") and "transformer" in parts:
        parts.pop("explainer", None)
    waiting = readiness.first_unready(parts, context.draft.conditions)
    if waiting:
        reason = readiness.not_created(waiting)
        context.draft.conditions.set("IngressReady", "False", reason)
        return Routing(keep=Keep(names=frozenset({context.service.name})))
    if context.reads.differs("Q9"):
        routes = _all_routes(context)
    else:
        routes = standard_compat.ingress_routes(context)
    wanted = ingress_extras.add(routes, context.service, context.ingress)
    verdict = context.reads.providers[context.provider].readiness(wanted[0], reads=context.reads)
    if context.reads.differs("Q3") and not verdict.ready:
        context.draft.conditions.set("IngressReady", "False", verdict.reason, verdict.message)
        return Routing(wanted, again=verdict.again)
    return Routing(wanted, faults=_publish(context))


def _all_routes(context: Context) -> tuple[Route, ...]:
    order = [name for name, _ in context.service.components if name != "predictor"]
    return (
        standard_routes.top_level_route(context),
        *(standard_routes.component_route(context, name) for name in (*order, "predictor")),
    )


def _routes(context: Context) -> Routing:
    """A route a component, each waiting for its own, and the top-level one for all."""
    conditions = context.draft.conditions
    wanted: dict[str, Route] = {}
    waiting = ""
    for name, make in _makers(context):
        needs = [part for part, _ in context.service.components] if name == TOP else [name]
        unready = readiness.first_unready(needs, conditions)
        if unready:
            conditions.set("IngressReady", "False", readiness.not_created(unready))
            waiting = waiting or unready
            continue
        wanted[name] = make()
    again = _settle(context, wanted)
    faults: tuple[Fault, ...] = ()
    if again is None:
        faults = _publish(context)
    elif TOP in wanted and standard_routes.rendered_path(context) and context.reads.differs("Q10"):
        context.draft.fields["url"] = _public_url(context)
    names = (_object_name(context, name) for name, _ in _makers(context) if name not in wanted)
    return Routing(tuple(wanted.values()), Keep(names=frozenset(names)), faults=faults, again=again)


def _makers(context: Context) -> list[tuple[str, Callable[[], Route]]]:
    def component(name: str) -> Callable[[], Route]:
        return lambda: standard_routes.component_route(context, name)

    makers = [(name, component(name)) for name, _ in context.service.components]
    return [*makers, (TOP, lambda: standard_routes.top_level_route(context))]


def _object_name(context: Context, name: str) -> str:
    service = context.service.name
    return service if name == TOP else f"{service}-{name}"


def _settle(context: Context, wanted: dict[str, Route]) -> float | None:
    """IngressReady from the gateway's word on each route, in order; None when all serve.

    Seconds until another look otherwise (spec/kserve-ingress.md 10.6).
    """
    provider = context.reads.providers[context.provider]
    order = ["predictor", "transformer", "explainer", TOP]
    present = dict(context.service.components)
    for name in [part for part in order if part in present or part == TOP]:
        title = readiness.TITLE.get(name, name)
        if name not in wanted and (context.reads.differs("Q3") or not _exists(context, name)):
            _missing(context, title)
            return 1.0
        route = wanted.get(name) or _left_alone(context, name)
        verdict = provider.readiness(route, reads=context.reads)
        if not verdict.ready:
            status: Status = "Unknown" if verdict.ready is None else "False"
            message = f"{title} {verdict.message}"
            context.draft.conditions.set("IngressReady", status, verdict.reason, message)
            return verdict.again or 1.0
    return None


def _missing(context: Context, title: str) -> None:
    if context.reads.differs("Q3"):
        return
    context.draft.conditions.set(
        "IngressReady",
        "False",
        f"{title} Deployment NotReady",
        f"{title} HTTPRoute not created",
    )


def _exists(context: Context, name: str) -> bool:
    """Whether an object of the route is stored; a provider without objects has none."""
    kinds = context.reads.providers[context.provider].kinds[:1]
    place, own = context.service.namespace, _object_name(context, name)
    return any(context.reads.get(Ref(*kind, place, own)) is not None for kind in kinds)


def _left_alone(context: Context, name: str) -> Route:
    """A route from before that stays while its component is not ready: its status counts."""
    own = context.service.ref
    ref = Ref(own.group, own.kind, own.namespace, _object_name(context, name))
    group = Group((), gateways.entries(context.ingress, context.provider), ())
    return Route(ref=ref, owner=context.service.owner, groups=(group,))


def _publish(context: Context, *, private: bool = False) -> tuple[Fault, ...]:
    """url, address and IngressReady True; a fault when the entry Service is missing."""
    service, reads = context.service, context.reads
    name = service.object_name(service.entry)
    backend = reads.get(Ref("", "Service", service.namespace, name))
    if backend is None and not reads.differs("Q16"):
        return (Fault(f"failed to get entry point service: {name} not found", "routes"),)
    address = f"http://{hosts.internal_host(service, name, reads)}{_headless_port(backend)}"
    context.draft.publish(address if private else _url(context, address), address)
    context.draft.conditions.set("IngressReady", "True")
    return ()


def _url(context: Context, address: str) -> str:
    """The public URL; with Q16 the in-cluster one where nothing publishes a host.

    Then a host that cannot be is not needed either.
    """
    if not context.ingress.disableIngressCreation or not context.reads.differs("Q16"):
        return _public_url(context)
    try:
        for component, _ in context.service.components:
            standard_routes.component_route(context, component)
        return _public_url(context)
    except naming.NameFault:
        return address


def _public_url(context: Context) -> str:
    """By service host; with Q10, where path rules work, by ingress domain and path."""
    ingress = context.ingress
    path = standard_routes.rendered_path(context)
    if path and context.reads.differs("Q10"):
        return f"{ingress.urlScheme}://{ingress.ingressDomain}{path}"
    host = hosts.standard_host(context.service, context.service.name, ingress, context.reads)
    return f"{ingress.urlScheme}://{host}"


def _headless_port(service: Raw | None) -> str:
    """``:port`` for a headless Service: the target of its first REST port, else 8080."""
    spec = (service or {}).get("spec") or {}
    if spec.get("clusterIP") != "None":
        return ""
    for port in spec.get("ports") or ():
        target = port.get("targetPort")
        if not ports.is_grpc(port):
            return f":{target}" if isinstance(target, int) and target > 0 else ":8080"
    return ":8080"
