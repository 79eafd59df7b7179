"""The field case that needs istiod: a prediction is sent to the model once.

Over both gateways of Knative mode, with a model that fails in each way in which Istio or Envoy
may try again. What the case's own block asks is asked as it stands.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml

from e2e import doors
from e2e.bed import bed as beds
from e2e.bed import gateways, waiting
from e2e.bed.bed import Bed
from ingressctl.api import inferenceservices
from ingressctl.api.refs import ref_of
from ingressctl.cli import plugins
from ingressctl.core.differences import Compat
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import cascade
from ingressctl.sources.kserve import reconcile
from tests.cases import comparing, field_stage, loading

NAME = "a prediction is sent to the model once"
SECONDS = 30
UNAVAILABLE = {"grpcStatus": 14}
"""What Istio tries again by default, told in a header also over HTTP/1.1."""


@dataclass
class Model:
    """A server that counts the requests it got and fails as it is told to."""

    behaviour: Mapping[str, Any] = field(default_factory=dict)
    calls: int = 0

    def answer(self, connection: socket.socket) -> None:
        """One connection. An orderly end, or a reset after the request was read."""
        reading = connection.makefile("rb")
        with contextlib.closing(reading), contextlib.suppress(OSError):
            while self._read(reading):
                self.calls += 1
                if self.behaviour.get("resetAfterBody"):
                    reset = b"\x01\x00\x00\x00\x00\x00\x00\x00"
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
                    return
                connection.sendall(self._answer())

    def _read(self, reading: Any) -> bool:
        """A whole request; False at the end of the connection."""
        length = 0
        if not reading.readline():
            return False
        while (line := reading.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        reading.read(length)
        return True

    def _answer(self) -> bytes:
        status = self.behaviour.get("status", 200)
        lines = [f"HTTP/1.1 {status} told", "content-length: 0"]
        if "grpcStatus" in self.behaviour:
            lines.append(f"grpc-status: {self.behaviour['grpcStatus']}")
        return "\r\n".join([*lines, "", ""]).encode()


@contextlib.contextmanager
def serving(model: Model) -> Iterator[int]:
    """The port of 127.0.0.1 where a model answers."""
    listening = socket.create_server(("127.0.0.1", 0))

    def one(connection: socket.socket) -> None:
        with connection:
            model.answer(connection)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=one, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    with listening:
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def case() -> dict[str, Any]:
    folder = loading.SUITES_FOLDER / "field"
    cases = (
        case for path in sorted(folder.glob("*.yaml")) for case in yaml.safe_load(path.read_text())
    )
    return next(dict(case) for case in cases if case["name"] == NAME)


@pytest.fixture(scope="module")
def model() -> Model:
    return Model()


@pytest.fixture(scope="module")
def bed(make_bed: Callable[..., Bed], model: Model) -> Iterator[Bed]:
    """Both gateways; behind the local one what net-istio writes for the predictor."""
    made = make_bed((beds.GATEWAY,), envoy=doors.settings())
    spaces = [_namespace(name) for name in ("kserve", "knative-serving", "team-a")]
    with serving(model) as port:
        hop = [_service_entry(port), _second_hop()]
        made.apply(yaml.safe_dump_all([*spaces, *doors.objects(made.gateway), *hop]))
        yield made


def test_a_prediction_is_sent_to_the_model_once(
    bed: Bed, case: dict[str, Any], model: Model
) -> None:
    """By the case's own requests, and where Istio's default would try again."""
    block = field_stage.block_of(case["assert"])
    host = block["traffic"][0]["request"]["host"]
    made = _routes(case, "better")
    bed.apply(yaml.safe_dump_all(made))
    waiting.until("a route", lambda: _ask(bed, host, "/") == 200, seconds=SECONDS)
    for asked in block["traffic"]:
        status, calls = _sent(bed, model, asked["request"], asked["stub"])
        wanted = asked["expect"]
        assert status in wanted.get("statusIn", [wanted.get("status")]), asked
        assert calls == wanted["backendCalls"], asked
    assert _sent(bed, model, block["traffic"][0]["request"], UNAVAILABLE) == (200, 1)


def test_without_our_rule_istio_sends_it_again(
    bed: Bed, case: dict[str, Any], model: Model
) -> None:
    """Else the test above would prove nothing: `compat kserve` leaves Istio's default."""
    request = field_stage.block_of(case["assert"])["traffic"][0]["request"]
    bed.apply(yaml.safe_dump_all(_routes(case, "kserve,+Q27")))
    waiting.until(
        "calls that are repeated",
        lambda: _sent(bed, model, request, UNAVAILABLE)[1] > 1,
        seconds=SECONDS,
    )


def _routes(case: Mapping[str, Any], compat: str) -> list[dict[str, Any]]:
    """What is made of the case's objects, whose components KServe made.

    Nobody owns it, as they are not in the cluster.
    """
    settings = Settings(compat=Compat.parse(compat))
    ran = cascade.run(
        World.of(comparing.documents(case["input"])),
        settings,
        now=datetime.now(UTC),
        sources={inferenceservices.KIND: reconcile.reconcile_routes},
        providers=plugins.providers(),
    )
    found = [dict(obj) for step in ran.steps for obj in step.emission.objects]
    for obj in found:
        obj["metadata"] = {
            key: value for key, value in obj["metadata"].items() if key != "ownerReferences"
        }
    return [obj for obj in found if ref_of(obj).kind == "VirtualService"]


def _sent(
    bed: Bed, model: Model, request: Mapping[str, Any], behaviour: Mapping[str, Any]
) -> tuple[int, int]:
    """The status of one request, and how often the model got it."""
    model.behaviour, model.calls = behaviour, 0
    status = _ask(bed, request["host"], request["path"], request["method"])
    model.behaviour = {}
    return status, model.calls


def _ask(bed: Bed, host: str, path: str, method: str = "GET") -> int:
    address = f"{bed.gateway.reached}:{bed.gateway.ports[gateways.PLAIN]}"
    connection = http.client.HTTPConnection(address, timeout=10)
    try:
        connection.request(method, path, body="{}", headers={"Host": host})
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


def _namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _service_entry(port: int) -> dict[str, Any]:
    return {
        "apiVersion": "networking.istio.io/v1",
        "kind": "ServiceEntry",
        "metadata": {"name": "revision", "namespace": "team-a"},
        "spec": {
            "hosts": ["revision.example"],
            "resolution": "STATIC",
            "ports": [{"name": "http", "number": 80, "protocol": "HTTP", "targetPort": port}],
            "endpoints": [{"address": "127.0.0.1"}],
        },
    }


def _second_hop() -> dict[str, Any]:
    return {
        "apiVersion": "networking.istio.io/v1",
        "kind": "VirtualService",
        "metadata": {"name": "iris-predictor-ingress", "namespace": "team-a"},
        "spec": {
            "hosts": ["iris-predictor.team-a.svc.cluster.local"],
            "gateways": [doors.LOCAL],
            "http": [
                {
                    "retries": {},
                    "route": [
                        {"destination": {"host": "revision.example", "port": {"number": 80}}}
                    ],
                }
            ],
        },
    }
