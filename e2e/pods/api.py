"""The few requests a kubelet makes of the API server, in plain JSON.

A followed list is given as a whole after every change: who reads it compares with what is
there, so that a lost or doubled event means nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import aiohttp

from ingressctl.cluster import connection

DEADLINE = 10
WATCH_SECONDS = 300
PAUSE = 0.2
LINE_BYTES = 16 * 1024 * 1024

Object = dict[str, Any]
Objects = dict[tuple[str, str], Object]


class Refused(Exception):
    """The API server said no."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"{status}: {reason}")
        self.status = status


# What any request may end with; whoever can, tries again.
FAULTS = (Refused, aiohttp.ClientError, TimeoutError)


class Client:
    """An open session with the API server."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def get(self, path: str) -> Object:
        """One object. Raises Refused."""
        return await self._ask("GET", path)

    async def create(self, path: str, body: Object) -> Object:
        """A new object. Raises Refused."""
        return await self._ask("POST", path, body)

    async def patch(self, path: str, body: Object) -> Object:
        """A strategic merge: lists of things with keys are merged. Raises Refused."""
        return await self._ask("PATCH", path, body, "application/strategic-merge-patch+json")

    async def merge(self, path: str, body: Object) -> Object:
        """A merge, for kinds of which the API server knows no keys. Raises Refused."""
        return await self._ask("PATCH", path, body, "application/merge-patch+json")

    async def delete(self, path: str, body: Object) -> Object:
        """Delete with options. Raises Refused."""
        return await self._ask("DELETE", path, body)

    async def follow(self, path: str) -> AsyncIterator[Objects]:
        """The list now and after each change, for ever."""
        while True:
            with contextlib.suppress(*FAULTS):
                listed = await self.get(path)
                objects = {_key(one): one for one in listed.get("items") or ()}
                yield objects
                async for event in self._watch(path, listed["metadata"]["resourceVersion"]):
                    _apply(objects, event)
                    yield objects
            await asyncio.sleep(PAUSE)

    async def _watch(self, path: str, version: str) -> AsyncIterator[Object]:
        """Events since a version. Ends when the list has to be read again."""
        query = {"watch": "1", "timeoutSeconds": str(WATCH_SECONDS), "resourceVersion": version}
        timeout = aiohttp.ClientTimeout(total=WATCH_SECONDS + DEADLINE)
        async with self._session.get(path, params=query, timeout=timeout) as response:
            if response.status >= 400:
                return
            async for line in response.content:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    return  # most often 410: the version is too old
                yield event

    async def _ask(
        self, method: str, path: str, body: Object | None = None, kind: str = "application/json"
    ) -> Object:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": kind}
        async with self._session.request(method, path, data=data, headers=headers) as response:
            answer = await response.json(content_type=None)
            if response.status >= 400:
                raise Refused(response.status, str((answer or {}).get("message", "")))
            return dict(answer)


@contextlib.asynccontextmanager
async def connect(kubeconfig: Path) -> AsyncIterator[Client]:
    """A session as the kubeconfig says. Raises connection.Unusable."""
    found = await connection.connect(connection.Choice(kubeconfig=str(kubeconfig)))
    settings = found.configuration
    secure = ssl.create_default_context(cafile=settings.ssl_ca_cert)
    if settings.cert_file:
        secure.load_cert_chain(settings.cert_file, settings.key_file)
    async with aiohttp.ClientSession(
        settings.host,
        connector=aiohttp.TCPConnector(ssl=secure, limit=0),
        timeout=aiohttp.ClientTimeout(total=DEADLINE),
        read_bufsize=LINE_BYTES,
    ) as session:
        yield Client(session)


def _key(obj: Mapping[str, Any]) -> tuple[str, str]:
    meta = obj["metadata"]
    return meta.get("namespace", ""), meta["name"]


def _apply(objects: Objects, event: Mapping[str, Any]) -> None:
    key = _key(event["object"])
    if event["type"] == "DELETED":
        objects.pop(key, None)
    else:
        objects[key] = event["object"]
