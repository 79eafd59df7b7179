"""GETs of a cluster: lists in pages, and streams that are still to be read. Nothing is written."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode

import aiohttp
import orjson
import tenacity
from kubernetes.aio.client.api_client import ApiClient

from ingressctl.api.refs import Raw
from ingressctl.cluster import answers
from ingressctl.cluster.answers import FORBIDDEN, GONE, Answered
from ingressctl.cluster.connection import Choice
from ingressctl.plan.kinds import Resource

PAGE = 500
PASSING = frozenset({429, 502, 503, 504})
"""What an API server answers for a moment: under load, at its start, after CRDs are made."""
ATTEMPTS = 6


def _passes(fault: BaseException) -> bool:
    return isinstance(fault, Answered) and fault.status in PASSING


class Reader:
    """GETs over the official client's session, decoded here."""

    def __init__(self, client: ApiClient, choice: Choice) -> None:
        self._client = client
        self._choice = choice
        self._session = client.rest_client._create_pool_manager()
        client.rest_client.pool_manager = self._session

    async def served(self) -> Mapping[str, frozenset[str]] | None:
        """Versions by group; None if discovery is forbidden, which is rare."""
        try:
            body = await self._get("/apis", {})
        except Answered as fault:
            if fault.status == FORBIDDEN:
                return None
            raise
        return {
            group["name"]: frozenset(version["version"] for version in group["versions"])
            for group in body.get("groups") or ()
        }

    async def all_of(self, resource: Resource, version: str, namespace: str) -> list[Raw]:
        """The objects of a kind in a namespace, "" for every one. Raises Answered."""
        return (await self.snapshot(resource, version, namespace))[0]

    async def snapshot(
        self, resource: Resource, version: str, namespace: str
    ) -> tuple[list[Raw], str]:
        """As `all_of`, with the resourceVersion to watch from. Raises Answered."""
        items, at = await self._list(resource.path(version, namespace))
        head = {"apiVersion": resource.api_version(version), "kind": resource.kind}
        return [{**head, **item} for item in items], at

    async def _list(self, path: str) -> tuple[list[dict[str, Any]], str]:
        """Every page; a list that expired under way is begun again once."""
        try:
            return await self._pages(path)
        except Answered as fault:
            if fault.status != GONE:
                raise
            return await self._pages(path)

    async def _pages(self, path: str) -> tuple[list[dict[str, Any]], str]:
        found: list[dict[str, Any]] = []
        query: dict[str, str] = {"limit": str(PAGE)}
        while True:
            body = await self._get(path, query)
            found.extend(body.get("items") or ())
            metadata = body.get("metadata") or {}
            if not metadata.get("continue"):
                return found, str(metadata.get("resourceVersion") or "")
            query["continue"] = metadata["continue"]

    @tenacity.retry(
        retry=tenacity.retry_if_exception(_passes),
        wait=tenacity.wait_exponential_jitter(multiplier=0.1, max=2, jitter=0.1),
        stop=tenacity.stop_after_attempt(ATTEMPTS),
        reraise=True,
    )
    async def _get(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        """One GET, asked again while the answer is one that passes."""
        async with self.open(path, query) as answer:
            return _decoded(await answer.read())

    @asynccontextmanager
    async def open(
        self, path: str, query: Mapping[str, str], *, timeout: float | None = None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """One GET whose body is still to be read. `timeout`: of each piece. Raises Answered."""
        headers: dict[str, str] = {"Accept": "application/json", **self._choice.headers()}
        await self._client.update_params_for_auth(headers, [], ["BearerToken"], path, "GET", None)
        configuration = self._client.configuration
        url = f"{configuration.host}{path}{'?' if query else ''}{urlencode(query)}"
        pairs = [*headers.items(), *self._choice.group_headers()]
        limit = aiohttp.ClientTimeout(total=None, sock_read=timeout)
        async with self._session.get(
            url, headers=pairs, proxy=configuration.proxy, timeout=limit
        ) as answer:
            if answer.status != 200:
                data = await answer.read()
                raise answers.of(answer.status, answer.headers, data, answer.reason or "")
            yield answer


def _decoded(data: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise Answered(200, "what came is not JSON, so this is no API server") from None
    if not isinstance(value, dict):
        raise Answered(200, "what came is no object, so this is no API server")
    return value


def version_of(resource: Resource, served: Mapping[str, frozenset[str]] | None) -> str:
    """The first of our versions that is served; "" if none is."""
    if not resource.group or served is None:
        return resource.versions[0]
    offered = served.get(resource.group, frozenset())
    return next((version for version in resource.versions if version in offered), "")
