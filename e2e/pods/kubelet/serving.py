"""The story of the node: a task for each pod that is here, for as long as its object exists.

There is no scheduler: a pod that nobody bound is bound to this node. Pods of other nodes (some
tests make Pod objects by hand) are left alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from e2e.pods import api
from e2e.pods.images import table
from e2e.pods.kubelet import pod as pods
from e2e.pods.network import namespaces

LOG = logging.getLogger(__name__)
PODS = "/api/v1/pods"
RETRY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Room:
    """What every pod of this node shares."""

    client: api.Client
    node: namespaces.Node
    name: str
    folder: Path
    images: table.Table


async def serve(room: Room) -> None:
    """Run pods until cancelled; then none of them runs."""
    running: dict[str, pods.Pod] = {}
    tasks: dict[str, asyncio.Task[None]] = {}
    try:
        async for objects in room.client.follow(PODS):
            ours = {
                one["metadata"]["uid"]: one
                for one in objects.values()
                if one["spec"].get("nodeName", room.name) == room.name
            }
            for uid in running.keys() - ours.keys():
                running.pop(uid).vanished()
            for uid, obj in ours.items():
                if uid in running:
                    running[uid].told(obj)
                elif uid not in tasks and not _is_over(obj):
                    running[uid] = pods.Pod(obj, room)
                    tasks[uid] = asyncio.create_task(_run(running, uid))
            for uid in [uid for uid, task in tasks.items() if task.done() and uid not in ours]:
                del tasks[uid]
    finally:
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)


async def _run(running: dict[str, pods.Pod], uid: str) -> None:
    """A pod from its binding to its last delete, anew where this machine failed it."""
    while uid in running:
        pod = running[uid]
        try:
            await pod.run()
        except Exception:
            LOG.exception("pod %s", pod.name)
            await asyncio.sleep(RETRY_SECONDS)
            if uid in running:
                running[uid] = pods.Pod(running[uid].obj, pod.room)
        else:
            return


def _is_over(obj: Mapping[str, Any]) -> bool:
    return obj.get("status", {}).get("phase") in {"Succeeded", "Failed"} and not obj[
        "metadata"
    ].get("deletionTimestamp")


async def register(client: api.Client, name: str, address: str) -> None:
    """The Node object, ready; its taints are nobody's business here."""
    body: api.Object = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
    }
    with contextlib.suppress(api.Refused):  # it is there
        await client.create("/api/v1/nodes", body)
    room = {"cpu": "64", "memory": "256Gi", "pods": "1000"}
    status = {
        "addresses": [{"type": "InternalIP", "address": address}],
        "capacity": room,
        "allocatable": room,
        "conditions": [{"type": "Ready", "status": "True", "reason": "ProcessKubelet"}],
    }
    await client.patch(f"/api/v1/nodes/{name}/status", {"status": status})


async def wait_for_server(client: api.Client, deadline: float) -> None:
    """Until the API server answers. Raises TimeoutError."""
    async with asyncio.timeout(deadline):
        while True:
            with contextlib.suppress(*api.FAULTS):
                await client.get("/api/v1/namespaces/default")
                return
            await asyncio.sleep(api.PAUSE)
