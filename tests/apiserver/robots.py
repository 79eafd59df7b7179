"""What other controllers of a cluster do: Deployments become available, routes are accepted,
and what was made for an owner that is gone goes too."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from tests.apiserver import made
from tests.apiserver.server import ApiServer
from tests.apiserver.store import Object, key_of

_DEPLOYMENTS = ("apps", "deployments")
_ROUTES = ("gateway.networking.k8s.io", "httproutes")


@contextlib.asynccontextmanager
async def at_work(server: ApiServer) -> AsyncIterator[None]:
    """They are at work for the length of the block."""
    task = asyncio.ensure_future(_work(server))
    try:
        yield
        if task.done():
            task.result()
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _work(server: ApiServer) -> None:
    while True:
        changed = server.objects.changed
        for obj in server.objects.select(_DEPLOYMENTS, ""):
            _tell(server, obj, made.AVAILABLE["status"])
        for obj in server.objects.select(_ROUTES, ""):
            _tell(server, obj, _accepted(obj))
        _collect(server)
        await changed.wait()
        await asyncio.sleep(0.005)  # several changes at once are one look


def _collect(server: ApiServer) -> None:
    everything = server.objects.everything()
    alive = {obj["metadata"]["uid"] for obj in everything}
    for obj in everything:
        owners = {owner["uid"] for owner in obj["metadata"].get("ownerReferences") or ()}
        if owners and not owners & alive:
            server.objects.delete(key_of(obj), {})


def _tell(server: ApiServer, obj: Object, status: Object) -> None:
    meta = obj["metadata"]
    wanted = {**status, "observedGeneration": meta["generation"]}
    if obj.get("status") != wanted:
        server.patch(
            obj["kind"],
            meta["name"],
            {"status": wanted},
            namespace=meta["namespace"],
            subresource="status",
            manager="robot",
        )


def _accepted(route: Object) -> Object:
    """The status that a Gateway API implementation gives a route."""
    conditions = [
        {
            "type": kind,
            "status": "True",
            "reason": kind,
            "observedGeneration": route["metadata"]["generation"],
        }
        for kind in ("Accepted", "ResolvedRefs")
    ]
    parents = [
        {"parentRef": ref, "controllerName": "robot/gateway", "conditions": conditions}
        for ref in route["spec"].get("parentRefs") or ()
    ]
    return {"parents": parents}
