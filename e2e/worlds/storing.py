"""Many objects made at once, and all of a kind read at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from e2e.pods import api
from ingressctl.api.refs import Kind, Raw, ref_of
from ingressctl.plan import kinds

AT_A_TIME = 32
TRIES = 5
EXISTS = 409

_PLURALS = {("networking.istio.io", "WorkloadEntry"): "workloadentries"}
_CLUSTER = frozenset({("", "Namespace")})


def path(obj: Raw) -> str:
    """Where objects of its kind are made."""
    ref, version = ref_of(obj), str(obj["apiVersion"])
    known = kinds.BY_IDENTITY.get((ref.group, ref.kind))
    plural = known.plural if known else _PLURALS[ref.group, ref.kind]
    root = f"/apis/{version}" if ref.group else f"/api/{version}"
    place = "" if (ref.group, ref.kind) in _CLUSTER else f"/namespaces/{ref.namespace}"
    return f"{root}{place}/{plural}"


async def store(client: api.Client, objects: Iterable[Raw]) -> list[Raw]:
    """The objects as they are stored, with their statuses; one that is there is left alone."""
    gate = asyncio.Semaphore(AT_A_TIME)

    async def one(obj: Raw) -> Raw | None:
        async with gate:
            return await _store(client, dict(obj))

    made = await asyncio.gather(*map(one, objects))
    return [obj for obj in made if obj is not None]


async def _store(client: api.Client, obj: dict[str, Any]) -> Raw | None:
    status = obj.pop("status", None)
    obj["metadata"] = {
        key: value
        for key, value in obj["metadata"].items()
        if key not in ("uid", "creationTimestamp")
    }
    where = path(obj)
    try:
        made = await _patiently(client.create, where, obj)
    except api.Refused as refused:
        if refused.status == EXISTS:
            return None
        raise
    if status is None:
        return made
    return await _patiently(
        client.merge, f"{where}/{made['metadata']['name']}/status", {"status": status}
    )


async def _patiently(act: Any, where: str, body: dict[str, Any]) -> Raw:
    """Tried again where the API server has too much to do."""
    for left in range(TRIES - 1, -1, -1):
        try:
            return dict(await act(where, body))
        except (TimeoutError, api.Refused) as fault:
            passing = isinstance(fault, TimeoutError) or fault.status in (429, 500, 503)
            if not (passing and left):
                raise
            await asyncio.sleep(0.5)
    raise AssertionError


async def listed(client: api.Client, kind: Kind) -> list[Raw]:
    """All objects of a kind; each knows its kind, as a single one does."""
    resource = kinds.BY_IDENTITY[kind]
    version = f"{resource.group}/{resource.versions[0]}" if resource.group else resource.versions[0]
    root = "/apis" if resource.group else "/api"
    found = await client.get(f"{root}/{version}/{resource.plural}")
    named = {"apiVersion": version, "kind": resource.kind}
    return [{**named, **item} for item in found["items"]]
