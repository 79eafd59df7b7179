"""A cluster's objects, read once: GET and LIST only, in pages.

A kind that the cluster does not serve is absent; one that may not be listed is named, and the
rest is answered all the same. Nothing is ever written.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import aiohttp
import orjson
import tenacity
from kubernetes.aio.client.api_client import ApiClient

from ingressctl.api.refs import Kind, Raw
from ingressctl.cluster.connection import Choice, Connection, Unusable, connect
from ingressctl.plan.kinds import Resource

PAGE = 500
AT_ONCE = 8
GONE, FORBIDDEN, UNAUTHORIZED, NOT_FOUND = 410, 403, 401, 404
PASSING = frozenset({429, 502, 503, 504})
"""What an API server answers for a moment: under load, at its start, after CRDs are made."""
ATTEMPTS = 6


HOME = "."
"""Stands for the namespace that a person chose, else that of the context; no name is so."""


@dataclass(frozen=True, slots=True)
class Question:
    """A kind to list, everywhere or in some namespaces (`HOME` among them)."""

    resource: Resource
    namespaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """A list that may not be read (or watched): of a namespace, or "" for all of them.

    `instead` is the namespace that was read in place of all, "" where none could be.
    """

    resource: Resource
    namespace: str
    reason: str
    instead: str = ""
    verb: str = "list"


@dataclass(frozen=True, slots=True)
class Answer:
    """Objects, kinds that are not served, lists that may not be read."""

    objects: tuple[Raw, ...]
    absent: frozenset[Kind]
    refused: tuple[Refused, ...]
    namespace: str
    host: str


@dataclass(frozen=True, slots=True)
class Found:
    """What one question found: objects, and what of it may not be read."""

    objects: tuple[Raw, ...] = ()
    refused: tuple[Refused, ...] = ()
    absent: bool = False


class Status(Exception):
    """The API server answered with another status than 200."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def _passes(fault: BaseException) -> bool:
    return isinstance(fault, Status) and fault.status in PASSING


def read(
    questions: Iterable[Question], choice: Choice, *, seconds: float | None, home: str = ""
) -> Answer:
    """The answers to all questions, within `seconds` in all (None: no limit).

    `home` is the namespace that a person chose. Who may not list a kind everywhere gets what
    is there.

    Raises Unusable when the cluster cannot be reached or knows nobody by our credentials.
    """
    return asyncio.run(_read(tuple(questions), choice, seconds, home))


async def _read(
    questions: tuple[Question, ...], choice: Choice, seconds: float | None, home: str
) -> Answer:
    connection = await connect(choice)
    try:
        async with asyncio.timeout(seconds):
            return await _ask(questions, choice, connection, home)
    except TimeoutError:
        host = connection.configuration.host
        raise Unusable(f"the cluster at {host} did not answer within {seconds:g} s") from None
    except (aiohttp.ClientError, OSError, Status) as fault:
        raise unusable(fault, connection) from None


def unusable(fault: Exception, connection: Connection) -> Unusable:
    """What a person is told where a cluster cannot be asked."""
    host = connection.configuration.host
    if isinstance(fault, Status):
        return Unusable(f"the cluster at {host} answers {fault.status}: {fault.message}")
    return Unusable(f"the cluster at {host} cannot be reached: {_told(fault)}")


def _told(fault: Exception) -> str:
    reason = getattr(fault, "os_error", None) or fault
    text = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return str(text)


async def _ask(
    questions: tuple[Question, ...], choice: Choice, connection: Connection, home: str
) -> Answer:
    home = home or connection.namespace or "default"
    async with ApiClient(configuration=connection.configuration) as client:
        reader = Reader(client, choice)
        served = await reader.served()
        limit = asyncio.Semaphore(AT_ONCE)

        async def one(question: Question) -> Found:
            async with limit:
                return await reader.answer(question, served, home)

        tried = await asyncio.gather(*map(one, questions), return_exceptions=True)
    found = tuple(_or_raise(item) for item in tried)
    pairs = tuple(zip(questions, found, strict=True))
    return Answer(
        tuple(obj for item in found for obj in item.objects),
        frozenset(asked.resource.identity for asked, item in pairs if item.absent),
        tuple(refused for item in found for refused in item.refused),
        connection.namespace,
        str(connection.configuration.host),
    )


