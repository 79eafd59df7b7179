"""Measure 5 on a real API server that queues and refuses by priority and fairness.

Two minutes of faults before it, or as many seconds as INGRESSCTL_CHAOS_SECONDS says, while
services, routes and the configuration change; then everything has to be as in the namespace
that a controller without faults has made of the same services.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import re
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e import charts, controllers
from e2e.bed import apiserver, kubeconfigs, waiting
from e2e.bed import bed as beds
from e2e.bed.bed import Bed
from e2e.bed.kubectl import Refused
from e2e.controllers import Controller
from tests.apiserver import made
from tests.faults.faulty import Faults, Timing
from tests.faults.proxy import FaultProxy

CHAOS_SECONDS = float(os.environ.get("INGRESSCTL_CHAOS_SECONDS") or 120)
SEED = int(os.environ.get("INGRESSCTL_CHAOS_SEED") or 1)
RATE = 0.2
SERVICES = 20
CALM_SECONDS = 90
QUIET_SECONDS = 10
VALUES = {"providers": ["gateway_api"], "write": ["routes", "workloads"], "beside": ""}
FLAGS = (
    "--config-namespace=kserve",
    "--write=routes,workloads",
    "--providers=gateway_api",
    "--settle-seconds=1",
    "--watch-silence-seconds=15",
)
SORTS = 11
KINDS = "inferenceservices,deployments,services,httproutes"


class Before:
    """The proxy in a thread of its own, for tests that are not asynchronous."""

    def __init__(self, proxy: FaultProxy) -> None:
        self.proxy = proxy
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> FaultProxy:
        self._thread.start()
        self._wait(self.proxy.__aenter__())
        return self.proxy

    def __exit__(self, *ended: object) -> None:
        self._wait(self.proxy.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _wait(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(30)


@pytest.fixture(scope="module")
def bed(make_bed: Callable[..., Bed]) -> Bed:
    fair = apiserver.Settings(priority_and_fairness=True)
    started: Bed = make_bed((beds.CRDS, beds.CONTROLLERS), api=fair)
    charts.need_helm()
    charts.make_namespaces(started)
    started.apply(yaml.safe_dump_all([made.config(), made.gateway()]))
    return started


@pytest.fixture(scope="module")
def faults() -> Faults:
    return Faults(SEED, rate=RATE, timing=Timing(delay=5.0, life=20.0, retry_after=2))


@pytest.fixture(scope="module")
def proxy(bed: Bed, faults: Faults) -> Iterator[FaultProxy]:
    # Its own certificate would make every request the administrator's, who never waits.
    trust = ssl.create_default_context(cafile=str(bed.keys.ca))
    with Before(FaultProxy(bed.url, faults, trust=trust)) as running:
        yield running


@pytest.fixture(scope="module")
def controller(bed: Bed, proxy: FaultProxy, faults: Faults) -> Controller:
    """A replica that reaches the API server by the proxy alone."""

    def through(account: Path) -> Path:
        user = yaml.safe_load(account.read_text())["users"][0]["user"]
        return kubeconfigs.account(
            account.with_suffix(".faulty"),
            url=proxy.url,
            ca=bed.keys.ca,
            token=user["token"],
            namespace=charts.NAMESPACE,
        )

    return controllers.started(bed, *FLAGS, values=VALUES, through=through)


def change(bed: Bed, choose: random.Random, step: int) -> None:
    """What people and other programs do in a moment."""
    name, what = f"s-{choose.randrange(SERVICES)}", choose.random()
    with contextlib.suppress(Refused):
        if what < 0.6:
            bed.apply(yaml.safe_dump(made.service(name, image=f"stub:{step}")))
        elif what < 0.75:
            kind = choose.choice(("inferenceservice", "httproute", "deployment"))
            suffix = "-predictor" if kind == "deployment" else ""
            _delete(bed, kind, f"{name}{suffix}")
        elif what < 0.9:
            _steal(bed, f"s-{step % SERVICES}", step)
        else:
            bed.apply(yaml.safe_dump(made.config(ingressDomain=f"d{step}.example.com")))


def _delete(bed: Bed, kind: str, name: str) -> None:
    bed.kubectl("delete", kind, name, "-n=team-a", "--ignore-not-found", "--wait=false")


def _steal(bed: Bed, name: str, step: int) -> None:
    """Somebody else changes a route, if it is there; not so often that it is left to him."""
    if step // SERVICES % 12 == 0 and bed.kubectl(
        "get", "httproute", name, "-n=team-a", "-o=name", "--ignore-not-found"
    ):
        patch = json.dumps({"spec": {"hostnames": [f"x{step}.example.com"]}})
        bed.kubectl("patch", "httproute", name, "-n=team-a", "--type=merge", f"--patch={patch}")


def wanted(bed: Bed) -> None:
    """The end of all changes: every service, in both namespaces, by the last configuration."""
    bed.apply(yaml.safe_dump(made.config(ingressDomain="last.example.com")))
    names = [f"s-{number}" for number in range(SERVICES)]
    places = ("team-a", "team-b")
    services = [made.service(name, place, image="last") for place in places for name in names]
    bed.apply(yaml.safe_dump_all(services))


def state(bed: Bed, namespace: str) -> dict[str, Any]:
    """All that was made there, without what differs by place and time."""
    text = bed.kubectl("get", KINDS, "-n", namespace, "-o=json").replace(namespace, "NAMESPACE")
    return {
        f"{item['kind']} {item['metadata']['name']}": {
            "spec": _spec(item),
            "labels": item["metadata"].get("labels"),
            "conditions": _conditions(item),
        }
        for item in json.loads(text)["items"]
    }


def _spec(item: dict[str, Any]) -> dict[str, Any]:
    aside = ("clusterIP", "clusterIPs")
    return {key: value for key, value in item["spec"].items() if key not in aside}


def _conditions(item: dict[str, Any]) -> list[tuple[str, ...]]:
    """Of two that failed Ready gives the later one's reason, as Knative has it: that is history."""
    if item["kind"] != "InferenceService":
        return []
    found = (item.get("status") or {}).get("conditions") or ()
    return sorted(
        (it["type"], str(it.get("status")), "" if it["type"] == "Ready" else str(it.get("reason")))
        for it in found
    )


