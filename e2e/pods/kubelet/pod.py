"""The story of one pod: place, init containers in order, containers, an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from e2e.pods import api
from e2e.pods.kubelet import container, sources, status, volumes
from e2e.pods.network import namespaces

if TYPE_CHECKING:
    from e2e.pods.kubelet.serving import Room

DEFAULT_GRACE = 30
RETRY_SECONDS = 0.5
Container = container.Container


class Pod:
    """A pod that runs here. `told` and `vanished` bring what its object says."""

    def __init__(self, obj: Mapping[str, Any], room: Room) -> None:
        self.obj = obj
        self.room = room
        meta = obj["metadata"]
        self.namespace, self.name, self.uid = meta["namespace"], meta["name"], meta["uid"]
        self.folder = room.folder / self.uid
        self.place: namespaces.Place | None = None
        self.started = status.now()
        self.inits: list[Container] = []
        self.containers: list[Container] = []
        self.initialized = False
        self.conditions: dict[str, Mapping[str, Any]] = {}
        self._path = f"/api/v1/namespaces/{self.namespace}/pods/{self.name}"
        self._ending = asyncio.Event()
        self._gone = False
        self._dirty = asyncio.Event()

    def told(self, obj: Mapping[str, Any]) -> None:
        """The object as it is now."""
        self.obj = obj
        self._dirty.set()  # a readiness gate may have been answered
        if obj["metadata"].get("deletionTimestamp"):
            self._ending.set()

    def vanished(self) -> None:
        """The object was deleted without waiting."""
        self._gone = True
        self._ending.set()

    def changed(self) -> None:
        """Something that the status tells has changed."""
        self._dirty.set()

    async def run(self) -> None:
        """From its binding to its last delete."""
        self.told(self.obj)
        reporting = asyncio.create_task(self._report())
        living = asyncio.create_task(self._live())
        ending = asyncio.create_task(self._ending.wait())
        try:
            await asyncio.wait({living, ending}, return_when=asyncio.FIRST_COMPLETED)
            if living.done():
                living.result()
                await ending
            await _cancel(living)
            await self._stop()
            await _cancel(reporting)
            await self._free()
            await self._delete()
        finally:
            # Also when the node stops: then nobody waits for grace.
            await _cancel(living, reporting, ending)
            for one in self.all_containers():
                await one.kill()
            await self._free()

    def all_containers(self) -> list[Container]:
        """Init containers first."""
        return [*self.inits, *self.containers]

    async def _live(self) -> None:
        await self._bind()
        self.place = await self.room.node.add(self.name, namespace=self.namespace)
        self.folder.mkdir(parents=True, exist_ok=True)  # a crashed kubelet left its own
        spec = self.obj["spec"]
        self.inits = [Container(one, self) for one in spec.get("initContainers", ())]
        self.containers = [Container(one, self) for one in spec["containers"]]
        self.changed()
        mounts = await self._mounts()
        async with asyncio.TaskGroup() as sidecars:
            for one in self.inits:
                if one.spec.get("restartPolicy") == "Always":
                    sidecars.create_task(one.run(mounts, "Always"))
                    await one.started.wait()
                elif not await self._init(one, mounts):
                    return
            self.initialized = True
            self.changed()
            policy = spec.get("restartPolicy", "Always")
            async with asyncio.TaskGroup() as tasks:
                for one in self.containers:
                    tasks.create_task(one.run(mounts, policy))
        self.changed()

    async def _init(self, one: Container, mounts: volumes.Mounts) -> bool:
        policy = self.obj["spec"].get("restartPolicy", "Always")
        await one.run(mounts, "Never" if policy == "Never" else "OnFailure")
        return one.exit_code == 0

    async def _mounts(self) -> volumes.Mounts:
        """What the pod reads, as soon as it exists."""
        while True:
            try:
                known = await sources.read(self.room.client, self.obj)
                return volumes.write(self, known)
            except (sources.Missing, *api.FAULTS) as fault:
                for one in self.all_containers():
                    one.waiting("ContainerCreating", str(fault))
                await asyncio.sleep(RETRY_SECONDS)

    async def _bind(self) -> None:
        if self.obj["spec"].get("nodeName"):
            return
        body: api.Object = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": self.name, "uid": self.uid},
            "target": {"apiVersion": "v1", "kind": "Node", "name": self.room.name},
        }
        with contextlib.suppress(*api.FAULTS):  # bound or deleted meanwhile
            await self.room.client.create(f"{self._path}/binding", body)

    async def _report(self) -> None:
        """Write the status whenever it differs from what was written."""
        written: api.Object = {}
        while True:
            await self._dirty.wait()
            self._dirty.clear()
            told = status.make(self)
            if told != written and not self._gone:
                with contextlib.suppress(*api.FAULTS):
                    body = {"metadata": {"uid": self.uid}, "status": told}
                    await self.room.client.patch(f"{self._path}/status", body)
                    written = told
                    continue
                self._dirty.set()
                await asyncio.sleep(RETRY_SECONDS)

    async def _stop(self) -> None:
        grace = 0 if self._gone else self._grace()
        # Sidecars end after those they serve.
        for group in (self.containers, self.inits[::-1]):
            await asyncio.gather(*(one.stop(grace) for one in group))

    def _grace(self) -> float:
        given = self.obj["metadata"].get("deletionGracePeriodSeconds")
        if given is None:
            given = self.obj["spec"].get("terminationGracePeriodSeconds", DEFAULT_GRACE)
        return float(given)

    async def _free(self) -> None:
        place, self.place = self.place, None
        if place is not None:
            await self.room.node.remove(place)
        shutil.rmtree(self.folder, ignore_errors=True)

    async def _delete(self) -> None:
        if self._gone:
            return
        status_path = f"{self._path}/status"
        body: api.Object = {"gracePeriodSeconds": 0, "preconditions": {"uid": self.uid}}
        with contextlib.suppress(*api.FAULTS):
            last = {"metadata": {"uid": self.uid}, "status": status.make(self)}
            await self.room.client.patch(status_path, last)
            await self.room.client.delete(self._path, body)


async def _cancel(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
