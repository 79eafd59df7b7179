"""The parts of the pods that decide: Services, names, environments, probes. Nothing is started."""

from __future__ import annotations

import asyncio
from typing import Any

import dnslib
import grpc
import pytest

from e2e.pods.kubelet import environment, probes, sources
from e2e.pods.network import addresses, names, services

SERVICE = {
    "metadata": {"name": "m", "namespace": "team"},
    "spec": {"clusterIP": "10.96.0.9", "clusterIPs": ["10.96.0.9"], "ports": [{"port": 80}]},
}
POD = {
    "metadata": {"name": "m-0", "namespace": "team", "uid": "u", "labels": {"app": "m"}},
    "spec": {"nodeName": "node"},
}


def test_a_service_prefers_ready_endpoints() -> None:
    """Those that end but serve are asked only where no other is, in whichever slice they are."""
    ending = _slice(("10.244.1.1", {"ready": False, "serving": True, "terminating": True}))
    ready = _slice(("10.244.1.2", {"ready": True}))
    broken = _slice(("10.244.1.3", {"ready": False, "serving": False}))
    assert _backends(ending, ready, broken) == (("10.244.1.2", 8080),)
    assert _backends(ending, broken) == (("10.244.1.1", 8080),)
    assert _backends(broken) == ()


def test_a_service_without_endpoints_is_no_target() -> None:
    """Its packets are refused; the table knows nothing else of it."""
    rules = services.ruleset(services.fronts([SERVICE], []), hosts=[addresses.HOST])
    assert "10.96.0.9" not in rules
    assert f"ip daddr {addresses.SERVICES} meta l4proto tcp reject" in rules


@pytest.mark.parametrize("text", ["nobody.team", "m.other", "m.team.svc.example", "m"])
def test_other_names_do_not_exist(text: str) -> None:
    found = names.lookup(text, known=[SERVICE], slices=[])
    assert found is None
    reply = _asked(f"{text}.svc.cluster.local")
    assert reply.header.rcode == dnslib.RCODE.NXDOMAIN


def test_a_name_without_this_kind_of_address_exists() -> None:
    """A client that asks for IPv6 first must not believe that there is no such host."""
    reply = _asked("m.team.svc.cluster.local", "AAAA")
    assert (reply.header.rcode, reply.rr) == (dnslib.RCODE.NOERROR, [])


def test_addresses_rotate() -> None:
    """One that is given back is the last to be taken again."""
    pool = addresses.Addresses()
    first, second = pool.take(), pool.take()
    pool.give_back(first)
    taken = [pool.take() for _ in range(500)]
    assert first not in taken
    assert second not in taken


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("$(A)-$(B)", "1-$(B)"), ("$$(A)", "$(A)"), ("$A", "$A"), ("$$$(A)", "$1")],
)
def test_references_are_expanded_as_kubernetes_does(text: str, wanted: str) -> None:
    assert environment.expand(text, {"A": "1"}) == wanted


def test_a_key_that_is_not_there_is_missed_unless_it_is_optional() -> None:
    reference = {"name": "c", "key": "absent"}
    container = {"env": [{"name": "A", "valueFrom": {"configMapKeyRef": reference}}]}
    data = {("configmaps", "c"): {"other": b"1"}}
    with pytest.raises(sources.Missing, match="absent"):
        environment.make(container, POD, data=data, address="10.244.1.1")
    reference["optional"] = True
    assert environment.make(container, POD, data=data, address="10.244.1.1") == {}


async def test_thresholds_need_answers_in_a_row() -> None:
    """Two failures with a success between them are no verdict; three in a row are."""
    answers = [True, False, False, True, False, False, False]
    probe = {"periodSeconds": 0, "failureThreshold": 3, "successThreshold": 1}
    assert await _verdicts(probe, answers) == [True, True, False]


async def test_a_probe_that_hangs_has_failed() -> None:
    """Its time is bounded, whatever it waits for."""

    async def hang() -> bool:
        await asyncio.Event().wait()
        return True

    probe = {"timeoutSeconds": 0.01, "failureThreshold": 1}
    assert await anext(probes.verdicts(probe, hang)) is False


@pytest.mark.parametrize(("service", "healthy"), [("", True), ("model", True), ("other", False)])
async def test_a_grpc_probe_asks_the_health_service(service: str, healthy: bool) -> None:
    """It sends the name of the service, and only SERVING is well."""

    def check(request: bytes, _: Any) -> bytes:
        known = {b"", b"\x0a\x05model"}
        return b"\x08\x01" if request in known else b"\x08\x02"

    server = grpc.aio.server()
    handlers = {"Check": grpc.unary_unary_rpc_method_handler(check)}
    generic = grpc.method_handlers_generic_handler("grpc.health.v1.Health", handlers)
    server.add_generic_rpc_handlers((generic,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        probe = {"grpc": {"port": port, "service": service}}
        assert await probes.attempt(probe, _here()) is healthy
    finally:
        await server.stop(None)


async def test_a_tcp_probe_needs_a_listener() -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    assert await probes.attempt({"tcpSocket": {"port": port}}, _here())
    server.close()
    await server.wait_closed()
    with pytest.raises(probes.FAILURES):
        await probes.attempt({"tcpSocket": {"port": port}}, _here())


def _slice(*endpoints: tuple[str, dict[str, bool]]) -> dict[str, Any]:
    return {
        "metadata": {"name": "s", "namespace": "team", "labels": {services.SERVICE_LABEL: "m"}},
        "addressType": "IPv4",
        "ports": [{"port": 8080}],
        "endpoints": [{"addresses": [ip], "conditions": state} for ip, state in endpoints],
    }


def _backends(*slices: dict[str, Any]) -> tuple[tuple[str, int], ...]:
    (front,) = services.fronts([SERVICE], slices)
    return front.backends


def _asked(name: str, kind: str = "A") -> dnslib.DNSRecord:
    query = dnslib.DNSRecord.question(name, kind).pack()
    told = names.answer(query, lambda text: names.lookup(text, known=[SERVICE], slices=[]))
    return dnslib.DNSRecord.parse(told)


def _here() -> probes.Target:
    async def execute(argv: list[str]) -> int:
        raise AssertionError(argv)

    return probes.Target("127.0.0.1", {}, execute)


async def _verdicts(probe: dict[str, Any], answers: list[bool]) -> list[bool]:
    """What is found until there are no more answers."""
    left = answers[::-1]
    found: list[bool] = []

    async def ask() -> bool:
        return left.pop()

    async for verdict in probes.verdicts(probe, ask):
        found.append(verdict)
        if not left:
            break
    return found
