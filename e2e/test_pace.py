"""How long istiod and Envoy take to follow a route, beside the settle time that is shipped.

The figures are printed with the times of the parts. A controller cannot see when a gateway
has followed, so the first Ready waits for the settle time (difference F89): this is what
that time has to cover.
"""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from e2e import doors
from e2e.bed import bed as beds
from e2e.bed import gateways, timing, waiting
from e2e.bed.bed import Bed
from e2e.pods import api
from ingressctl.cli.run import Process

ROUNDS = 10
SECONDS = 30
NAMESPACE = "team-a"


@pytest.fixture(scope="module")
def bed(make_bed: Callable[..., Bed]) -> Bed:
    """Envoy serves KServe's and Knative's gateways."""
    made = make_bed((beds.GATEWAY,), envoy=doors.settings())
    spaces = [_namespace(name) for name in ("kserve", "knative-serving", NAMESPACE)]
    made.apply(yaml.safe_dump_all([*spaces, *doors.objects(made.gateway), *_backend()]))
    return made


@pytest.mark.parametrize("kind", ["VirtualService", "HTTPRoute"])
async def test_the_shipped_settle_time_covers_istiod(bed: Bed, kind: str) -> None:
    make, listener = {
        "VirtualService": (_virtual_service, gateways.PLAIN),
        "HTTPRoute": (_http_route, doors.KSERVE_PORT),
    }[kind]
    address = f"{bed.gateway.reached}:{bed.gateway.ports[listener]}"
    taken = []
    async with api.connect(bed.kubeconfig) as client:
        for number in range(ROUNDS + 1):
            host = f"{kind.lower()}-{number}.example.com"
            path, body = make(f"pace-{number}", host)
            await client.create(path, body)
            written = time.monotonic()
            answered = waiting.until(
                host, lambda host=host: _answers(address, host), seconds=SECONDS
            )
            taken.append(answered - written)
    taken = sorted(taken[1:])  # with the first one the listener comes
    timing.spans.append((f"istiod and Envoy follow a {kind}, median", taken[len(taken) // 2]))
    timing.spans.append((f"istiod and Envoy follow a {kind}, slowest of {ROUNDS}", taken[-1]))
    assert taken[len(taken) // 2] < Process().settle_seconds


def _answers(address: str, host: str) -> float:
    """When the gateway knew the host; 0 if it does not."""
    connection = http.client.HTTPConnection(address, timeout=5)
    try:
        connection.request("GET", "/", headers={"Host": host})
        known = connection.getresponse().status != 404
        return time.monotonic() if known else 0.0
    except OSError:
        return 0.0
    finally:
        connection.close()


def _namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _backend() -> list[dict[str, Any]]:
    """A Service that nobody stands behind: any answer but 404 tells that a route is known."""
    place = {"name": "nobody", "namespace": NAMESPACE}
    spec = {"selector": {"app": "nobody"}, "ports": [{"name": "http", "port": 80}]}
    return [{"apiVersion": "v1", "kind": "Service", "metadata": place, "spec": spec}]


def _virtual_service(name: str, host: str) -> tuple[str, dict[str, Any]]:
    destination = {"host": f"nobody.{NAMESPACE}.svc.cluster.local", "port": {"number": 80}}
    return f"/apis/networking.istio.io/v1/namespaces/{NAMESPACE}/virtualservices", {
        "apiVersion": "networking.istio.io/v1",
        "kind": "VirtualService",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "hosts": [host],
            "gateways": [doors.PUBLIC],
            "http": [{"route": [{"destination": destination}]}],
        },
    }


def _http_route(name: str, host: str) -> tuple[str, dict[str, Any]]:
    namespace, _, gateway = doors.KSERVE.partition("/")
    return f"/apis/gateway.networking.k8s.io/v1/namespaces/{NAMESPACE}/httproutes", {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "parentRefs": [{"name": gateway, "namespace": namespace}],
            "hostnames": [host],
            "rules": [{"backendRefs": [{"name": "nobody", "port": 80}]}],
        },
    }
