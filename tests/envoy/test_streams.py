"""Long answers and big requests pass: nobody asked for a limit."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator

import aiohttp
import grpc
import pytest

from ingressctl.core.model import External, HeaderMatch, Match, Redirect, RewriteHost, Route, Split
from tests.envoy import makers
from tests.envoy.rig import Rig

HOST = "m.ns.example.com"
INNER = "m-predictor.ns.svc.cluster.local"
GRPC_PORT = 8033


def direct(port: int = 80) -> tuple[Route, ...]:
    rule = makers.rule("to-m", makers.split("m", port=port))
    return (makers.route("m", makers.group(HOST, rule)),)


def through_hop(port: int = 80) -> tuple[Route, ...]:
    """As in Knative mode: the public rule leads to the local gateway."""
    gateway = External("knative-local-gateway.istio-system.svc.cluster.local", makers.LOCAL.name)
    first = makers.rule("hop", Split(gateway, 80), filters=(RewriteHost(INNER),))
    second = makers.rule("to-m", makers.split("m", port=port))
    return (
        makers.route("m", makers.group(HOST, first)),
        makers.route("inner", makers.group(INNER, second, entry=makers.LOCAL)),
    )


WAYS = pytest.mark.parametrize("way", [direct, through_hop])


async def events(response: aiohttp.ClientResponse) -> AsyncIterator[str]:
    async for line in response.content:
        if line.startswith(b"data: "):
            yield line.decode().strip()


@WAYS
async def test_events_arrive_one_by_one(rig: Rig, way: object) -> None:
    """Server-sent events are not held back: the first is read while later ones are not written."""
    await rig.serve(*(direct() if way is direct else through_hop()))
    async with rig.client.get(f"{rig.base}/events", headers={"Host": HOST}) as response:
        stream = events(response)
        assert [await anext(stream) for _ in range(3)] == ["data: 0", "data: 1", "data: 2"]


async def test_events_outlive_the_removal_of_their_route(rig: Rig) -> None:
    """A request that was taken is carried to its end, whatever is changed meanwhile."""
    await rig.serve(*direct())
    async with rig.client.get(f"{rig.base}/events?count=6", headers={"Host": HOST}) as response:
        stream = events(response)
        assert await anext(stream) == "data: 0"
        await rig.serve(makers.route("n", makers.group("n.example.com", makers.to("n"))))
        assert [item async for item in stream] == [f"data: {number}" for number in range(1, 6)]
    assert (await rig.get("/", HOST))[0] == 404


@WAYS
async def test_websockets_pass(rig: Rig, way: object) -> None:
    await rig.serve(*(direct() if way is direct else through_hop()))
    async with rig.client.ws_connect(f"{rig.base}/ws", headers={"Host": HOST}) as channel:
        for text in ("one", "two"):
            await channel.send_str(text)
            assert await channel.receive_str() == text


@WAYS
async def test_grpc_streams_in_both_directions(rig: Rig, way: object) -> None:
    """Each message is answered before the next is sent, so neither side may be buffered."""
    await rig.serve(*(direct(GRPC_PORT) if way is direct else through_hop(GRPC_PORT)))
    options = [("grpc.default_authority", HOST)]
    async with grpc.aio.insecure_channel(f"127.0.0.1:{rig.port}", options) as channel:
        call = channel.stream_stream("/inference.GRPCInferenceService/ModelStreamInfer")()
        for message in (b"one", b"two", b"three"):
            await call.write(message)
            assert await call.read() == message
        await call.done_writing()
        assert await call.code() is grpc.StatusCode.OK


async def test_headers_of_64_kib_pass(rig: Rig) -> None:
    await rig.serve(*direct())
    big = "x" * (64 << 10)
    status, seen = await rig.get("/", HOST, authorization=big)
    assert (status, seen["headers"]["authorization"]) == (200, big)


async def test_many_headers_pass(rig: Rig) -> None:
    await rig.serve(*direct())
    many = {f"x-{number}": "v" for number in range(100)}
    status, seen = await rig.get("/", HOST, **many)
    assert (status, seen["headers"].items() >= many.items()) == (200, True)


async def test_headers_of_64_kib_pass_over_http2(rig: Rig) -> None:
    await rig.serve(*direct(GRPC_PORT))
    status, seen = await rig.get("/", HOST, authorization="x" * (64 << 10))
    assert (status, len(seen["headers"]["authorization"])) == (200, 64 << 10)


async def test_bodies_have_no_limit(rig: Rig) -> None:
    await rig.serve(*direct())
    body = io.BytesIO(b"x" * (20 << 20))
    async with rig.client.post(rig.base, data=body, headers={"Host": HOST}) as response:
        assert response.status == 200


async def test_many_requests_at_once_are_not_refused(rig: Rig) -> None:
    """Envoy's default of 1,024 requests to a cluster is lifted."""
    await rig.serve(*direct())
    connector = aiohttp.TCPConnector(limit=1200)
    async with aiohttp.ClientSession(connector=connector) as client:

        async def ask() -> int:
            url = f"{rig.base}/events?count=2&every=1"
            async with client.get(url, headers={"Host": HOST}) as response:
                await response.read()
                return response.status

        assert set(await asyncio.gather(*(ask() for _ in range(1100)))) == {200}


async def test_only_a_wanted_time_limit_holds(rig: Rig) -> None:
    """A rule's timeout ends a request with 504; "0s" and none at all are no limit."""
    table = await rig.serve(
        makers.route(
            "m",
            makers.group("short.example.com", makers.to("m", timeout="0.2s")),
            makers.group("none.example.com", makers.to("m", timeout="0s")),
            makers.group("unsaid.example.com", makers.to("m")),
        )
    )
    slow = "/slow?seconds=1"
    assert (await rig.get(slow, "short.example.com"))[0] == 504
    assert (await rig.get(slow, "none.example.com"))[0] == 200
    limits = {item.hosts[0]: item.rules[0].timeout for item in table.hosts}
    assert limits == {
        "short.example.com": "0.2s",
        "none.example.com": "0s",
        "unsaid.example.com": "0s",
    }


async def test_redirects_and_rules_without_backend_answer_themselves(rig: Rig) -> None:
    canary = (Match(headers=(HeaderMatch("x-canary", "exact", "yes"),)),)
    await rig.serve(
        makers.route(
            "m",
            makers.group(
                HOST,
                makers.rule("nobody", makers.split("m", 0), matches=canary),
                makers.rule("move", filters=(Redirect("https", "new.example.com", 0, 308),)),
            ),
        )
    )
    assert (await rig.get("/", HOST, **{"x-canary": "yes"}))[0] == 500
    url = f"{rig.base}/a?b=1"
    async with rig.client.get(url, headers={"Host": HOST}, allow_redirects=False) as response:
        assert response.status == 308
        assert response.headers["location"] == "https://new.example.com/a?b=1"
