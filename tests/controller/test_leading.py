"""Only the leader writes, and what it has begun ends before somebody else can lead."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path

from ingressctl.cluster.controller import Options
from ingressctl.plan import rights
from tests.apiserver import made, robots
from tests.apiserver.replica import TERMS, eventually, plan, quiet, running_replica
from tests.apiserver.server import ApiServer

SLOW = replace(TERMS, duration=2.0, deadline=1.0)


def holder(server: ApiServer) -> str:
    lease = server.get("Lease", rights.LEASE, "kserve")
    return str(lease["spec"]["holderIdentity"]) if lease else ""


async def led(server: ApiServer) -> None:
    await eventually("leader", lambda: server.counts["create", "leases"])
    await quiet(lambda: server.work)


async def test_no_write_arrives_after_the_lease_is_lost(
    server: ApiServer, kubeconfig: Path
) -> None:
    """Renewals are cut while services change: the last write comes before anybody else could
    lead, though watches and reconciles go on."""
    async with robots.at_work(server), running_replica(kubeconfig, plan(terms=SLOW)):
        server.put(made.service("iris"))
        await eventually("route", lambda: server.get("HTTPRoute", "iris"))
        server.forbidden.add(("*", "leases"))
        cut = asyncio.get_running_loop().time()
        end = time.monotonic() + SLOW.duration * 2
        number = 0
        while time.monotonic() < end:
            number += 1
            server.put(made.service(f"s-{number}"))
            await asyncio.sleep(0.05)
    late = [asked for asked in server.written if asked.at > cut + SLOW.duration]
    early = [asked for asked in server.written if cut < asked.at]
    assert early, "it went on writing while the lease held"
    assert late == []


async def test_a_write_under_way_is_let_go_of(server: ApiServer, kubeconfig: Path) -> None:
    """The server answers nothing any more. What hangs is cut before the lease has run out, so
    it cannot arrive when somebody else leads."""
    async with running_replica(kubeconfig, plan(terms=SLOW, request_seconds=60.0)):
        await led(server)
        server.pause()
        server.put(made.service("iris"))
        await eventually("write on its way", lambda: server.waiting("patch", "services"))
        began = time.monotonic()
        await eventually("let go", lambda: not server.waiting("patch", "services"))
        assert time.monotonic() - began < SLOW.duration
        server.resume()
        await eventually("made up for", lambda: server.get("Service", "iris-predictor"))


async def test_what_was_refused_in_a_lapse_is_made_up_for(
    server: ApiServer, kubeconfig: Path
) -> None:
    async with running_replica(kubeconfig, plan(terms=TERMS)):
        await led(server)
        server.forbidden.add(("*", "leases"))
        await asyncio.sleep(TERMS.deadline * 1.2)
        server.put(made.service("iris"))
        await quiet(lambda: server.work)
        assert server.get("Deployment", "iris-predictor") is None
        server.forbidden.clear()
        await eventually("deployment", lambda: server.get("Deployment", "iris-predictor"))


async def test_two_replicas_never_write_at_a_time(
    server: ApiServer, kubeconfig: Path, tmp_path: Path
) -> None:
    """The first ends while services change; the other goes on, and no write is mixed in."""
    other = server.kubeconfig(tmp_path / "other", token="other")
    async with robots.at_work(server), running_replica(kubeconfig, plan(identity="a")) as first:
        await led(server)
        async with running_replica(other, plan(identity="b")):
            for number in range(10):
                server.put(made.service(f"s-{number}"))
                await asyncio.sleep(0.02)
                if number == 5:
                    first.cancel()
                    await asyncio.wait([first])
                    assert holder(server) in ("", "b")
            await eventually(
                "all",
                lambda: all(
                    server.get("Deployment", f"s-{number}-predictor") for number in range(10)
                ),
            )
            await quiet(lambda: server.work)
    writers = [asked.user for asked in server.written]
    assert writers == sorted(writers, key=["secret", "other"].index)
    assert set(writers) == {"secret", "other"}


async def test_a_dry_run_writes_nothing(server: ApiServer, kubeconfig: Path) -> None:
    """No object, no status, no event and no lease; also without election."""
    taken = made.service("taken")
    foreign = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "taken-predictor", "namespace": "team-a"},
        "spec": {"ports": [{"port": 1}]},
    }
    server.put(made.service("iris"), foreign, taken)
    for elect in (True, False):
        given = plan(options=Options(dry_run=True), elect=elect)
        async with running_replica(kubeconfig, given):
            await eventually("lists", lambda: server.counts["watch", "httproutes"])
            await quiet(lambda: server.work)
    verbs = {asked.verb for asked in server.log}
    assert verbs <= {"get", "list", "watch", "discover"}
