"""A world on the way through the cluster: its picture, the routes made of it, its questions."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from e2e import doors
from e2e.bed import gateways
from e2e.worlds import placing
from ingressctl.api.refs import Kind, Raw, Ref, ref_of
from ingressctl.cli import plugins
from ingressctl.core.settings import Settings
from ingressctl.core.table import Request
from ingressctl.core.world import Reads, World
from ingressctl.plan import cascade, explain
from ingressctl.plan.explanation import Explanation
from ingressctl.sources.knative import traffic
from tests import worlds

PROVIDERS = plugins.providers()
ROUTED = ("istio", "gateway_api")
"""Each world's routes are made by both providers; their gateways have ports of their own."""

REVISION_PORTS = (80, 81)

KINDS: tuple[Kind, ...] = (
    ("", "Service"),
    ("serving.kserve.io", "InferenceService"),
    ("serving.knative.dev", "Service"),
    ("networking.istio.io", "VirtualService"),
    ("networking.istio.io", "Gateway"),
    ("gateway.networking.k8s.io", "HTTPRoute"),
    ("gateway.networking.k8s.io", "Gateway"),
    ("gateway.networking.k8s.io", "GatewayClass"),
    ("gateway.networking.k8s.io", "ReferenceGrant"),
)
"""What explain looks at, read back from the API server."""


@dataclass(frozen=True, slots=True)
class Way:
    """A listener of Envoy, and the entry and port that explain is asked about."""

    name: str
    listener: int
    entry: str
    port: int = 0

    def asked(self, request: Request) -> Request:
        """The request as it comes by this listener."""
        return replace(request, port=self.port)


VIRTUAL_SERVICES = Way("VirtualServices", gateways.PLAIN, f"gateway {doors.PUBLIC}")
INSIDE = Way("local gateway", gateways.LOCAL, f"gateway {doors.LOCAL}")
HTTP_ROUTES = Way(
    "HTTPRoutes", doors.KSERVE_PORT, f"gateway {doors.KSERVE}", port=doors.KSERVE_PORT
)


@dataclass(slots=True)
class Placed:
    """One world. `stored` is what the API server has of it."""

    made: worlds.Generated
    stored: list[Raw] = field(default_factory=list)

    @classmethod
    def of(cls, seed: int) -> Placed:
        """The world of a seed, not stored yet."""
        return cls(placing.placed(seed))

    @property
    def configuration(self) -> list[Raw]:
        """The objects that stay here."""
        return [obj for obj in self.made.objects if ref_of(obj).kind in placing.OURS]

    @property
    def written(self) -> list[Raw]:
        """The objects that somebody wrote into the cluster."""
        return [obj for obj in self.made.objects if ref_of(obj).kind not in placing.OURS]

    def world(self, shared: Iterable[Raw]) -> World:
        """The picture that ingressctl has, with the gateways of all worlds."""
        return World.of([*self.configuration, *shared, *self.stored])

    def routes(self, shared: Iterable[Raw]) -> Iterator[Raw]:
        """What both providers make of it, and what net-istio makes of Knative's Services."""
        world = self.world(shared)
        for provider in ROUTED:
            settings = Settings(provider=provider, assume="ready")
            now = datetime.now(UTC)
            ran = cascade.run(world, settings, now=now, providers=PROVIDERS)
            for step in ran.steps:
                yield from step.emission.objects
        yield from _second_hops(world)

    def explained(self, request: Request, way: Way, shared: Iterable[Raw]) -> Explanation:
        """What explain says of a request that comes by a listener."""
        return explain.explain(
            way.asked(request), self.world(shared), Settings(), via=way.entry, providers=PROVIDERS
        )

    def questions(self, count: int) -> Iterator[tuple[Way, Request]]:
        """So many requests to each public listener, and half as many from inside.

        Half of them name a host that is surely served there.
        """
        choose = random.Random(f"hosts of {self.made.seed}")
        for number, request in enumerate(self.made.requests(count)):
            for way in (VIRTUAL_SERVICES, HTTP_ROUTES):
                hosts = self._hosts(way) if number % 2 else []
                yield way, replace(request, host=choose.choice(hosts)) if hosts else request
        for request in self.made.local_requests(count // 2):
            yield INSIDE, request

    def _hosts(self, way: Way) -> list[str]:
        """The hosts that objects name which are bound to a listener."""
        gateway = way.entry.partition(" ")[2]
        specs = [obj.get("spec") or {} for obj in self.stored]
        if way is HTTP_ROUTES:
            return [host for spec in specs for host in spec.get("hostnames") or ()]
        bound = (spec for spec in specs if gateway in (spec.get("gateways") or ()))
        return [host for spec in bound for host in spec["hosts"]]


def _second_hops(world: World) -> Iterator[Raw]:
    reads = Reads(world, Settings(), providers=PROVIDERS)
    for service in world.list(traffic.KNATIVE_SERVICE):
        route = traffic.route(service, reads=reads)
        if route is not None:
            yield from PROVIDERS["istio"].emit((route,), reads=reads).objects


def revisions(routes: Iterable[Raw]) -> Iterator[Raw]:
    """A Service for each revision that net-istio's VirtualServices lead to."""
    seen: set[Ref] = set()
    for obj in routes:
        for http in (obj.get("spec") or {}).get("http") or ():
            for backend in http.get("route") or ():
                ref = _revision(backend)
                if ref is not None and ref not in seen:
                    seen.add(ref)
                    yield _service(ref)


def _revision(backend: Mapping[str, object]) -> Ref | None:
    """The revision's Service; None for other backends. Only revisions get that header."""
    if "Knative-Serving-Revision" not in str(backend.get("headers")):
        return None
    destination = backend["destination"]
    assert isinstance(destination, Mapping)
    name, namespace, *_ = str(destination["host"]).split(".")
    return Ref("", "Service", namespace, name)


def _service(ref: Ref) -> Raw:
    names = dict(zip(REVISION_PORTS, ("http", "http2"), strict=True))
    listed = [{"name": names[port], "port": port} for port in REVISION_PORTS]
    place = {"name": ref.name, "namespace": ref.namespace}
    return {"apiVersion": "v1", "kind": "Service", "metadata": place, "spec": {"ports": listed}}
