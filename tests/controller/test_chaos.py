"""Measure 5 on the API server of memory: faults in random order while objects change.

It ends as without faults, nothing is told as a defect, and neither requests nor writes run away.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.apiserver import made, robots
from tests.apiserver.replica import FAST, TERMS, eventually, plan, quiet, running_replica
from tests.apiserver.server import ApiServer
from tests.faults.faulty import Faults, Timing
from tests.faults.proxy import FaultProxy

STEPS = 120
NAMES = 12
SETTLED = 4.0
"""Seconds of quiet after which no gateway is waited for: times of writes are whole seconds, a
renamed host waits twice, and a busy machine is late."""

SHORT = Timing(delay=0.3, life=0.5, retry_after=1)
GIVEN = plan(
    timing=replace(FAST, silence=0.6),
    terms=replace(TERMS, duration=4.0, deadline=3.0),
    request_seconds=1.0,
)
KINDS = ("InferenceService", "Deployment", "Service", "HTTPRoute")


async def change(server: ApiServer, seed: int, *, pause: float) -> None:
    """Services come, change and go, their objects are deleted and changed by others, and the
    configuration turns: the same in every run of a seed, whatever the controller does."""
    choose = random.Random(f"changes {seed}")
    for step in range(STEPS):
        name, what = f"s-{choose.randrange(NAMES)}", choose.random()
        _step(server, name, what, step)
        if step % 40 == 39:
            server.objects.expire()
        if step % 10 == 9:
            server.watches.cut()
        await asyncio.sleep(pause)
    server.put(made.config(ingressDomain="last.example.com"))


def _step(server: ApiServer, name: str, what: float, step: int) -> None:
    stored = server.get("InferenceService", name)
    if what < 0.6 or stored is None:
        server.put(made.service(name, image=f"stub:{step}"))
    elif what < 0.7:
        server.delete("InferenceService", name)
    elif what < 0.8 and server.get("HTTPRoute", name):
        server.delete("HTTPRoute", name)
    elif what < 0.9 and server.get("HTTPRoute", name):
        server.patch("HTTPRoute", name, {"spec": {"hostnames": [f"x{step}.example.com"]}})
    else:
        server.put(made.config(ingressDomain=f"d{step}.example.com"))


def state(server: ApiServer) -> dict[str, Any]:
    """Everything that matters of all objects, without times and identities."""
    found = {}
    for kind in KINDS:
        for obj in server.objects.everything():
            if obj["kind"] == kind:
                meta = obj["metadata"]
                found[f"{kind} {meta['namespace']}/{meta['name']}"] = {
                    "labels": meta.get("labels"),
                    "annotations": meta.get("annotations"),
                    "spec": obj.get("spec"),
                    "status": _timeless(obj.get("status")),
                }
    return json.loads(json.dumps(found, sort_keys=True))


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        aside = ("lastTransitionTime", "observedGeneration")
        return {key: _timeless(inner) for key, inner in value.items() if key not in aside}
    return [_timeless(inner) for inner in value] if isinstance(value, list) else value


async def without_faults(seed: int, folder: Path) -> dict[str, Any]:
    async with ApiServer() as server, robots.at_work(server):
        made.base(server)
        async with running_replica(server.kubeconfig(folder / "calm"), GIVEN):
            await change(server, seed, pause=0.0)
            await eventually("begun", lambda: server.written)
            await quiet(lambda: server.work, for_seconds=SETTLED)
            return state(server)


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_it_ends_as_without_faults(
    seed: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    expected = await without_faults(seed, tmp_path)
    faults = Faults(seed, rate=0.25, timing=SHORT)
    caplog.set_level(logging.INFO, logger="ingressctl")
    async with ApiServer() as server, robots.at_work(server):
        made.base(server)
        async with FaultProxy(server.url, faults) as proxy:
            kubeconfig = server.kubeconfig(tmp_path / "faulty", url=proxy.url)
            async with running_replica(kubeconfig, GIVEN):
                await change(server, seed, pause=0.05)
                faults.on = False
                try:
                    await eventually("as without faults", lambda: state(server) == expected)
                except AssertionError:
                    assert state(server) == expected
                await quiet(lambda: server.work, for_seconds=SETTLED)
                assert state(server) == expected
                told = [it for it in caplog.records if "at fault" in it.msg or it.exc_info]
                assert told == [], "a fault of the network is no defect"
                _check_bounds(server, proxy)
    assert sum(faults.met.values()) > STEPS / 2
    assert len(faults.met) >= 8, "of all sorts"


def _check_bounds(server: ApiServer, proxy: FaultProxy) -> None:
    """What one change may cost: its own writes, and those that faults made necessary again."""
    changes = STEPS + NAMES * (STEPS // 20)  # a turn of the configuration is one for each service
    met = sum(proxy.faults.met.values())
    assert len(server.written) <= changes * 4 + met
    assert server.work <= changes * 6 + met * 4
