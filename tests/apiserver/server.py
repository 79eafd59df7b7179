"""The server itself: paths and verbs over `store`, in the loop of a test.

What tests steer: `refuse` verbs, take kinds away or bring them, `compact` the history, cut or
stall watches, put `faults` before single answers; `counts` and `log` tell what was asked.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import yaml
from aiohttp import web

from tests.apiserver import applying, table
from tests.apiserver.asking import Asking
from tests.apiserver.statuses import Refused, status
from tests.apiserver.store import Key, Objects, key_of
from tests.apiserver.table import Kind, Place
from tests.apiserver.watching import Watches

PAGE = 500
WRITES = frozenset({"create", "update", "patch", "delete"})


class Asked(NamedTuple):
    """One request: who, what, and what it was answered."""

    user: str
    verb: str
    plural: str
    name: str
    status: int
    at: float
    manager: str = ""
    namespace: str = ""


class ApiServer:
    """Use as an async context manager. `absent` kinds are served only after `bring`."""

    def __init__(self, *, absent: tuple[Place, ...] = (), bookmarks: float = 0.2) -> None:
        self.objects = Objects()
        self.watches = Watches(self.objects, bookmarks=bookmarks)
        self.absent = set(absent)
        self.versions: dict[str, tuple[str, ...]] = {}
        """The versions of a group, where they are not all."""
        self.forbidden: set[tuple[str, str]] = set()
        """(verb, plural) pairs that are refused with 403; "*" is any."""
        self.only_in = ""
        """Nothing may be asked outside of this namespace."""
        self.tokens: set[str] = set()
        """Tokens that are known; empty: anybody."""
        self.faults: list[Callable[[str, str], web.StreamResponse | None]] = []
        """Asked with verb and plural before an answer is made; what they return is sent."""
        self.log: list[Asked] = []
        self.page = PAGE
        self.url = ""
        self._going = asyncio.Event()
        self._going.set()
        self._waiting: list[tuple[str, str]] = []
        self._pages: dict[str, tuple[int, list[dict[str, Any]]]] = {}

    async def __aenter__(self) -> ApiServer:
        app = web.Application(client_max_size=1 << 26)
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(
            app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.resume()
        self.watches.cut()
        await self._runner.cleanup()

    @property
    def counts(self) -> Counter[tuple[str, str]]:
        """Requests by verb and plural."""
        return Counter((asked.verb, asked.plural) for asked in self.log)

    @property
    def written(self) -> list[Asked]:
        """Writes, leases and events aside."""
        aside = ("leases", "events")
        return [asked for asked in self.log if asked.verb in WRITES and asked.plural not in aside]

    def refused(self, verb: str, plural: str) -> int:
        """Requests of that sort that were refused so far."""
        mine = (asked for asked in self.log if (asked.verb, asked.plural) == (verb, plural))
        return sum(asked.status >= 400 for asked in mine)

    @property
    def places(self) -> set[str]:
        """Namespaces that were asked about; "" stands for all of them."""
        return {asked.namespace for asked in self.log if asked.verb != "discover"}

    @property
    def work(self) -> int:
        """Requests so far, those for leases aside: they never end."""
        return sum(asked.plural != "leases" for asked in self.log)

    def put(self, *objects: dict[str, Any], manager: str = "kubectl") -> None:
        """Have objects as they are given, made or changed by a person; a status counts too."""
        for given in objects:
            kind, key, obj = table.of(given), key_of(given), json.loads(json.dumps(given))
            if self.objects.find(key) is None:
                self.objects.create(kind, obj, manager)
            else:
                self.objects.update(kind, key, {**self.objects.get(key), **obj}, manager, "")
            if "status" in given:
                self.objects.update(kind, key, {"status": obj["status"]}, manager, "status")

    def patch(self, kind: str, name: str, patch: dict[str, Any], **more: str) -> None:
        """A person's merge patch; `namespace`, `manager`, `subresource` by name."""
        found, key = self._named(kind, name, more.get("namespace", "team-a"))
        made = applying.merged(self.objects.get(key), patch)
        manager, subresource = more.get("manager", "kubectl"), more.get("subresource", "")
        made["metadata"].pop("resourceVersion", None)
        self.objects.update(found, key, made, manager, subresource)

    def get(self, kind: str, name: str, namespace: str = "team-a") -> dict[str, Any] | None:
        """One object; None if there is none."""
        return self.objects.find(self._named(kind, name, namespace)[1])

    def delete(self, kind: str, name: str, namespace: str = "team-a") -> None:
        """As a person does."""
        self.objects.delete(self._named(kind, name, namespace)[1], {})

    def bring(self, *places: Place) -> None:
        """CRDs are made."""
        self.absent -= set(places)

    def take(self, *places: Place) -> None:
        """CRDs are deleted, and their objects with them."""
        self.objects.vanish(places)
        self.absent |= set(places)
        self.watches.cut(places)

    def kubeconfig(self, path: Path, *, token: str = "secret", url: str = "") -> Path:
        """A file that leads here, or to `url` before it."""
        context = {"cluster": "here", "user": "me", "namespace": "kserve"}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "one",
            "clusters": [{"name": "here", "cluster": {"server": url or self.url}}],
            "users": [{"name": "me", "user": {"token": token}}],
            "contexts": [{"name": "one", "context": context}],
        }
        path.write_text(yaml.safe_dump(config))
        return path

    def pause(self) -> None:
        """No answer comes any more; what is asked waits, or its asker goes."""
        self._going.clear()

    def waiting(self, verb: str, plural: str) -> int:
        """Requests that wait for an answer while the server is paused."""
        return self._waiting.count((verb, plural))

    def resume(self) -> None:
        """Answers come again, late ones too."""
        self._going.set()

    def _named(self, kind: str, name: str, namespace: str) -> tuple[Kind, Key]:
        """The first kind of that name; ``plural.group`` names one exactly."""
        found = next(
            item
            for item in table.EVERY
            if kind in (item.kind, item.plural, f"{item.plural}.{item.group}")
        )
        return found, (found.place, namespace if found.namespaced else "", name)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        asking = Asking(request)
        self._waiting.append((asking.verb, asking.plural))
        try:
            await self._going.wait()
        finally:
            self._waiting.remove((asking.verb, asking.plural))
        answer = await self._guarded(asking)
        user = request.headers.get("Authorization", "").rpartition(" ")[2]
        at = asyncio.get_running_loop().time()
        manager = request.query.get("fieldManager", "")
        what = (asking.verb, asking.plural, asking.name)
        self.log.append(Asked(user, *what, answer.status, at, manager, asking.namespace))
        if asking.verb == "watch" and answer.status == 200:
            return await self.watches.serve(asking, answer)
        return answer

    async def _guarded(self, asking: Asking) -> web.StreamResponse:
        try:
            for fault in self.faults:
                if (instead := fault(asking.verb, asking.plural)) is not None:
                    return instead
            self._allow(asking)
            return await _VERBS[asking.verb](self, asking)
        except Refused as refused:
            return web.json_response(refused.body, status=refused.code)

    def _allow(self, asking: Asking) -> None:
        token = asking.request.headers.get("Authorization", "").rpartition(" ")[2]
        if self.tokens and token not in self.tokens:
            raise Refused(401, "Unauthorized")
        if asking.verb == "discover":
            return
        pairs = {(asking.verb, asking.plural), ("*", asking.plural), (asking.verb, "*")}
        if pairs & self.forbidden or (self.only_in and asking.namespace != self.only_in):
            raise Refused(403, f"{asking.plural} is forbidden: cannot {asking.verb}")

    def _versions(self, kind: Kind) -> tuple[str, ...]:
        return () if kind.place in self.absent else self.versions.get(kind.group, kind.versions)

    def _kind(self, asking: Asking) -> Kind:
        kind = table.BY_PLACE.get(asking.place)
        if kind is None or asking.version not in self._versions(kind):
            raise Refused(404, "the server could not find the requested resource")
        return kind

    async def discover(self, asking: Asking) -> web.StreamResponse:
        served = (kind._replace(versions=self._versions(kind)) for kind in table.EVERY)
        found = table.groups(kind for kind in served if kind.versions)
        if not asking.group:
            return web.json_response({"groups": [_group(*item) for item in found.items()]})
        if asking.group not in found:
            raise Refused(404, "the server could not find the requested resource")
        return web.json_response(_group(asking.group, found[asking.group]))

    async def list(self, asking: Asking) -> web.StreamResponse:
        self._kind(asking)
        found, version = self.objects.select(asking.place, asking.namespace), self.objects.version
        if token := asking.request.query.get("continue"):
            version, found = self._pages.pop(token, (0, []))
            if version <= self.objects.oldest:
                raise Refused(410, "the provided continue parameter is too old")
        end = min(self.page, int(asking.request.query.get("limit") or PAGE))
        meta = {"resourceVersion": str(version)}
        if end < len(found):
            meta["continue"] = f"{version}:{len(self.log)}"
            self._pages[meta["continue"]] = (version, found[end:])
        items = [asking.served(obj) for obj in found[:end]]
        return web.json_response({"kind": "List", "metadata": meta, "items": items})

    async def watch(self, asking: Asking) -> web.StreamResponse:
        self._kind(asking)
        if int(asking.request.query.get("resourceVersion") or 0) < self.objects.oldest:
            raise Refused(410, "too old resource version")
        return web.StreamResponse()

    async def read(self, asking: Asking) -> web.StreamResponse:
        self._kind(asking)
        return web.json_response(asking.served(self.objects.get(asking.key)))

    async def create(self, asking: Asking) -> web.StreamResponse:
        kind, obj = self._kind(asking), await asking.body()
        obj.setdefault("metadata", {}).setdefault("namespace", asking.namespace)
        return web.json_response(self.objects.create(kind, obj, asking.manager), status=201)

    async def update(self, asking: Asking) -> web.StreamResponse:
        kind, obj = self._kind(asking), await asking.body()
        made = self.objects.update(kind, asking.key, obj, asking.manager, asking.subresource)
        return web.json_response(asking.served(made))

    async def change(self, asking: Asking) -> web.StreamResponse:
        kind, patch = self._kind(asking), await asking.body()
        if "apply-patch" in asking.request.content_type:
            force = asking.request.query.get("force") == "true"
            made, new = self.objects.apply(kind, asking.key, patch, asking.manager, force=force)
            return web.json_response(asking.served(made), status=201 if new else 200)
        stored = self.objects.get(asking.key)
        given = patch.get("metadata") or {}
        made = applying.merged(stored, patch)
        made["metadata"]["resourceVersion"] = given.get("resourceVersion")
        made = self.objects.update(kind, asking.key, made, asking.manager, asking.subresource)
        return web.json_response(asking.served(made))

    async def remove(self, asking: Asking) -> web.StreamResponse:
        self._kind(asking)
        options = await asking.body() if asking.request.can_read_body else {}
        self.objects.delete(asking.key, options.get("preconditions") or {})
        return web.json_response({"kind": "Status", "status": "Success"})


_VERBS: dict[str, Callable[[ApiServer, Asking], Awaitable[web.StreamResponse]]] = {
    "discover": ApiServer.discover,
    "list": ApiServer.list,
    "watch": ApiServer.watch,
    "get": ApiServer.read,
    "create": ApiServer.create,
    "update": ApiServer.update,
    "patch": ApiServer.change,
    "delete": ApiServer.remove,
}


def _group(name: str, versions: list[str]) -> dict[str, Any]:
    return {
        "kind": "APIGroup",
        "name": name,
        "versions": [{"groupVersion": f"{name}/{it}", "version": it} for it in versions],
    }


def too_many(seconds: int = 1) -> web.Response:
    """As a server under load answers."""
    body = status(429, "too many requests, please try again later")
    return web.json_response(body, status=429, headers={"Retry-After": str(seconds)})
