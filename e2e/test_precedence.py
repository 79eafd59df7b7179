"""Which of several fitting rules wins is what explain says: routes that stand in each other's way.

The random worlds have no such routes, because ours never overlap; those of users do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml

from e2e import doors, stub
from e2e.bed import bed as beds
from e2e.bed import gateways, waiting
from e2e.bed.bed import Bed
from e2e.pods import api
from e2e.worlds import asking, storing
from e2e.worlds.placed import KINDS
from ingressctl.cli import plugins
from ingressctl.core.settings import Settings
from ingressctl.core.table import Request
from ingressctl.core.world import World
from ingressctl.plan import explain

SECONDS = 30
NAMESPACE = "default"
STUBS = ("one", "two", "three", "four", "five")
PATHS = ("/", "/v1", "/v1/models", "/v1/models/iris", "/v1/modelsx", "/v2/models/iris", "/v2x")
HEADERS: tuple[dict[str, str], ...] = ({}, {"x-a": "1"}, {"x-a": "1", "x-b": "2"})


@pytest.fixture(scope="module")
def bed(make_bed: Callable[..., Bed]) -> Iterator[Bed]:
    """Five backends, and routes to them at both public gateways."""
    made = make_bed((beds.GATEWAY,), envoy=doors.settings())
    spaces = [_namespace("kserve"), _namespace("knative-serving")]
    made.apply(yaml.safe_dump_all([*spaces, *doors.objects(made.gateway)]))
    with (
        stub.serving("one") as one,
        stub.serving("two") as two,
        stub.serving("three") as three,
        stub.serving("four") as four,
        stub.serving("five") as five,
    ):
        for name, port in zip(STUBS, (one, two, three, four, five), strict=True):
            made.apply(yaml.safe_dump_all(_backend(name, port)))
        for routes in (VIRTUAL_SERVICES, HTTP_ROUTES):
            for route in routes:  # one after the other: age counts
                made.apply(yaml.safe_dump(route))
        yield made


def _destination(name: str) -> dict[str, Any]:
    return {"host": f"{name}.{NAMESPACE}.svc.cluster.local", "port": {"number": 80}}


def virtual_service(name: str, host: str, *rules: tuple[dict[str, Any], str]) -> dict[str, Any]:
    return {
        "apiVersion": "networking.istio.io/v1",
        "kind": "VirtualService",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "hosts": [host],
            "gateways": [doors.PUBLIC],
            "http": [
                {"match": [match], "route": [{"destination": _destination(to)}]}
                for match, to in rules
            ],
        },
    }


def http_route(name: str, host: str, *rules: tuple[dict[str, Any], str]) -> dict[str, Any]:
    namespace, _, gateway = doors.KSERVE.partition("/")
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "parentRefs": [{"name": gateway, "namespace": namespace}],
            "hostnames": [host],
            "rules": [
                {"matches": [match], "backendRefs": [{"name": to, "port": 80}]}
                for match, to in rules
            ],
        },
    }


def _path(kind: str, value: str, **more: Any) -> dict[str, Any]:
    return {"path": {"type": kind, "value": value}, **more}


def _header(name: str, value: str) -> dict[str, str]:
    return {"name": name, "value": value}


VIRTUAL_SERVICES = (
    # In the order written, by character; what follows a rule for everything is never asked.
    virtual_service(
        "written",
        "written.test",
        ({"uri": {"prefix": "/v1"}}, "one"),
        ({"uri": {"exact": "/v1/models"}}, "two"),
        ({"uri": {"regex": "/v2/.*"}, "headers": {"x-a": {"exact": "1"}}}, "three"),
        ({"uri": {"prefix": "/"}}, "four"),
        ({"uri": {"prefix": "/v2"}}, "five"),
    ),
    # Joined by age, but rules for everything come last.
    virtual_service("joined-1", "joined.test", ({"uri": {"prefix": "/"}}, "one")),
    virtual_service(
        "joined-2",
        "joined.test",
        ({"uri": {"prefix": "/v1/models"}}, "two"),
        ({"uri": {"regex": "/v2/.*"}}, "three"),
    ),
    virtual_service("joined-3", "joined.test", ({"uri": {"prefix": "/v1"}}, "five")),
)

HTTP_ROUTES = (
    http_route(
        "ranked",
        "ranked.test",
        (_path("PathPrefix", "/"), "one"),
        (_path("RegularExpression", "/v[12]/.*"), "two"),
        (_path("PathPrefix", "/v1"), "three"),
        (_path("PathPrefix", "/v1/models"), "four"),
        (_path("Exact", "/v1/models"), "five"),
    ),
    http_route(
        "counted",
        "counted.test",
        (_path("PathPrefix", "/v1"), "one"),
        (_path("PathPrefix", "/v1", headers=[_header("x-a", "1")]), "two"),
        (_path("PathPrefix", "/v1", method="POST"), "three"),
        (
            _path("PathPrefix", "/v1", headers=[_header("x-a", "1"), _header("x-b", "2")]),
            "four",
        ),
    ),
    http_route("wide", "apart.test", (_path("PathPrefix", "/"), "one")),
    http_route(
        "narrow",
        "apart.test",
        (_path("RegularExpression", "/v2/.*"), "two"),
        (_path("PathPrefix", "/v1"), "three"),
    ),
    http_route("older", "aged.test", (_path("PathPrefix", "/v1"), "one")),
    http_route(
        "younger",
        "aged.test",
        (_path("PathPrefix", "/v1"), "two"),
        (_path("PathPrefix", "/v1/models"), "three"),
        (_path("PathPrefix", "/"), "four"),
    ),
)


@pytest.mark.parametrize(
    ("entry", "listener", "hosts"),
    [
        (doors.PUBLIC, gateways.PLAIN, ("written.test", "joined.test")),
        (
            doors.KSERVE,
            doors.KSERVE_PORT,
            ("ranked.test", "counted.test", "apart.test", "aged.test"),
        ),
    ],
)
def test_the_rule_that_wins_is_the_one_that_explain_names(
    bed: Bed, entry: str, listener: int, hosts: tuple[str, ...]
) -> None:
    at = f"{bed.gateway.reached}:{bed.gateway.ports[listener]}"
    world = World.of(asyncio.run(_stored(bed)))
    questions = [(host, path, headers) for host in hosts for path in PATHS for headers in HEADERS]
    said = {
        (host, path, len(headers)): _said(
            world, entry, listener, Request("GET", host, path, headers)
        )
        for host, path, headers in questions
    }
    assert len(set(said.values())) >= len(STUBS), "every backend wins somewhere"

    def wrong() -> dict[Any, tuple[str, str]]:
        found = {
            (host, path, len(headers)): stub.ask(at, path, host=host, headers=headers).get(
                "name", ""
            )
            for host, path, headers in questions
        }
        return {key: (said[key], name) for key, name in found.items() if said[key] != name}

    try:
        waiting.until("answers", lambda: not wrong(), seconds=SECONDS)
    except waiting.Late:
        assert wrong() == {}


def _said(world: World, entry: str, listener: int, request: Request) -> str:
    """The backend that explain names; "" for none."""
    asked = Request(request.method, request.host, request.path, request.headers, port=listener)
    explained = explain.explain(
        asked, world, Settings(), via=f"gateway {entry}", providers=plugins.providers()
    )
    (end,) = asking.ends(explained)
    return end.backend.partition(".")[0]


async def _stored(bed: Bed) -> list[Any]:
    async with api.connect(bed.kubeconfig) as client:
        return [obj for kind in KINDS for obj in await storing.listed(client, kind)]


def _namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _backend(name: str, port: int) -> list[dict[str, Any]]:
    place, labels = {"name": name, "namespace": NAMESPACE}, {"app": name}
    service = {"selector": labels, "ports": [{"name": "http", "port": 80}]}
    entry = {"address": "127.0.0.1", "labels": labels, "ports": {"http": port}}
    return [
        {"apiVersion": "v1", "kind": "Service", "metadata": place, "spec": service},
        {
            "apiVersion": "networking.istio.io/v1",
            "kind": "WorkloadEntry",
            "metadata": place,
            "spec": entry,
        },
    ]
