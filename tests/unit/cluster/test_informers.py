"""One kind followed through all that an API server does to those who watch."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.cluster.answers import Answered
from ingressctl.cluster.client import Client
from ingressctl.cluster.informers import Informer, State, Timing
from ingressctl.plan.kinds import BY_IDENTITY, Resource
from tests.apiserver import made, statuses
from tests.apiserver import server as servers
from tests.apiserver.replica import eventually
from tests.apiserver.server import ApiServer

ROUTE = BY_IDENTITY["gateway.networking.k8s.io", "HTTPRoute"]
SERVICE = BY_IDENTITY["serving.kserve.io", "InferenceService"]
PLACE = (SERVICE.group, SERVICE.plural)
ROUTE_OBJECT = {
    "apiVersion": "gateway.networking.k8s.io/v1",
    "kind": "HTTPRoute",
    "metadata": {"name": "iris", "namespace": "team-a"},
    "spec": {},
}
TIMING = Timing(silence=1.0, absent_again=0.05, first_retry=0.02, most_retry=0.2)


class Heard:
    """A listener that keeps what it is told."""

    def __init__(self) -> None:
        self.objects: dict[Ref, Raw] = {}
        self.states: list[State] = []
        self.told: Counter[Ref] = Counter()

    def put(self, obj: Raw, *, whatever_was: bool = False) -> None:
        self.objects[ref_of(obj)] = obj
        self.told[ref_of(obj)] += 1

    def remove(self, ref: Ref, version: str) -> None:
        assert int(version)
        self.objects.pop(ref, None)

    def known(self, resource: Resource, namespace: str) -> tuple[Ref, ...]:
        return tuple(ref for ref in self.objects if namespace in ("", ref.namespace))

    def state(self, informer: Informer, state: State, message: str) -> None:
        self.states.append(state)

    @property
    def names(self) -> set[str]:
        return {ref.name for ref in self.objects}


@contextlib.asynccontextmanager
async def following(
    client: Client, resource: Resource = SERVICE, namespace: str = ""
) -> AsyncIterator[Heard]:
    heard, ended = Heard(), asyncio.Event()
    informer = Informer(client, resource, namespace, heard, TIMING)
    task = asyncio.ensure_future(informer.run(ended))
    try:
        yield heard
        assert not task.done(), "an informer never ends by itself"
    finally:
        ended.set()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def refusing(verb: str, code: int, times: int, *, retry_after: str = "") -> Any:
    """A fault that answers the first `times` requests of a verb for our kind."""
    left = [times]

    def fault(asked: str, plural: str) -> web.StreamResponse | None:
        if asked != verb or plural != SERVICE.plural or not left[0]:
            return None
        left[0] -= 1
        headers = {"Retry-After": retry_after} if retry_after else None
        return web.json_response(statuses.status(code, "no"), status=code, headers=headers)

    return fault


async def watched(server: ApiServer) -> None:
    await eventually("watch", lambda: len(server.watches) == 1)


async def test_pages_are_put_together(server: ApiServer, client: Client) -> None:
    server.page = 3
    server.put(*(made.service(f"s-{number}") for number in range(10)))
    async with following(client) as heard:
        await eventually("live", lambda: heard.states == ["live"])
        assert heard.names == {f"s-{number}" for number in range(10)}
        assert server.counts["list", SERVICE.plural] == 4
        assert all(obj["kind"] == "InferenceService" for obj in heard.objects.values())


async def test_changes_come_by_the_watch_and_not_by_lists(
    server: ApiServer, client: Client
) -> None:
    async with following(client) as heard:
        await watched(server)
        server.put(made.service("iris"))
        await eventually("added", lambda: heard.names == {"iris"})
        server.patch("InferenceService", "iris", {"spec": {"x": 1}})
        await eventually("changed", lambda: heard.told[next(iter(heard.objects))] == 2)
        server.delete("InferenceService", "iris")
        await eventually("gone", lambda: not heard.names)
        assert server.counts["list", SERVICE.plural] == 1


async def test_a_namespace_alone(server: ApiServer, client: Client) -> None:
    server.only_in = "team-a"
    server.put(made.service("iris"), made.service("rose", "team-b"))
    async with following(client, namespace="team-a") as heard:
        await eventually("live", lambda: heard.states == ["live"])
        server.put(made.service("late", "team-b"), made.service("lily"))
        await eventually("another", lambda: heard.names == {"iris", "lily"})


async def test_a_cut_stream_is_taken_up_where_it_was(server: ApiServer, client: Client) -> None:
    """No list is needed, and nothing is missed or told twice."""
    async with following(client) as heard:
        for number in range(5):
            await watched(server)
            server.watches.cut()
            server.put(made.service(f"s-{number}"))
            await eventually("told", lambda number=number: f"s-{number}" in heard.names)
        assert set(heard.told.values()) == {1}
        assert server.counts["list", SERVICE.plural] == 1


async def test_a_silent_stream_is_begun_anew(server: ApiServer, client: Client) -> None:
    async with following(client) as heard:
        await watched(server)
        server.watches.stalled = True
        server.put(made.service("iris"))
        watches = server.counts["watch", SERVICE.plural]
        await eventually("anew", lambda: server.counts["watch", SERVICE.plural] > watches)
        assert heard.names == set()
        server.watches.stalled = False
        await eventually("told", lambda: heard.names == {"iris"})


async def test_an_expired_watch_leads_to_a_list(server: ApiServer, client: Client) -> None:
    """What is gone meanwhile is taken away by the list."""
    server.put(made.service("iris"), made.service("rose"))
    async with following(client) as heard:
        await watched(server)
        server.watches.stalled = True
        server.delete("InferenceService", "iris")
        server.put(made.service("lily"))
        server.objects.expire()
        server.watches.cut()
        server.watches.stalled = False
        await eventually("listed", lambda: heard.names == {"rose", "lily"})


async def test_an_expired_page_begins_the_list_anew(server: ApiServer, client: Client) -> None:
    """Nothing is taken away by half a list."""
    server.page = 2
    server.put(*(made.service(f"s-{number}") for number in range(5)))
    async with following(client) as heard:
        await watched(server)
        lists = server.counts["list", SERVICE.plural]
        server.faults.append(refusing("watch", 410, 1))
        seen: list[set[str]] = []

        def expire(verb: str, plural: str) -> web.StreamResponse | None:
            seen.append(heard.names)
            if verb == "list" and server.counts["list", plural] == lists + 1:
                server.objects.expire()
            return None

        server.faults.append(expire)
        server.watches.cut()
        await eventually("anew", lambda: server.counts["list", SERVICE.plural] >= lists + 5)
        assert all(len(names) == 5 for names in seen)


@pytest.mark.parametrize("verb", ["list", "watch"])
async def test_410_without_end_is_no_hot_loop(server: ApiServer, client: Client, verb: str) -> None:
    """The list works or not: there are pauses, and they grow."""
    server.faults.append(refusing(verb, 410, 10**6))
    async with following(client):
        await asyncio.sleep(1.5)
    assert 3 <= server.counts[verb, SERVICE.plural] <= 20


@pytest.mark.parametrize("code", [403, 404, 429, 500])
async def test_a_watch_that_is_refused_without_end_is_no_hot_loop(
    server: ApiServer, client: Client, code: int
) -> None:
    server.faults.append(refusing("watch", code, 10**6))
    async with following(client):
        await asyncio.sleep(1.5)
    assert 3 <= server.counts["watch", SERVICE.plural] <= 35


async def test_retry_after_is_kept_to(server: ApiServer, client: Client) -> None:
    """Of a list and of a watch: not one request sooner than the server asked for."""
    server.faults.append(refusing("list", 429, 1, retry_after="1"))
    server.faults.append(refusing("watch", 429, 1, retry_after="1"))
    async with following(client) as heard:
        await watched(server)
        assert heard.states == ["failing", "live"]
    for verb in ("list", "watch"):
        times = [it.at for it in server.log if it.verb == verb and it.plural == SERVICE.plural]
        assert times[1] - times[0] >= 1.0, verb


async def test_a_crd_that_comes_later(client: Client, server: ApiServer) -> None:
    server.absent = {kind.place for kind in servers.table.EVERY if kind.group == SERVICE.group}
    async with following(client) as heard:
        await eventually("absent", lambda: heard.states == ["absent"])
        server.bring(PLACE)
        server.put(made.service("iris"))
        await eventually("live", lambda: heard.states == ["absent", "live"])
        assert heard.names == {"iris"}


async def test_a_crd_that_goes_away_and_comes_back(server: ApiServer, client: Client) -> None:
    """What was known stays known while the kind is not served."""
    server.put(made.service("iris"))
    async with following(client) as heard:
        await watched(server)
        server.watches.stalled = True
        server.take(PLACE)
        await eventually("absent", lambda: heard.states == ["live", "absent"])
        assert heard.names == {"iris"}
        server.watches.stalled = False
        server.bring(PLACE)
        server.objects.expire()
        await eventually("live", lambda: heard.states == ["live", "absent", "live"])
        assert heard.names == set()


async def test_a_right_that_comes_later(server: ApiServer, client: Client) -> None:
    server.put(made.service("iris"))
    server.forbidden.add(("list", SERVICE.plural))
    async with following(client) as heard:
        await eventually("forbidden", lambda: heard.states == ["forbidden"])
        server.forbidden.clear()
        await eventually("live", lambda: heard.states == ["forbidden", "live"])
        assert heard.names == {"iris"}


async def test_an_older_server_is_asked_for_its_own_version(
    server: ApiServer, client: Client
) -> None:
    server.versions[ROUTE.group] = ("v1beta1",)
    async with following(client, ROUTE) as heard:
        await eventually("live", lambda: heard.states == ["live"])
        server.put(ROUTE_OBJECT)
        found = await eventually("told", lambda: list(heard.objects.values()))
        assert found[0]["apiVersion"].endswith("/v1beta1")


async def test_versions_that_nobody_knows_are_as_none(server: ApiServer, client: Client) -> None:
    server.versions[ROUTE.group] = ("v7",)
    async with following(client, ROUTE) as heard:
        await eventually("absent", lambda: heard.states == ["absent"])


class Restored:
    """An API server whose store is put back to an earlier state after the first watch."""

    def __init__(self) -> None:
        self.lists = [("100", ["kept", "later"]), ("50", ["kept"])]

    async def get(self, path: str) -> Raw:
        return {"versions": [{"version": SERVICE.versions[0]}]}

    async def pages(self, path: str) -> AsyncIterator[tuple[list[Raw], str]]:
        version, names = self.lists.pop(0) if len(self.lists) > 1 else self.lists[0]
        meta = {"namespace": "team-a", "resourceVersion": str(int(version) - 1)}
        yield [{"metadata": {**meta, "name": name}} for name in names], version

    async def watch(self, path: str, query: Any, *, silence: float) -> AsyncIterator[bytes]:
        if len(self.lists) == 1 and query["resourceVersion"] == "50":
            await asyncio.sleep(60)
        raise Answered(410, "too old")
        yield b""


async def test_after_a_restore_the_list_is_believed_whole() -> None:
    """Lower versions are news, and what is not there any more goes, whatever its version."""
    told: list[bool] = []
    removed: list[tuple[str, int]] = []

    class Kept(Heard):
        def put(self, obj: Raw, *, whatever_was: bool = False) -> None:
            super().put(obj)
            told.append(whatever_was)

        def remove(self, ref: Ref, version: str) -> None:
            super().remove(ref, version)
            removed.append((ref.name, int(version)))

    heard, ended = Kept(), asyncio.Event()
    client: Any = Restored()
    task = asyncio.ensure_future(Informer(client, SERVICE, "", heard, TIMING).run(ended))
    try:
        await eventually("the second list", lambda: removed)
    finally:
        ended.set()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert told == [False, False, True]
    assert removed == [("later", 100)], "as of what was known, for the object is of version 99"
