"""A cluster of a size: InferenceServices, and somebody who says that what they stand on is ready.

No pods: Deployments are said to be available and HTTPRoutes accepted as soon as they are there,
as in the yardstick (spec/kserve-observed.md 3).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.cluster import answers
from ingressctl.cluster.answers import Answered
from ingressctl.cluster.client import APPLY, MERGE, Client, Lost
from ingressctl.cluster.connection import Choice
from ingressctl.cluster.informers import Informer, State, Timing
from ingressctl.plan.kinds import BY_IDENTITY, Resource
from tests.apiserver import made

AT_ONCE = 48
FAREWELL = 0.25
"""Seconds that connections over TLS may take to end, lest they outlive their loop."""
WORDS_AT_ONCE = 8
"""What others say is not to take the API server for itself."""
NAMESPACES = 20
CANARIES = 100
"""So many services have a canary."""
INFERENCE_SERVICE = ("serving.kserve.io", "InferenceService")
DEPLOYMENT = ("apps", "Deployment")
HTTP_ROUTE = ("gateway.networking.k8s.io", "HTTPRoute")

AVAILABLE = made.AVAILABLE["status"]


def namespace(number: int) -> str:
    """Where a service lies."""
    return f"team-{number % NAMESPACES:02d}"


def name(number: int) -> str:
    """What a service is called."""
    return f"model-{number:05d}"


def service(number: int) -> dict[str, Any]:
    """A predictor with one container; the first have a canary, whose share is edited."""
    spec: dict[str, Any] = {"predictor": _predictor("model:v1")}
    if number < CANARIES:
        spec["canary"] = canary(0)
    return {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {
            "name": name(number),
            "namespace": namespace(number),
            "labels": {"team": namespace(number)},
            "annotations": {"owner": "ml@example.com"},
        },
        "spec": spec,
    }


def canary(percent: int) -> list[dict[str, Any]]:
    """The canaries of a service: one, with that share of the traffic."""
    return [{"trafficPercent": percent, "predictor": {"name": "v2", **_predictor("model:v2")}}]


def _predictor(image: str) -> dict[str, Any]:
    ports = [{"containerPort": 8080}]
    return {"containers": [{"name": "kserve-container", "image": image, "ports": ports}]}


@contextlib.asynccontextmanager
async def connected(kubeconfig: Path) -> AsyncIterator[Client]:
    """A client with all rights."""
    async with Client(Choice(kubeconfig=str(kubeconfig)), seconds=60) as client:
        yield client
    await asyncio.sleep(FAREWELL)


def path(ref: Ref, version: str = "") -> str:
    """The path of an object."""
    resource = BY_IDENTITY[ref.group, ref.kind]
    return f"{root(resource, ref.namespace, version)}/{ref.name}"


def root(resource: Resource, space: str = "", version: str = "") -> str:
    """The path of a kind, in a namespace or everywhere."""
    served = version or resource.versions[0]
    start = f"/apis/{resource.group}/{served}" if resource.group else f"/api/{served}"
    return (
        f"{start}/namespaces/{space}/{resource.plural}" if space else f"{start}/{resource.plural}"
    )


async def all_at_once(jobs: Iterable[Any]) -> None:
    """Await many, a bounded number at a time."""
    limit = asyncio.Semaphore(AT_ONCE)

    async def one(job: Any) -> None:
        async with limit:
            await job

    await asyncio.gather(*(one(job) for job in jobs))


async def create(client: Client, obj: Raw) -> None:
    """One object that was not there, or has been made by an earlier try."""
    ref = ref_of(obj)
    where = root(BY_IDENTITY[ref.group, ref.kind], ref.namespace)
    with contextlib.suppress(_Conflict):
        await _sent(client, "POST", where, None, obj)


async def apply(client: Client, obj: Raw) -> None:
    """One object, written as a controller writes it: by server-side apply."""
    version = obj["apiVersion"].rpartition("/")[2]
    query = {"fieldManager": "loop", "fieldValidation": "Ignore"}
    await _sent(client, "PATCH", path(ref_of(obj), version), query, obj, APPLY)


class _Conflict(Exception):
    """Something of that name is there."""


async def _sent(client: Client, *request: Any) -> None:
    """A write, sent again while the server is busy. Raises _Conflict, Answered."""
    while True:
        try:
            await client.send(*request)
        except Answered as answered:
            if answered.status == answers.CONFLICT:
                raise _Conflict from None
            if not answered.passes:
                raise
            await asyncio.sleep(0.2)
        else:
            return


async def count(client: Client, kind: tuple[str, str]) -> int:
    """How many objects of a kind the server has."""
    body = await client.get(root(BY_IDENTITY[kind]), {"limit": "1", "resourceVersion": ""})
    meta = body.get("metadata") or {}
    return len(body.get("items") or ()) + int(meta.get("remainingItemCount") or 0)


class Marker:
    """Follows Deployments and HTTPRoutes, and says that each is ready."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._seen: set[Ref] = set()
        self._queue: asyncio.Queue[Raw] = asyncio.Queue()
        self.marked = 0

    async def run(self) -> None:
        """Until cancelled."""
        ended = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for kind in (DEPLOYMENT, HTTP_ROUTE):
                informer = Informer(self._client, BY_IDENTITY[kind], "", self, Timing())
                group.create_task(informer.run(ended))
            for _ in range(WORDS_AT_ONCE):
                group.create_task(self._work())

    def put(self, obj: Raw, *, whatever_was: bool = False) -> None:
        """As informers.Listener."""
        status = obj.get("status") or {}
        is_deployment = ref_of(obj)[:2] == DEPLOYMENT
        ready = status.get("conditions") if is_deployment else _read(obj)
        if not ready:
            self._queue.put_nowait(obj)

    def remove(self, ref: Ref, version: str) -> None:
        """As informers.Listener."""

    def known(self, resource: Resource, space: str) -> tuple[Ref, ...]:
        """As informers.Listener."""
        return ()

    def state(self, informer: Informer, state: State, message: str) -> None:
        """As informers.Listener."""

    async def caught_up(self) -> None:
        """Return when a gateway has said its word about all there is."""
        while not self._queue.empty():
            await asyncio.sleep(0.1)
        await asyncio.sleep(1)

    async def _work(self) -> None:
        while True:
            obj = await self._queue.get()
            ref = ref_of(obj)
            status = AVAILABLE if ref[:2] == DEPLOYMENT else accepted(obj)
            with contextlib.suppress(Answered, Lost):
                await self._client.send(
                    "PATCH", f"{path(ref)}/status", None, {"status": status}, MERGE
                )
                self.marked += 1


def _read(route: Raw) -> bool:
    """Whether the gateway's word is about the route as it is."""
    generation = route["metadata"].get("generation") or 1
    words = [
        word
        for parent in (route.get("status") or {}).get("parents") or ()
        for word in parent["conditions"]
    ]
    return bool(words) and all(word["observedGeneration"] == generation for word in words)


def accepted(obj: Raw) -> dict[str, Any]:
    """What a gateway says of a route that it took."""
    generation = int(obj["metadata"].get("generation") or 1)
    conditions = [
        {
            "type": kind,
            "status": "True",
            "reason": kind,
            "message": "",
            "observedGeneration": generation,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        for kind in ("Accepted", "ResolvedRefs")
    ]
    parents = [
        {
            "parentRef": parent,
            "controllerName": "example.com/gateway",
            "conditions": conditions,
        }
        for parent in obj["spec"].get("parentRefs") or ()
    ]
    return {"parents": parents}
