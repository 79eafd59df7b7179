"""From an InferenceService to its objects and back, and nothing more than that is asked."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any

from tests.apiserver import made, robots
from tests.apiserver.replica import eventually, quiet, running_replica
from tests.apiserver.server import ApiServer, too_many

MANAGER = "ingressctl-inferenceservice"


def ready(server: ApiServer, name: str) -> bool:
    return made.condition(server.get("InferenceService", name), "Ready") == "True"


async def test_a_service_becomes_ready_by_six_writes(server: ApiServer, kubeconfig: Path) -> None:
    """Workload, status, routes, status: each once, under our manager; then nothing is sent."""
    async with robots.at_work(server), running_replica(kubeconfig):
        server.put(made.service("iris"))
        await eventually("ready", lambda: ready(server, "iris"))
        await quiet(lambda: len(server.written))
        by_plural = [asked.plural for asked in server.written]
        assert by_plural.count("deployments") == by_plural.count("services") == 1
        assert by_plural.count("httproutes") == 2
        assert {asked.manager for asked in server.written} == {MANAGER}
        assert {asked.status for asked in server.written} <= {200, 201}
        deployment = server.get("Deployment", "iris-predictor")
        assert deployment is not None
        owner = deployment["metadata"]["ownerReferences"][0]
        assert (owner["kind"], owner["name"], owner["controller"]) == (
            "InferenceService",
            "iris",
            True,
        )


async def test_what_somebody_deletes_comes_back(server: ApiServer, kubeconfig: Path) -> None:
    async with robots.at_work(server), running_replica(kubeconfig):
        server.put(made.service("iris"))
        await eventually("ready", lambda: ready(server, "iris"))
        before = server.get("HTTPRoute", "iris")
        assert before is not None
        server.delete("HTTPRoute", "iris")
        again = await eventually("route", lambda: server.get("HTTPRoute", "iris"))
        assert again["spec"] == before["spec"]
        assert again["metadata"]["uid"] != before["metadata"]["uid"]


async def test_a_deleted_service_leaves_nothing(server: ApiServer, kubeconfig: Path) -> None:
    """The owner references do it; the controller does not write behind them."""
    async with robots.at_work(server), running_replica(kubeconfig):
        server.put(made.service("iris"))
        await eventually("ready", lambda: ready(server, "iris"))
        server.delete("InferenceService", "iris")
        await quiet(lambda: server.work)
        for kind in ("Deployment", "Service", "HTTPRoute"):
            assert server.get(kind, "iris-predictor") is None, kind
            assert server.get(kind, "iris") is None, kind


async def test_a_restart_writes_nothing(server: ApiServer, kubeconfig: Path) -> None:
    """Another replica on the same cluster finds everything as it would write it."""
    async with robots.at_work(server):
        async with running_replica(kubeconfig):
            server.put(made.service("iris"), made.service("rose", "team-b"))
            await eventually("ready", lambda: ready(server, "iris"))
            await quiet(lambda: len(server.written))
        before = len(server.written)
        async with running_replica(kubeconfig):
            await eventually("lists", lambda: server.counts["list", "httproutes"] > 1)
            await quiet(lambda: server.work)
        assert server.written[before:] == []


async def test_routes_made_anew_at_a_start_all_come_before_what_is_told_of_them(
    server: ApiServer, kubeconfig: Path
) -> None:
    """By then the gateway has read most, and their statuses are as they were."""
    names = [f"model-{number}" for number in range(40)]
    async with robots.at_work(server):
        async with running_replica(kubeconfig):
            server.put(*map(made.service, names))
            for name in names:
                await eventually("ready", lambda name=name: ready(server, name))
            await quiet(lambda: len(server.written))
        for name in names:
            server.delete("HTTPRoute", name)
            server.delete("HTTPRoute", f"{name}-predictor")
        before = len(server.written)
        async with running_replica(kubeconfig):
            await eventually("routes", lambda: server.get("HTTPRoute", names[-1]))
            await quiet(lambda: len(server.written))
        written = [asked.plural for asked in server.written[before:]]
        assert written[:80] == ["httproutes"] * 80
        assert all(ready(server, name) for name in names)


async def test_a_fight_over_a_status_ends(server: ApiServer, kubeconfig: Path) -> None:
    """Another controller turns Ready back whenever it is told; the routes stay as they are."""
    async with robots.at_work(server), running_replica(kubeconfig):
        server.put(made.service("iris"))
        await eventually("ready", lambda: ready(server, "iris"))
        await quiet(lambda: len(server.written))
        before = len(server.written)
        for _ in range(20):
            stored = server.get("InferenceService", "iris")
            assert stored is not None
            turned = [{**item, "status": "False"} for item in stored["status"]["conditions"]]
            patch = {"status": {"conditions": turned}}
            server.patch("InferenceService", "iris", patch, subresource="status")
            await quiet(lambda: len(server.written), for_seconds=0.1)
        after = [asked.plural for asked in server.written[before:]]
        assert 1 <= len(after) <= 4
        assert set(after) == {"inferenceservices"}
        assert server.get("HTTPRoute", "iris") is not None


async def test_in_bulk_work_a_slow_gateway_is_waited_for_and_a_silent_one_is_told_of(
    server: ApiServer, kubeconfig: Path
) -> None:
    """Forty routes: the gateway has two seconds, and who waits for it sees no Ready fall."""
    names = [f"model-{number}" for number in range(40)]

    def routes_again() -> int:
        for name in names:
            server.delete("HTTPRoute", f"{name}-predictor")
        return len(server.written)

    def told() -> list[str]:
        return [asked.plural for asked in server.written[before:] if asked.plural != "httproutes"]

    async with robots.at_work(server), running_replica(kubeconfig):
        server.put(*map(made.service, names))
        for name in names:
            await eventually("ready", lambda name=name: ready(server, name))
        await quiet(lambda: len(server.written))
    before = routes_again()
    async with running_replica(kubeconfig):
        await eventually("routes", lambda: len(server.written) - before >= 40)
        await quiet(lambda: len(server.written), for_seconds=0.5)
        async with robots.at_work(server):
            await quiet(lambda: server.work, for_seconds=2.5)
        assert told() == []
    before = routes_again()
    async with running_replica(kubeconfig):
        await eventually("told", lambda: len(told()) >= 40)
        assert not any(ready(server, name) for name in names)


async def test_in_bulk_work_a_refused_write_is_tried_again_when_the_server_asks(
    server: ApiServer, kubeconfig: Path
) -> None:
    """A status that waits for a second look brings nothing back before its time."""
    tried: list[float] = []

    def busy(verb: str, plural: str) -> Any:
        if (verb, plural) != ("patch", "httproutes"):
            return None
        tried.append(time.monotonic())
        return too_many(1)

    async with robots.at_work(server):
        async with running_replica(kubeconfig):
            server.put(made.service("iris"))
            await eventually("ready", lambda: ready(server, "iris"))
            await quiet(lambda: len(server.written))
        server.delete("HTTPRoute", "iris")
        server.faults.append(busy)
        async with running_replica(kubeconfig):
            await eventually("three tries", lambda: len(tried) >= 3)
    pauses = [later - sooner for sooner, later in itertools.pairwise(tried)]
    assert min(pauses) >= 0.95
