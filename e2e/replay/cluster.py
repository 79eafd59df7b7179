"""The objects of a case on an API server: put there as a cluster would hold them, read, removed.

What only a server gives is the server's: uids, creation times, addresses, defaults. Owner
references are turned to the uids of their owners, and what a case expects is given the
server's defaults before it is compared.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import time
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from typing import Any

from ingressctl.api.refs import Kind, Raw, Ref, ref_of
from ingressctl.cluster import answers
from ingressctl.cluster.answers import Answered
from ingressctl.cluster.client import MERGE, Client
from ingressctl.core.world import World
from ingressctl.plan import kinds

SERVICE: Kind = ("", "Service")
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CRD_SECONDS = 30
READ: tuple[Kind, ...] = (
    kinds.INFERENCE_SERVICE,
    SERVICE,
    ("apps", "Deployment"),
    ("serving.knative.dev", "Service"),
    ("networking.istio.io", "VirtualService"),
    ("gateway.networking.k8s.io", "HTTPRoute"),
    ("networking.k8s.io", "Ingress"),
)
"""What controllers write, and what cases are compared by."""

GIVEN = ("uid", "creationTimestamp", "resourceVersion", "generation", "managedFields")
"""Of metadata: nobody but the server says it."""

ALLOCATED = ("clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy")
"""Of a Service: what the server adds and no case speaks of."""

DEFAULTS = {"sessionAffinity": "None", "type": "ClusterIP"}
"""Likewise, where it says no more than its absence."""

WRITER = "manager"
"""The objects of a case were written by KServe, whose program calls itself so."""


class Cluster:
    """One API server through a client that may do everything."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._spaces: set[str] = set()
        self._uids: dict[tuple[str, str, str], str] = {}

    async def put(self, objects: Iterable[Raw], *, manager: str = WRITER) -> list[Ref]:
        """Create objects, owners first, each with its status. Raises Answered."""
        made: list[Ref] = []
        for obj in sorted(objects, key=_is_owned):
            ref = ref_of(obj)
            await self.need_space(ref.namespace)
            stored = await self._client.send(
                "POST", collection(obj), {"fieldManager": manager}, _fresh(obj, self._uids)
            )
            made.append(ref)
            self._uids[ref.kind, ref.namespace, ref.name] = stored["metadata"]["uid"]
            await self.put_status(obj, stored)
        return made

    async def replace(self, obj: Raw) -> None:
        """Have an object as it is written, whatever it was; its status is for `observe`."""
        path = f"{collection(obj)}/{ref_of(obj).name}"
        body = _fresh(obj, self._uids)
        stored = await self._client.get(path)
        body["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"]
        await self._client.send("PUT", path, {"fieldManager": "somebody"}, body)
        if obj.get("status"):
            await self.observe(obj)

    async def observe(self, obj: Raw) -> None:
        """Have the status of an object tell what its text does, each condition by its type."""
        path = f"{collection(obj)}/{ref_of(obj).name}"
        stored = await self._client.get(path)
        whole = {**stored, "status": _told(stored.get("status") or {}, obj["status"])}
        await self._client.send("PUT", f"{path}/status", {"fieldManager": "somebody"}, whole)

    async def put_status(self, obj: Raw, stored: Raw) -> None:
        """Have the status that an object comes with, as whoever answers for it writes it."""
        status = obj.get("status")
        if status and stored.get("status") != status:
            path = f"{collection(obj)}/{ref_of(obj).name}/status"
            await self._client.send(
                "PATCH", path, {"fieldManager": "somebody"}, {"status": status}, MERGE
            )

    async def need_space(self, namespace: str) -> None:
        """A namespace that is there from now on."""
        if not namespace or namespace in self._spaces:
            return
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        try:
            await self._client.send("POST", "/api/v1/namespaces", None, body)
        except Answered as answered:
            if answered.status != answers.CONFLICT:
                raise
        self._spaces.add(namespace)

    async def world(self) -> World:
        """All objects of the kinds that count. A kind that is not served has none."""
        lists = await asyncio.gather(*(self._list(kind) for kind in READ))
        return World.of([obj for found in lists for obj in found if not _is_foreign(obj)])

    async def remove(self, refs: Iterable[Ref]) -> None:
        """Delete objects; those that are gone already are no fault."""
        await asyncio.gather(*(self._delete(ref) for ref in refs))

    async def with_defaults(self, obj: Raw) -> Raw:
        """An object as the server would store it; nothing is stored."""
        body = copy.deepcopy(dict(obj))
        body["metadata"] = {**body["metadata"], "name": f"expected-{ref_of(obj).name}"[:63]}
        stored = await self._client.send("POST", collection(obj), {"dryRun": "All"}, body)
        return {**obj, "spec": without_allocated(stored)["spec"]}

    @contextlib.asynccontextmanager
    async def without(self, crds: Collection[str]) -> AsyncIterator[None]:
        """For a while the server does not serve these kinds."""
        kept = [await self._client.get(f"{CRDS}/{name}") for name in crds]
        for name in crds:
            await self._client.send("DELETE", f"{CRDS}/{name}")
        for crd in kept:
            await self._until_served(crd, served=False)
        try:
            yield
        finally:
            for crd in kept:
                body = {**crd, "metadata": {"name": crd["metadata"]["name"]}, "status": {}}
                await self._client.send("POST", CRDS, None, body)
                await self._until_served(crd, served=True)

    async def _until_served(self, crd: Raw, *, served: bool) -> None:
        """Until the kind's objects can be listed, or no longer."""
        spec = crd["spec"]
        version = spec["versions"][0]["name"]
        path = f"/apis/{spec['group']}/{version}/{spec['names']['plural']}"
        end = time.monotonic() + CRD_SECONDS
        while await self._is_served(path) is not served:
            if time.monotonic() > end:
                raise TimeoutError(f"{path}: served is not {served} in {CRD_SECONDS} s")
            await asyncio.sleep(0.05)

    async def _is_served(self, path: str) -> bool:
        try:
            await self._client.get(path)
        except Answered:
            return False
        return True

    async def events(self, ref: Ref) -> list[Raw]:
        """Events about an object."""
        return [item for item in await self.all_events() if _regards(item, ref)]

    async def all_events(self) -> list[Raw]:
        """Every event of the cluster."""
        path = "/apis/events.k8s.io/v1/events"
        return [item async for items, _ in self._client.pages(path) for item in items]

    async def _list(self, kind: Kind) -> list[Raw]:
        resource = kinds.BY_IDENTITY[kind]
        version = resource.versions[0]
        head = {"apiVersion": resource.api_version(version), "kind": resource.kind}
        path = resource.path(version)
        try:
            return [
                without_allocated({**head, **item})
                async for items, _ in self._client.pages(path)
                for item in items
            ]
        except Answered as answered:
            if answered.status == answers.NOT_FOUND:
                return []
            raise

    async def _delete(self, ref: Ref) -> None:
        resource = kinds.BY_IDENTITY[ref.group, ref.kind]
        path = f"{resource.path(resource.versions[0], ref.namespace)}/{ref.name}"
        try:
            await self._client.send("DELETE", path, {"propagationPolicy": "Background"})
        except Answered as answered:
            if answered.status != answers.NOT_FOUND:
                raise


