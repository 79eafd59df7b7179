"""Field cases that need the controller over time: `ingressctl run` and `preview` as processes.

The block of a case is that of tests/cases/suites/field/README.md. What was asked is taken from
the API server's audit, time and memory from the kernel. Beside the objects of a case stands
what a cluster with KServe and Knative has of them: runtimes, and workloads that are ready.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from e2e import audit, charts, controllers
from e2e.audit import Asked, Audit
from e2e.bed.bed import Bed
from e2e.bench import processes
from e2e.bench.cluster import AVAILABLE, HTTP_ROUTE, Marker
from e2e.controllers import Controller
from e2e.replay.cluster import Cluster
from e2e.replay.previewing import READER, Previewing
from ingressctl.api import admission
from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.cluster.client import Client
from ingressctl.core import managed
from ingressctl.core.world import World
from ingressctl.plan import cascade, kinds
from tests.cases import (
    admission_stage,
    checks,
    comparing,
    field_stage,
    field_state,
    selecting,
    stages,
)
from tests.cases.loading import Run

CONTROLLER = audit.account(charts.NAMESPACE, "ingressctl")
VALUES: Mapping[str, Any] = {
    "providers": ["istio", "ingress", "gateway_api"],
    "replicas": 1,
    "leaderElection": False,
}
FLAGS = ("--config-namespace=kserve", "--settle-seconds=0", "--no-leader-elect")
SECONDS = 180.0
BLOCK = frozenset("checks preview steps copies runs manual".split())
STEP = frozenset("name apply observe delete reconcile restart within checks preview".split())
"""What of the language these cases use; anything else is a fault."""


@dataclass
class Since:
    """The beginning of a state: what was before does not count."""

    mark: int
    cpu: float
    errors: float
    events: frozenset[str]


class Player:
    """One case on one bed, whose API server notes what it is asked."""

    def __init__(self, run: Run, bed: Bed, noted: Audit, client: Client, place: Path) -> None:
        self._run, self._bed, self._audit, self._client = run, bed, noted, client
        self._cluster = Cluster(client)
        self._preview = Previewing(bed, run.compat, place)
        self._controller: Controller | None = None
        self._given: dict[Ref, Raw] = {}

    async def play(self) -> list[str]:
        """Every reason why the case does not hold."""
        block = field_stage.block_of(self._run.expect["assert"])
        unknown = set(block) - BLOCK
        if unknown:
            return [f"not judged on a cluster: {sorted(unknown)}"]
        self._given = {ref_of(obj): obj for obj in field_stage.input_of(self._run, block)}
        objects = [*self._given.values()]
        stored = [self._admitted(obj) for obj in objects]
        await self._cluster.put([*stored, *_beside(stored, self._run)], manager="somebody")
        gateway = asyncio.create_task(_Gateway(self._client).run())
        try:
            faults = await self._first(block)
            for number, step in enumerate(block.get("steps") or ()):
                title = step.get("name") or f"step {number}"
                faults += [f"{title}: {why}" for why in await self._step(step)]
        finally:
            gateway.cancel()
            await asyncio.gather(gateway, return_exceptions=True)
            await self._end()
        if "runs" in block:
            faults += field_stage.runs(objects, self._run.compat, int(block["runs"]))
        return faults

    def _admitted(self, obj: Raw) -> Raw:
        """As KServe's webhook has it stored."""
        if ref_of(obj)[:2] != kinds.INFERENCE_SERVICE:
            return obj
        admitted = admission.admit(
            obj,
            old=None,
            operation="create",
            config=admission_stage.config_of(self._given.values()),
            differs=admission_stage.differs_of(self._run),
        )
        return admitted.stored

    async def _first(self, block: Mapping[str, Any]) -> list[str]:
        """The input, from nothing to quiet."""
        since = await self._since()
        wanted = block.get("preview") or {}
        if wanted:
            await self._preview.of(self._given.values())
        await self._begin()
        await self._quiet()
        return [*await self._checked(block, since), *await self._previewed(wanted)]

    async def _step(self, step: Mapping[str, Any]) -> list[str]:
        unknown = set(step) - STEP
        if unknown:
            return [f"not judged on a cluster: {sorted(unknown)}"]
        since = await self._since()
        if "preview" in step:  # asked before anything is applied: that is what it is for
            new = comparing.documents(step.get("apply"))
            await self._preview.of([*self._given.values(), *new])
            return await self._previewed(step["preview"])
        since = await self._change(step, since)
        if "within" not in step:
            await self._quiet()
            return await self._checked(step, since)
        end = time.monotonic() + float(str(step["within"]).removesuffix("s"))
        while (faults := await self._checked(step, since)) and time.monotonic() < end:
            await asyncio.sleep(0.1)
        await self._quiet()
        return faults or await self._checked(step, since)

    async def _change(self, step: Mapping[str, Any], since: Since) -> Since:
        """Apply, observe, delete, restart, reconcile, in this order."""
        for obj in comparing.documents(step.get("apply")):
            await self._cluster.replace(self._admitted(obj))
        for obj in comparing.documents(step.get("observe")):
            await self._cluster.observe(obj)
        for text in step.get("delete") or ():
            await self._cluster.remove([_named(text)])
        if step.get("restart"):
            await self._end()
            await self._begin()
            since = replace(since, cpu=0.0, errors=0.0)
        for _ in range(int(step.get("reconcile") or 0)):
            assert self._controller is not None
            os.kill(self._controller.pid, signal.SIGHUP)
            await self._quiet()
        return since

    async def _begin(self) -> None:
        flags = (*FLAGS, f"--compat={self._run.compat}")
        self._controller = await asyncio.to_thread(
            controllers.started, self._bed, *flags, values=VALUES
        )

    async def _end(self) -> None:
        controller, self._controller = self._controller, None
        if controller is not None:
            controller.check()
            self._bed.processes.remove(controller)
            await asyncio.to_thread(controller.stop)

    async def _quiet(self) -> None:
        assert self._controller is not None
        end = time.monotonic() + SECONDS
        before = -1
        while before != self._audit.mark:  # a busy machine may keep it from using any CPU
            before = self._audit.mark
            await asyncio.to_thread(processes.until_idle, self._controller.pid, seconds=SECONDS)
            await asyncio.sleep(1)
            assert time.monotonic() < end, "it is never quiet"
        self._controller.check()

    async def _since(self) -> Since:
        controller = self._controller
        return Since(
            self._audit.mark,
            processes.cpu(controller.pid) if controller else 0.0,
            controller.value(ERRORS) if controller else 0.0,
            frozenset([name async for name, _ in self._warnings()]),
        )

    async def _warnings(self) -> Any:
        """Name and object of each Warning event."""
        for event in await self._cluster.all_events():
            if event["type"] == "Warning":
                about = event["regarding"]
                place = f"{about.get('namespace', '')}/{about['name']}".lstrip("/")
                yield event["metadata"]["name"], f"{about['kind']} {place}"

    async def _checked(self, entry: Mapping[str, Any], since: Since) -> list[str]:
        if not entry.get("checks"):
            return []
        world = await self._cluster.world()
        user = READER if "preview" in entry else CONTROLLER
        warned = [about async for name, about in self._warnings() if name not in since.events]
        seen = checks.Seen(
            objects=tuple(world),
            generated=tuple(obj for obj in world if managed.written_at(obj)),
            measure=lambda word, of: self._measure(word, of, since, user, warned),
            admitted=_nobody_asks,
            xds=_nobody_asks,
            router_configs=_nobody_asks,
            providers=frozenset(),
        )
        return [why for check in entry["checks"] for why in checks.judge(check, seen)]

    def _measure(self, word: str, of: str, since: Since, user: str, warned: list[str]) -> Any:
        """As field_state.State.measure. `user` is who is looked at. Raises LookupError."""
        controller = self._controller
        assert controller is not None
        requests = self._audit.since(since.mark, user)
        if word == "writes":
            return sum(asked.writes and of in ("", _object(asked)) for asked in requests)
        if word == "verbs":
            return sorted({asked.verb for asked in requests} - {"watch"})
        if word == "events":
            return warned
        if word == "errors":
            return controller.value(ERRORS) - since.errors
        if word == "seconds":
            return processes.cpu(controller.pid) - since.cpu
        if word == "memoryMiB":
            return processes.peak(controller.pid)
        raise LookupError(f"measure {word} is not taken")

    async def _previewed(self, wanted: Mapping[str, Any]) -> list[str]:
        return self._preview.judge(wanted, await self._cluster.world()) if wanted else []