def _or_raise(item: Found | BaseException) -> Found:
    """What was found. The first fault is told once every question has come to its end."""
    if isinstance(item, BaseException):
        raise item
    return item


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
        except Status as fault:
            if fault.status == FORBIDDEN:
                return None
            raise
        return {
            group["name"]: frozenset(version["version"] for version in group["versions"])
            for group in body.get("groups") or ()
        }

    async def answer(
        self, question: Question, served: Mapping[str, frozenset[str]] | None, home: str
    ) -> Found:
        """All objects that a question asks for, and what stands in the way. Raises Status."""
        resource = question.resource
        version = version_of(resource, served)
        if not version:
            return Found(absent=True)
        spaces = [home if space == HOME else space for space in question.namespaces] or [""]
        objects: list[Raw] = []
        refused: list[Refused] = []
        for space in spaces:
            try:
                objects += await self.all_of(resource, version, space)
            except Status as fault:
                if fault.status == NOT_FOUND:
                    return Found(absent=True)
                if fault.status != FORBIDDEN:
                    raise
                instead = await self._at_home(resource, version, "" if space else home)
                objects += instead or ()
                read = home if instead is not None else ""
                refused.append(Refused(resource, space, fault.message, read))
        return Found(tuple(objects), tuple(refused))

    async def _at_home(self, resource: Resource, version: str, home: str) -> list[Raw] | None:
        """What somebody who may not look everywhere may see at home; None if nothing."""
        if not (home and resource.namespaced):
            return None
        try:
            return await self.all_of(resource, version, home)
        except Status as fault:
            if fault.status != FORBIDDEN:
                raise
            return None

    async def all_of(self, resource: Resource, version: str, namespace: str) -> list[Raw]:
        """The objects of a kind in a namespace, "" for every one. Raises Status."""
        return (await self.snapshot(resource, version, namespace))[0]

    async def snapshot(
        self, resource: Resource, version: str, namespace: str
    ) -> tuple[list[Raw], str]:
        """As `all_of`, with the resourceVersion to watch from. Raises Status."""
        items, at = await self._list(path_of(resource, version, namespace))
        api_version = f"{resource.group}/{version}" if resource.group else version
        head = {"apiVersion": api_version, "kind": resource.kind}
        return [{**head, **item} for item in items], at

    async def _list(self, path: str) -> tuple[list[dict[str, Any]], str]:
        """Every page; a list that expired under way is begun again once."""
        try:
            return await self._pages(path)
        except Status as fault:
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
        """One GET whose body is still to be read. `timeout`: of each piece. Raises Status."""
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
                raise Status(answer.status, _message(await answer.read(), answer.reason or ""))
            yield answer


def _decoded(data: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise Status(200, "what came is not JSON, so this is no API server") from None
    if not isinstance(value, dict):
        raise Status(200, "what came is no object, so this is no API server")
    return value


def _message(data: bytes, reason: str) -> str:
    try:
        body = orjson.loads(data)
    except orjson.JSONDecodeError:
        return reason
    message = body.get("message") if isinstance(body, dict) else None
    return str(message or reason)


def path_of(resource: Resource, version: str, namespace: str) -> str:
    """Where a kind is listed: in a namespace, or everywhere."""
    root = f"/apis/{resource.group}/{version}" if resource.group else f"/api/{version}"
    place = f"/namespaces/{namespace}" if namespace else ""
    return f"{root}{place}/{resource.plural}"


def version_of(resource: Resource, served: Mapping[str, frozenset[str]] | None) -> str:
    """The first of our versions that is served; "" if none is."""
    if not resource.group or served is None:
        return resource.versions[0]
    offered = served.get(resource.group, frozenset())
    return next((version for version in resource.versions if version in offered), "")