def collection(obj: Raw) -> str:
    """The path of all objects of an object's kind, version and namespace."""
    ref = ref_of(obj)
    version = str(obj["apiVersion"]).rpartition("/")[2]
    return kinds.BY_IDENTITY[ref.group, ref.kind].path(version, ref.namespace)


def without_allocated(obj: Raw) -> Raw:
    """A Service without the address that it was given, and what came with it."""
    if ref_of(obj)[:2] != SERVICE:
        return obj
    spec = {key: value for key, value in (obj.get("spec") or {}).items() if key not in ALLOCATED}
    if spec.get("clusterIP") != "None":
        spec.pop("clusterIP", None)
    for key, value in DEFAULTS.items():
        if spec.get(key) == value:
            del spec[key]
    return {**obj, "spec": spec}


def _told(stored: Any, new: Any) -> Any:
    """A status with what a controller has to tell of it; conditions by their type."""
    if isinstance(stored, Mapping) and isinstance(new, Mapping):
        return {**stored, **{key: _told(stored.get(key), new[key]) for key in new}}
    if isinstance(stored, list) and stored and "type" in stored[0]:
        by_type = {item["type"]: item for item in stored}
        for item in new:
            by_type[item["type"]] = _told(by_type.get(item["type"]), item)
        return [*by_type.values()]
    return new


def _is_owned(obj: Raw) -> bool:
    return bool(obj["metadata"].get("ownerReferences"))


def _fresh(obj: Raw, uids: Mapping[tuple[str, str, str], str]) -> dict[str, Any]:
    """The object as somebody writes it, with its owners' real uids."""
    body = copy.deepcopy(dict(obj))
    meta = body["metadata"]
    for key in GIVEN:
        meta.pop(key, None)
    if ref_of(body)[:2] == SERVICE:
        body["spec"] = _service(body.get("spec") or {})
    for owner in meta.get("ownerReferences") or ():
        place = (owner["kind"], meta.get("namespace", ""), owner["name"])
        owner["uid"] = uids.get(place) or owner.get("uid") or "nobody"
    return body


def _service(spec: Raw) -> dict[str, Any]:
    """A Service that a server takes: its address is the server's, and with one it has a port,
    which some cases leave out because nothing depends on it."""
    spec = dict(spec)
    if spec.get("clusterIP") == "None" or spec.get("type") == "ExternalName":
        return spec
    spec.pop("clusterIP", None)
    if not spec.get("ports"):
        spec["ports"] = [{"port": 80, "protocol": "TCP"}]
    return spec


def _is_foreign(obj: Raw) -> bool:
    """The API server's own Service."""
    return ref_of(obj) == Ref("", "Service", "default", "kubernetes")


def _regards(event: Raw, ref: Ref) -> bool:
    regarding = event.get("regarding") or {}
    return (regarding.get("kind"), regarding.get("name")) == (ref.kind, ref.name)
