"""Envoys of a cluster: mutual TLS, complete answers only, nothing dropped when replicas change."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import aiohttp
import grpc
import pytest
from envoy.service.discovery.v3 import discovery_pb2

from ingressctl.core.outcome import Keep
from ingressctl.proxy.envoy import claim_port
from ingressctl.proxy.stubs import Identity, Stubs
from ingressctl.proxy.xds import METHOD, SERVICE
from tests.envoy import makers
from tests.envoy.fleet import HOST, Replica, certificates, running, service, until

ONE, OTHER = (Identity(name, "ns", 80, h2=False) for name in ("one", "other"))


@pytest.fixture
async def stubs() -> AsyncIterator[Stubs]:
    made = Stubs()
    await made.serve([ONE, OTHER])
    yield made
    await made.stop()


def placed(replica: Replica, stubs: Stubs) -> Replica:
    """Two services, without a route; nothing is complete yet."""
    for identity in (ONE, OTHER):
        address = stubs.address(identity)
        assert address is not None
        replica.put(*service(identity.service, address))
    return replica


def filled(replica: Replica, stubs: Stubs) -> Replica:
    """The same with a route of each."""
    placed(replica, stubs).carry(route("one"), route("other"))
    return replica


@contextlib.asynccontextmanager
async def succeeding(first: Replica, second: Replica, ports: list[int]) -> AsyncIterator[None]:
    """An Envoy that the first of two complete replicas serves; the second ends with the block."""
    data = certificates()
    for replica in (first, second):
        replica.trust(data)
        replica.proxies.complete()
    await first.serve()
    async with running(ports, data):
        yield
    await second.end()


def route(name: str, target: str = "") -> makers.Route:
    return makers.route(name, makers.group(f"{name}.example.com", makers.to(target or name)))


class Client:
    """Asks at the gateway; `load` does it all the time and counts what is not answered."""

    def __init__(self, port: int, session: aiohttp.ClientSession) -> None:
        self._base, self._session = f"http://127.0.0.1:{port}", session
        self.asked = 0

    async def get(self, name: str, path: str = "/") -> int:
        headers = {"Host": f"{name}.example.com"}
        try:
            async with self._session.get(self._base + path, headers=headers) as answer:
                await answer.read()
                return answer.status
        except aiohttp.ClientError:
            return 0

    async def service(self, name: str) -> str:
        """Who answers."""
        headers = {"Host": f"{name}.example.com"}
        async with self._session.get(self._base, headers=headers) as answer:
            found: str = (await answer.json())["service"]
            return found

    async def answers(self, name: str, status: int = 200) -> None:
        async with asyncio.timeout(20):
            while await self.get(name) != status:
                await asyncio.sleep(0.02)

    async def load(self, name: str, failed: list[int]) -> None:
        while True:
            status = await self.get(name)
            self.asked += 1
            if status != 200:
                failed.append(status)
            await asyncio.sleep(0.005)

    @contextlib.asynccontextmanager
    async def steadily(self, name: str) -> AsyncIterator[None]:
        """No request may fail meanwhile."""
        failed: list[int] = []
        task = asyncio.create_task(self.load(name, failed))
        yield
        asked = self.asked
        await until(lambda: self.asked > asked + 10)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        assert not failed


@pytest.fixture
def gateway_port() -> int:
    return claim_port(0)


@pytest.fixture
async def client(gateway_port: int) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession() as session:
        yield Client(gateway_port, session)


@pytest.fixture
def ports() -> list[int]:
    return [claim_port(0), claim_port(0)]


async def test_before_it_is_served_no_route_counts_as_taken(
    stubs: Stubs, gateway_port: int, ports: list[int]
) -> None:
    """Envoys that the process before has served may be out there, with none of them."""
    replica = filled(Replica(ports[0], gateway_port, away=15.0), stubs)
    owner = makers.owner("one").ref
    replica.proxies.complete()
    assert replica.proxies.unacknowledged(owner)
    await asyncio.sleep(0)
    assert replica.proxies.unacknowledged(owner)


async def test_nothing_is_answered_before_the_first_picture_is_complete(
    stubs: Stubs, client: Client, gateway_port: int, ports: list[int]
) -> None:
    data = certificates()
    replica = filled(Replica(ports[0], gateway_port), stubs)
    replica.trust(data)
    replica.begin()
    async with running(ports[:1], data):
        await asyncio.sleep(1)
        assert replica.proxies.unready
        assert await client.get("one") == 0
        replica.proxies.complete()
        await client.answers("one")
        await client.answers("other")
    await replica.end()


async def test_who_has_no_certificate_gets_nothing(
    stubs: Stubs, gateway_port: int, ports: list[int]
) -> None:
    """Neither without any, nor with one of another authority."""
    data, stranger = certificates(), certificates()
    replica = filled(Replica(ports[0], gateway_port), stubs)
    replica.trust(data)
    replica.proxies.complete()
    await replica.serve()
    target = f"localhost:{ports[0]}"
    options = [("grpc.ssl_target_name_override", HOST)]
    for credentials, admitted in (
        (grpc.ssl_channel_credentials(data["ca.crt"]), False),
        (_credentials(data["ca.crt"], stranger), False),
        (_credentials(data["ca.crt"], data), True),
    ):
        async with grpc.aio.secure_channel(target, credentials, options) as channel:
            assert await _is_answered(channel) == admitted
    async with grpc.aio.insecure_channel(target) as channel:
        assert not await _is_answered(channel)
    await replica.end()


async def _is_answered(channel: grpc.aio.Channel) -> bool:
    call = channel.stream_stream(f"/{SERVICE}/{METHOD}")()
    try:
        await call.write(_asking())
        return bool(await call.read())
    except grpc.RpcError:
        return False


def _credentials(authority: bytes, data: dict[str, bytes]) -> grpc.ChannelCredentials:
    return grpc.ssl_channel_credentials(authority, data["client.key"], data["client.crt"])


def _asking() -> bytes:
    kind = "type.googleapis.com/envoy.config.cluster.v3.Cluster"
    made: bytes = discovery_pb2.DeltaDiscoveryRequest(type_url=kind).SerializeToString()
    return made


async def test_certificates_are_renewed_without_a_restart(
    stubs: Stubs, client: Client, gateway_port: int, ports: list[int]
) -> None:
    """The open stream goes on, requests too; who comes anew has to show the new one."""
    now = datetime.now(UTC)
    data = certificates(now - timedelta(days=6, hours=12))
    replica = filled(Replica(ports[0], gateway_port), stubs)
    replica.trust(data)
    replica.proxies.complete()
    await replica.serve()
    fresh = certificates(now, old=data)
    assert fresh["server.crt"] != data["server.crt"]
    assert fresh["ca.crt"] == data["ca.crt"]
    async with running(ports[:1], data):
        await client.answers("other")
        async with client.steadily("other"):
            replica.trust(fresh)
            replica.carry(route("one", "other"))
            await until(lambda: not replica.proxies.unacknowledged(makers.owner("one").ref))
            assert await _shown(ports[0], fresh) == fresh["server.crt"]
    await replica.end()


async def _shown(port: int, data: dict[str, bytes]) -> bytes:
    """The certificate that the server shows to a new connection."""
    context = ssl.create_default_context(cadata=data["ca.crt"].decode())
    context.check_hostname = False
    _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    return ssl.DER_cert_to_PEM_cert(shown).encode()


async def test_another_replica_takes_over_without_a_dropped_request(
    stubs: Stubs, client: Client, gateway_port: int, ports: list[int]
) -> None:
    """And what changed while there was no stream is told, what went is taken away."""
    first = filled(Replica(ports[0], gateway_port), stubs)
    first.carry(route("gone", "one"))
    second = filled(Replica(ports[1], gateway_port), stubs)
    second.carry(route("new", "one"))
    async with succeeding(first, second, ports):
        await client.answers("gone")
        async with client.steadily("one"):
            await first.end()
            await second.serve()
            await client.answers("new")
            await client.answers("gone", 404)


UNKNOWN = Keep(everything=True)
ONE_HOST = ("one.example.com",)


@contextlib.asynccontextmanager
async def inherited(
    stubs: Stubs,
    client: Client,
    gateway_port: int,
    ports: list[int],
    *,
    also: makers.Route | None = None,
) -> AsyncIterator[Replica]:
    """An Envoy that the process before has given both routes; its successor, which is yielded,
    knows only that of `other`."""
    first = filled(Replica(ports[0], gateway_port), stubs)
    second = placed(Replica(ports[1], gateway_port), stubs)
    second.carry(route("other"), *([also] if also else []))
    second.proxies.carry(makers.owner("one").ref, (), UNKNOWN, hosts=ONE_HOST)
    async with succeeding(first, second, ports):
        await client.answers("one")
        async with client.steadily("one"):
            await first.end()
            await second.serve()
            second.carry(route("there", "other"))
            await client.answers("there")
        yield second


async def test_what_a_successor_cannot_know_stays_as_it_is(
    stubs: Stubs, client: Client, gateway_port: int, ports: list[int]
) -> None:
    """With the pods that there are now, for whose Service nothing may be ended; and what is
    known at last takes its place."""
    one, target = makers.owner("one").ref, ("ns", "one")
    async with inherited(stubs, client, gateway_port, ports) as replica:
        assert replica.proxies.held(one, target)
        elsewhere = stubs.address(OTHER)
        assert elsewhere is not None
        replica.put(*service("one", elsewhere))
        replica.carry(route("later", "one"))
        await client.answers("later")
        assert await client.service("one") == await client.service("other")
        async with client.steadily("one"):
            replica.proxies.carry(one, (route("one", "other"),), Keep(), hosts=())
            replica.proxies.carry(makers.owner("later").ref, (), Keep(), hosts=())
            await client.answers("later", 404)
            await until(lambda: not replica.proxies.held(one, target))
        assert await client.get("one") == 200


async def test_what_others_lead_to_as_well_stays_when_they_go(
    stubs: Stubs, client: Client, gateway_port: int, ports: list[int]
) -> None:
    """A table that is left may lead there too; nobody else waits for it."""
    async with inherited(stubs, client, gateway_port, ports, also=route("more", "one")) as replica:
        one, more = makers.owner("one").ref, makers.owner("more").ref
        await client.answers("more")
        async with client.steadily("one"):
            replica.proxies.forget(more)
            await client.answers("more", 404)
            await until(lambda: not replica.proxies.held(more, ("ns", "one")))
        assert replica.proxies.held(one, ("ns", "one"))


async def test_of_whoever_is_gone_nothing_is_inherited(
    stubs: Stubs, client: Client, gateway_port: int, ports: list[int]
) -> None:
    async with inherited(stubs, client, gateway_port, ports) as replica:
        replica.proxies.forget(makers.owner("one").ref)
        await client.answers("one", 404)
        await until(lambda: not replica.proxies.held(makers.owner("one").ref, ("ns", "one")))
        assert await client.get("other") == 200


async def test_whoever_asks_to_be_hidden_inherits_nothing_public(
    stubs: Stubs, client: Client, gateway_port: int, ports: list[int]
) -> None:
    hidden = Keep(everything=True, hidden=True)
    async with inherited(stubs, client, gateway_port, ports) as replica:
        replica.proxies.carry(makers.owner("one").ref, (), hidden, hosts=ONE_HOST)
        await client.answers("one", 404)


async def test_routes_that_were_known_once_are_not_left_for_their_hosts(
    stubs: Stubs, client: Client, gateway_port: int, ports: list[int]
) -> None:
    async with inherited(stubs, client, gateway_port, ports) as replica:
        one = makers.owner("one").ref
        replica.proxies.carry(one, (), Keep(), hosts=())
        replica.proxies.carry(one, (), UNKNOWN, hosts=ONE_HOST)
        await client.answers("one", 404)


async def test_a_target_is_held_until_its_requests_have_ended(
    stubs: Stubs, client: Client, gateway_port: int, ports: list[int]
) -> None:
    """By Envoy's own word, and its owner is woken then."""
    data = certificates()
    replica = filled(Replica(ports[0], gateway_port, settle=600.0), stubs)
    replica.trust(data)
    replica.proxies.complete()
    await replica.serve()
    owner = makers.owner("one").ref
    async with running(ports[:1], data):
        await client.answers("one")
        assert replica.proxies.held(owner, ("ns", "one"))
        slow = asyncio.create_task(client.get("one", "/slow?seconds=4"))
        await asyncio.sleep(0.3)
        replica.proxies.carry(owner, (route("one", "other"),), Keep(), hosts=())
        assert replica.proxies.unacknowledged(owner)
        await until(lambda: owner in replica.woken or not replica.proxies.unacknowledged(owner))
        replica.woken.clear()
        assert replica.proxies.held(owner, ("ns", "one"))
        await asyncio.sleep(2.5)
        assert not slow.done()
        assert replica.proxies.held(owner, ("ns", "one"))
        assert not replica.woken
        assert await slow == 200
        await until(lambda: owner in replica.woken)
        assert not replica.proxies.held(owner, ("ns", "one"))
    await replica.end()


async def test_endpoints_follow(
    stubs: Stubs, client: Client, gateway_port: int, ports: list[int]
) -> None:
    """A changed EndpointSlice is one change on the wire, and needs no reconcile."""
    data = certificates()
    replica = filled(Replica(ports[0], gateway_port), stubs)
    replica.trust(data)
    replica.proxies.complete()
    await replica.serve()
    async with running(ports[:1], data):
        await client.answers("one")
        address = stubs.address(OTHER)
        assert address is not None
        _, moved = service("one", address)
        replica.put({**moved, "endpoints": []})
        await client.answers("one", 503)
        replica.put(moved)
        await client.answers("one")
    await replica.end()
