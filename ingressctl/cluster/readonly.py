"""A cluster's objects, read once: GET and LIST only, in pages.

A kind that the cluster does not serve is absent; one that may not be listed is named, and the
rest is answered all the same. Nothing is ever written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
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


@dataclass(frozen=True, slots=True)
class Question:
    """A kind to list, everywhere or in some namespaces."""

    resource: Resource
    namespaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """Objects, kinds that are not served, kinds that may not be listed with the reason."""

    objects: tuple[Raw, ...]
    absent: frozenset[Kind]
    refused: tuple[tuple[Resource, str], ...]
    namespace: str
    host: str


class _Status(Exception):
    """The API server answered with another status than 200."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def _passes(fault: BaseException) -> bool:
    return isinstance(fault, _Status) and fault.status in PASSING


def read(questions: Iterable[Question], choice: Choice, *, seconds: float | None) -> Answer:
    """The answers to all questions, within `seconds` in all (None: no limit).

    Raises Unusable when the cluster cannot be reached or knows nobody by our credentials.
    """
    return asyncio.run(_read(tuple(questions), choice, seconds))


async def _read(questions: tuple[Question, ...], choice: Choice, seconds: float | None) -> Answer:
    connection = await connect(choice)
    host = str(connection.configuration.host)
    try:
        async with asyncio.timeout(seconds):
            return await _ask(questions, choice, connection)
    except TimeoutError:
        raise Unusable(f"the cluster at {host} did not answer within {seconds:g} s") from None
    except (aiohttp.ClientError, OSError) as fault:
        raise Unusable(f"the cluster at {host} cannot be reached: {_told(fault)}") from None
    except _Status as fault:
        raise Unusable(f"the cluster at {host} answers {fault.status}: {fault.message}") from None


def _told(fault: Exception) -> str:
    reason = getattr(fault, "os_error", None) or fault
    text = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return str(text)


async def _ask(questions: tuple[Question, ...], choice: Choice, connection: Connection) -> Answer:
    async with ApiClient(configuration=connection.configuration) as client:
        reader = _Reader(client, choice)
        served = await reader.served()
        limit = asyncio.Semaphore(AT_ONCE)

        async def one(question: Question) -> list[Raw] | _Status:
            async with limit:
                return await reader.answer(question, served)

        answers = await asyncio.gather(*(one(question) for question in questions))
    pairs = tuple(zip(questions, answers, strict=True))
    for _, found in pairs:
        if isinstance(found, _Status) and found.status not in (FORBIDDEN, NOT_FOUND):
            raise found
    return Answer(
        tuple(obj for _, found in pairs if isinstance(found, list) for obj in found),
        frozenset(asked.resource.identity for asked, found in pairs if _is(found, NOT_FOUND)),
        tuple(
            (asked.resource, found.message)
            for asked, found in pairs
            if isinstance(found, _Status) and found.status == FORBIDDEN
        ),
        connection.namespace,
        str(connection.configuration.host),
    )


def _is(found: list[Raw] | _Status, status: int) -> bool:
    return isinstance(found, _Status) and found.status == status


class _Reader:
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
        except _Status as fault:
            if fault.status == FORBIDDEN:
                return None
            raise
        return {
            group["name"]: frozenset(version["version"] for version in group["versions"])
            for group in body.get("groups") or ()
        }

    async def answer(
        self, question: Question, served: Mapping[str, frozenset[str]] | None
    ) -> list[Raw] | _Status:
        """All objects that a question asks for, or the status that stands in the way."""
        resource = question.resource
        version = _version(resource, served)
        if not version:
            return _Status(NOT_FOUND, "not served")
        root = f"/apis/{resource.group}/{version}" if resource.group else f"/api/{version}"
        paths = [
            f"{root}/namespaces/{namespace}/{resource.plural}" for namespace in question.namespaces
        ] or [f"{root}/{resource.plural}"]
        api_version = f"{resource.group}/{version}" if resource.group else version
        try:
            pages = [item for path in paths for item in await self._list(path)]
        except _Status as fault:
            return fault
        head = {"apiVersion": api_version, "kind": resource.kind}
        return [{**head, **item} for item in pages]

    async def _list(self, path: str) -> list[dict[str, Any]]:
        """Every page; a list that expired under way is begun again once."""
        try:
            return await self._pages(path)
        except _Status as fault:
            if fault.status != GONE:
                raise
            return await self._pages(path)

    async def _pages(self, path: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        query: dict[str, str] = {"limit": str(PAGE)}
        while True:
            body = await self._get(path, query)
            found.extend(body.get("items") or ())
            token = (body.get("metadata") or {}).get("continue")
            if not token:
                return found
            query["continue"] = token

    @tenacity.retry(
        retry=tenacity.retry_if_exception(_passes),
        wait=tenacity.wait_exponential_jitter(multiplier=0.1, max=2, jitter=0.1),
        stop=tenacity.stop_after_attempt(ATTEMPTS),
        reraise=True,
    )
    async def _get(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        """One GET, asked again while the answer is one that passes."""
        headers: dict[str, str] = {"Accept": "application/json", **self._choice.headers()}
        await self._client.update_params_for_auth(headers, [], ["BearerToken"], path, "GET", None)
        configuration = self._client.configuration
        url = f"{configuration.host}{path}{'?' if query else ''}{urlencode(query)}"
        pairs = [*headers.items(), *self._choice.group_headers()]
        async with self._session.get(url, headers=pairs, proxy=configuration.proxy) as answer:
            data = await answer.read()
            if answer.status != 200:
                raise _Status(answer.status, _message(data, answer.reason or ""))
            return _decoded(data)


def _decoded(data: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise _Status(200, "what came is not JSON, so this is no API server") from None
    if not isinstance(value, dict):
        raise _Status(200, "what came is no object, so this is no API server")
    return value


def _message(data: bytes, reason: str) -> str:
    try:
        body = orjson.loads(data)
    except orjson.JSONDecodeError:
        return reason
    message = body.get("message") if isinstance(body, dict) else None
    return str(message or reason)


def _version(resource: Resource, served: Mapping[str, frozenset[str]] | None) -> str:
    """The first of our versions that is served; "" if none is."""
    if not resource.group or served is None:
        return resource.versions[0]
    offered = served.get(resource.group, frozenset())
    return next((version for version in resource.versions if version in offered), "")