def test_it_ends_as_without_faults(
    bed: Bed, controller: Controller, proxy: FaultProxy, faults: Faults
) -> None:
    """Changes in team-a under faults; team-b gets the same services when there are none."""
    choose, end, step = random.Random(f"changes {SEED}"), time.monotonic() + CHAOS_SECONDS, 0
    began = proxy.requests
    while time.monotonic() < end:
        step += 1
        change(bed, choose, step)
        controller.check()
    chaotic = proxy.requests - began
    faults.on = False
    wanted(bed)
    made_of = {f"Deployment s-{number}-predictor" for number in range(SERVICES)}
    waiting.until(
        "all is made",
        lambda: made_of <= state(bed, "team-b").keys(),
        seconds=CALM_SECONDS,
        watch=controller.check,
    )
    _settle(controller)
    with contextlib.suppress(waiting.Late):
        waiting.until("the same ends", lambda: not _differing(bed), seconds=CALM_SECONDS)
    assert _differing(bed) == {}
    _check_bounds(proxy, chaotic, step)
    _check_log(controller)
    assert len(faults.met) == SORTS, f"every sort of fault was met: {faults.met}"


def _differing(bed: Bed) -> dict[str, tuple[Any, Any]]:
    """What is not the same in both: the garbage collector may still be at it."""
    chaotic, calm = state(bed, "team-a"), state(bed, "team-b")
    names = sorted(chaotic.keys() | calm.keys())
    both = {name: (chaotic.get(name), calm.get(name)) for name in names}
    return {name: pair for name, pair in both.items() if pair[0] != pair[1]}


def _settle(controller: Controller) -> None:
    """Until nothing is written any more."""
    end, last, since = time.monotonic() + CALM_SECONDS, -1.0, time.monotonic()
    while time.monotonic() - since < QUIET_SECONDS:
        assert time.monotonic() < end, "it goes on writing"
        time.sleep(0.5)
        now = controller.value("ingressctl_writes_total")
        if now != last:
            last, since = now, time.monotonic()


def _check_bounds(proxy: FaultProxy, requests: int, steps: int) -> None:
    """A lease takes two requests a second. A turn of the configuration is written to every
    service, one step in ten; all else is one service's."""
    writes = steps * 10 + steps / 10 * SERVICES * 5
    met = sum(proxy.faults.met.values())
    assert requests < 2 * CHAOS_SECONDS + writes + 4 * met


def _check_log(controller: Controller) -> None:
    text = controller.log.read_text()
    assert "Traceback" not in text
    assert not re.search(r"at fault|exception was never retrieved|never awaited", text)
