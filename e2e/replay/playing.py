"""One case on the API server: its objects, a controller until it rests, and what then stands.

The comparison is that of tests/cases. Beside it the controller looks at everything once more,
which may write nothing: what the server adds to objects must not look like a difference.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from e2e.replay import controller
from e2e.replay.cluster import READ, Cluster
from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.cluster.answers import Answered
from ingressctl.cluster.client import Client
from ingressctl.cluster.connection import Choice
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan.cascade import Reconcile
from ingressctl.sources.kserve import reconcile as kserve
from tests.cases import comparing, judging, stages
from tests.cases.loading import Run
from tests.cases.results import Result

SOURCES: Mapping[str, Reconcile] = {
    "routes": kserve.reconcile_routes,
    "status": kserve.reconcile_status,
    "reconcile": kserve.reconcile,
}
"""What of a reconcile each stage is about."""

EXCERPTS = (("apps", "Deployment"), ("serving.knative.dev", "Service"))
AT_FAULT = (
    "the reconcile of the object is at fault",
    "IC7104",
    "requests failed",
    "may not be listed",
    "cannot be listed",
)
"""In the log: what no case may lead to."""

TELLING_SECONDS = 10.0


class NotHeld(Exception):
    """The API server does not take an object of the case. The message is the server's."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where cases are played: with whose rights the controller runs, and whose everything is."""

    admin: Path
    account: Path


def play(run: Run, place: Place) -> list[str]:
    """Every reason why the case does not hold on the API server. Raises NotHeld."""
    return asyncio.run(_play(run, place))


async def _play(run: Run, place: Place) -> list[str]:
    async with Client(Choice(kubeconfig=str(place.admin))) as client:
        cluster = Cluster(client)
        objects = stages.adopt(comparing.documents(run.case["input"]))
        for namespace in ("kserve", "knative-serving"):
            await cluster.need_space(namespace)
        try:
            try:
                await cluster.put(objects)
            except Answered as answered:
                raise NotHeld(answered.message) from None
            async with cluster.without(run.case.get("absent_crds") or ()):
                result, faults = await _ended_in(run, cluster, place)
        finally:
            await _clean(cluster, objects)
        return faults + judging.judge(await _defaulted(run, cluster), result)


async def _ended_in(run: Run, cluster: Cluster, place: Place) -> tuple[Result, list[str]]:
    """What stands when the controller rests; and what it did that it must not."""
    sources = {stages.ISVC: SOURCES[run.case["stage"]]}
    async with controller.replica(place.account, settings_of(run), sources) as replica:
        await replica.rest()
        world = await cluster.world()
        messages = [text for texts in replica.faults.values() for text in texts]
        await replica.look_again()
        faults = [f"a second look writes {ref}" for ref in _changed(world, await cluster.world())]
        faults += [line for line in replica.lines if any(part in line for part in AT_FAULT)]
        if run.expect.get("error"):
            faults += await _untold(messages, cluster, world)
    return Result(world, messages), faults


def settings_of(run: Run) -> Settings:
    """As the pure runner has them; what the cluster lacks the controller has to find out."""
    settings = replace(stages.settings_of(run), absent=frozenset())
    if run.case["stage"] == "routes":
        return settings
    return replace(settings, write=stages.EVERYTHING)


def _changed(before: World, after: World) -> Iterable[Ref]:
    old, new = (
        {ref_of(obj): obj["metadata"].get("resourceVersion") for obj in world}
        for world in (before, after)
    )
    return sorted(ref for ref in {*old, *new} if old.get(ref) != new.get(ref))


async def _untold(messages: Iterable[str], cluster: Cluster, world: World) -> list[str]:
    """Faults that no event tells to people."""
    (service,) = stages.services(world)
    end = asyncio.get_running_loop().time() + TELLING_SECONDS
    while True:
        events = await cluster.events(ref_of(service))
        notes = [event["note"] for event in events if event["reason"] == "ReconcileFailed"]
        untold = [text for text in messages if text[:1024] not in notes]
        if not untold or asyncio.get_running_loop().time() > end:
            return [f"no event tells {text!r}" for text in untold]
        await asyncio.sleep(0.1)


async def _clean(cluster: Cluster, objects: Iterable[Raw]) -> None:
    made = [ref_of(obj) for obj in await cluster.world()]
    put = [ref for ref in map(ref_of, objects) if ref[:2] not in READ]
    await cluster.remove([*made, *put])


async def _defaulted(run: Run, cluster: Cluster) -> Run:
    """The run with the server's defaults in the objects that it expects."""
    if not run.expect.get("expected"):
        return run
    expected: list[Any] = [
        await cluster.with_defaults(obj) if _is_whole(obj) else obj
        for obj in comparing.documents(run.expect["expected"])
    ]
    return replace(run, expect={**run.expect, "expected": yaml.safe_dump_all(expected)})


def _is_whole(obj: Raw) -> bool:
    """Whether a case writes objects of the kind down in full, not in excerpts."""
    return ref_of(obj)[:2] not in EXCERPTS