class _Gateway(Marker):
    """Takes every route, and again when it has changed."""

    def put(self, obj: Raw, *, whatever_was: bool = False) -> None:
        """As informers.Listener."""
        generation = obj["metadata"].get("generation")
        seen = [
            told.get("observedGeneration")
            for parent in (obj.get("status") or {}).get("parents") or ()
            for told in parent["conditions"]
        ]
        if ref_of(obj)[:2] == HTTP_ROUTE and set(seen) != {generation}:
            self._queue.put_nowait(obj)


ERRORS = "controller_runtime_reconcile_errors_total"


def _beside(objects: Iterable[Raw], run: Run) -> Iterator[Raw]:
    """Runtimes, and the workloads that KServe makes of the services, as they are when ready."""
    there = {ref_of(obj) for obj in objects}
    shipped = [*comparing.documents(field_state.RUNTIMES.read_text()), selecting.KNATIVE_AUTOSCALER]
    settings = replace(stages.settings_of(run), write=frozenset({"workloads"}))
    done = cascade.run(World.of([*objects, *shipped]), settings, now=datetime.now(UTC), passes=1)
    made = World.of(
        child.body
        for step in done.steps
        for child in step.outcome.children
        if child.part == "workloads" and child.ref not in there
    )
    yield from shipped
    for obj in made.overlay(selecting.marked(made)):
        # The server wants to be told of replicas that are there before some are available.
        deployed = ref_of(obj)[:2] == ("apps", "Deployment")
        yield {**obj, "status": AVAILABLE} if deployed else obj


def _named(text: str) -> Ref:
    """The object that `Kind namespace/name` names."""
    kind, _, place = text.partition(" ")
    namespace, _, name = place.rpartition("/")
    (found,) = [item for item in kinds.RESOURCES if item.kind == kind]
    return Ref(found.group, kind, namespace, name)


def _object(asked: Asked) -> str:
    """The object of a request, as a case names it."""
    kind = next(
        (
            item.kind
            for item in kinds.RESOURCES
            if (item.group, item.plural) == (asked.group, asked.resource)
        ),
        asked.resource,
    )
    return f"{kind} {asked.namespace}/{asked.name}"


def _nobody_asks(*_: Any) -> Any:
    raise LookupError("not judged on a cluster")
