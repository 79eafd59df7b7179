"""When proxies are answered for the first time: not before all of it can be right."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from ingressctl.api.refs import Ref
from ingressctl.cluster.installation import Plan
from ingressctl.core.model import Route
from ingressctl.core.outcome import Keep
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import cascade
from ingressctl.plan.cascade import Step
from tests.apiserver import made, robots
from tests.apiserver.replica import eventually, plan, quiet, running_replica
from tests.apiserver.server import ApiServer


class Listener:
    """As installation.Follower: what would be served, and since when."""

    unready = ""

    def __init__(self) -> None:
        self.routes: dict[Ref, tuple[Route, ...]] = {}
        self.hosts: dict[Ref, set[str]] = {}
        self.at_first: dict[Ref, tuple[Route, ...]] | None = None

    def start(self, world: World, wake: Callable[[Ref], None]) -> None:
        """Nothing is looked at."""

    def trust(self, authority: bytes, certificate: bytes, key: bytes) -> None:
        """Nobody is served."""

    async def serve(self) -> None:
        await asyncio.Event().wait()

    async def stop(self) -> None:
        """Nothing was begun."""

    def moved(self, ref: Ref) -> None:
        """Nothing has endpoints."""

    def carry(
        self, owner: Ref, routes: tuple[Route, ...], keep: Keep, *, hosts: Iterable[str]
    ) -> None:
        self.hosts[owner] = set(hosts)
        kept = (route for route in self.routes.get(owner, ()) if keep.holds(route.ref))
        self.routes[owner] = routes or tuple(kept)

    def forget(self, owner: Ref) -> None:
        self.routes.pop(owner, None)

    def complete(self) -> None:
        self.at_first = dict(self.routes)

    def unacknowledged(self, owner: Ref) -> bool:
        return False

    def held(self, owner: Ref, service: tuple[str, str]) -> bool:
        return False


def envoy() -> Plan:
    """Routes go to proxies and nowhere else."""
    settings = Settings(write=frozenset({"routes", "workloads"}), provider="envoy")
    return plan("envoy", settings=settings)


async def test_proxies_are_answered_when_every_owner_has_been_looked_at(
    server: ApiServer, kubeconfig: Path
) -> None:
    listener = Listener()
    names = ("iris", "rose", "lily")
    async with robots.at_work(server):
        async with running_replica(kubeconfig):
            server.put(*map(made.service, names))
            await eventually("made", lambda: all(server.get("HTTPRoute", name) for name in names))
        async with running_replica(kubeconfig, envoy(), listener):
            at_first = await eventually("complete", lambda: listener.at_first)
    assert {ref.name for ref, routes in at_first.items() if routes} == set(names)


async def test_with_no_service_at_all_they_are_answered_as_well(
    server: ApiServer, kubeconfig: Path
) -> None:
    listener = Listener()
    async with running_replica(kubeconfig, envoy(), listener):
        await eventually("complete", lambda: listener.at_first is not None)
    assert listener.at_first == {}


async def test_after_a_start_with_a_broken_configuration_nobody_is_told_that_routes_are_gone(
    server: ApiServer, kubeconfig: Path
) -> None:
    """The process before had a good one and served by it: Envoys go on with that."""
    listener = Listener()
    async with robots.at_work(server):
        async with running_replica(kubeconfig):
            server.put(made.service("iris"))
            await eventually("made", lambda: server.get("HTTPRoute", "iris"))
        broken = made.config()
        broken["data"]["ingress"] = "{not json"
        server.put(broken)
        async with running_replica(kubeconfig, envoy(), listener):
            await eventually("looked at", lambda: listener.routes)
            await quiet(lambda: server.work)
            assert listener.at_first is None
            server.put(made.config())
            at_first = await eventually("complete", lambda: listener.at_first)
    assert [ref.name for ref, routes in at_first.items() if routes] == ["iris"]


@pytest.mark.parametrize("is_defect", [False, True])
async def test_whoever_cannot_be_reconciled_at_the_start_is_told_of_by_its_hosts(
    server: ApiServer, kubeconfig: Path, monkeypatch: pytest.MonkeyPatch, *, is_defect: bool
) -> None:
    """Envoys may have its routes: by the word of its status, from the process before."""
    listener = Listener()
    async with robots.at_work(server):
        async with running_replica(kubeconfig):
            server.put(made.service("iris"))
            url = await eventually("told", lambda: _url(server))
        if is_defect:
            monkeypatch.setattr(cascade, "reconcile_one", _defect)
        else:
            server.put(made.service("iris") | {"spec": {"predictor": {"model": "none"}}})
        async with running_replica(kubeconfig, envoy(), listener):
            await eventually("complete", lambda: listener.at_first is not None)
    ((owner, hosts),) = listener.hosts.items()
    assert (owner.name, listener.routes[owner]) == ("iris", ())
    assert urlsplit(url).hostname in hosts


def _url(server: ApiServer) -> str:
    obj = server.get("InferenceService", "iris") or {}
    return str((obj.get("status") or {}).get("url") or "")


def _defect(*_args: object, **_more: object) -> Step:
    raise ZeroDivisionError
