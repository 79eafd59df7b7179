"""Requests to an API server over the official client's session, decoded by orjson.

The official package gives configuration, credentials and TLS; its typed calls cost twenty
times the CPU of the request itself (measured), so URLs and bodies are made here. Every
failure is an `Answered`, or a `Lost` when no answer came.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any
from urllib.parse import quote, urlencode

import aiohttp
import orjson
from kubernetes.aio.client.api_client import ApiClient
from kubernetes.aio.config.config_exception import ConfigException

from ingressctl.api.refs import Raw
from ingressctl.cluster import answers, decoding
from ingressctl.cluster.answers import Answered
from ingressctl.cluster.connection import Choice, Unusable, connect

PAGE = 500
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
JSON = "application/json"
RELOAD_EVERY = 10.0
"""Seconds between two readings of the credentials after the server did not know us."""

CLOCK_EVERY = 30.0
"""Seconds between two looks at the server's clock."""

Observer = Callable[[str, str, int], None]
"""Told of every request: verb, path, and status (0: no answer)."""


class Lost(Exception):
    """No answer came: refused, cut, or too late. The message is for people."""


_LOST = (aiohttp.ClientError, TimeoutError, OSError, RuntimeError)
"""What ends a request without an answer; aiohttp has a RuntimeError for a body whose connection
went between two reads."""


class Client:
    """One session to one API server. Use as an async context manager.

    `seconds` bounds a single request, a watch aside. `observe` hears of every request.
    """

    def __init__(
        self, choice: Choice, *, seconds: float = 30.0, observe: Observer | None = None
    ) -> None:
        self._choice = choice
        self._seconds = aiohttp.ClientTimeout(total=seconds)
        self.observe = observe or _nobody
        self._loaded = -RELOAD_EVERY
        self._loading = asyncio.Lock()
        self._clock_due = 0.0
        self._ahead = timedelta()
        self.host = ""
        self.namespace = ""

    async def __aenter__(self) -> Client:
        connection = await connect(self._choice)
        configuration = connection.configuration
        # Proxy variables and netrc are read at every request otherwise: half of its CPU.
        configuration.client_session_kwargs = {"trust_env": False}
        configuration.connection_pool_maxsize = 0
        self.host, self.namespace = str(configuration.host), connection.namespace
        self._api = ApiClient(configuration=configuration)
        self._session = self._api.rest_client._create_pool_manager()
        self._api.rest_client.pool_manager = self._session
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._api.close()

    def now(self) -> datetime:
        """The time as the server has it: its times in objects are compared with this one.

        Answers tell whole seconds, so it may be a second behind and is never ahead.
        """
        return datetime.now(UTC) + self._ahead

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> Raw:
        """One object. Raises Answered, Lost."""
        return await self.send("GET", path, query)

    async def pages(
        self, path: str, query: Mapping[str, str] | None = None
    ) -> AsyncIterator[tuple[list[dict[str, Any]], str]]:
        """The items of each page of a list, and the resourceVersion of the list."""
        asked = {"limit": str(PAGE), **(query or {})}
        while True:
            body = await self.send("GET", path, asked)
            meta = body.get("metadata") or {}
            yield body.get("items") or [], str(meta.get("resourceVersion") or "")
            if not meta.get("continue"):
                return
            asked["continue"] = str(meta["continue"])

    async def send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = JSON,
    ) -> dict[str, Any]:
        """One request and its object. Raises Answered, Lost."""
        data = None if body is None else orjson.dumps(body)
        for attempt in (1, 2):
            asked = time.monotonic()
            try:
                return await self._send(method, path, query, data, content_type)
            except Answered as answered:
                if answered.status != answers.UNAUTHORIZED or attempt == 2:
                    raise
                if not await self._reload(asked):
                    raise
        raise AssertionError("the second attempt returns or raises")

    async def watch(
        self, path: str, query: Mapping[str, str], *, silence: float
    ) -> AsyncGenerator[bytes, None]:
        """The lines of a watch, until the server ends it or is silent for `silence` seconds.

        Raises Answered, Lost. An end between two lines is no fault; half a line is left out.
        """
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=10.0, sock_read=silence)
        url = self._url(path, {**query, "watch": "true"})
        headers = await self._headers("GET", path, "")
        try:
            async with self._session.get(
                url, headers=headers, timeout=timeout, proxy=self._proxy
            ) as answer:
                self.observe("watch", path, answer.status)
                if answer.status != 200:
                    data = await answer.read()
                    raise answers.of(answer.status, answer.headers, data, answer.reason or "")
                async for line in decoding.lines(answer.content):
                    yield line
        except _LOST as fault:
            raise Lost(answers.told(fault)) from None

    @property
    def _proxy(self) -> Any:
        return self._api.configuration.proxy

    async def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        data: bytes | None,
        content_type: str,
    ) -> dict[str, Any]:
        url = self._url(path, query)
        headers = await self._headers(method, path, content_type if data is not None else "")
        try:
            async with self._session.request(
                method, url, headers=headers, data=data, timeout=self._seconds, proxy=self._proxy
            ) as answer:
                raw = await answer.read()
                self.observe(method, path, answer.status)
                self._set_clock(answer.headers.get("Date"))
                if answer.status >= 300:
                    raise answers.of(answer.status, answer.headers, raw, answer.reason or "")
                return _decoded(raw)
        except _LOST as fault:
            self.observe(method, path, 0)
            raise Lost(answers.told(fault)) from None

    def _url(self, path: str, query: Mapping[str, str] | None) -> str:
        asked = f"?{urlencode(query)}" if query else ""
        return f"{self.host}{quote(path)}{asked}"

    def _set_clock(self, date: str | None) -> None:
        """Once in a while see how far the server's clock is ahead of ours."""
        if date is None or time.monotonic() < self._clock_due:
            return
        self._clock_due = time.monotonic() + CLOCK_EVERY
        with contextlib.suppress(ValueError):
            self._ahead = parsedate_to_datetime(date) - datetime.now(UTC)

    async def _headers(self, method: str, path: str, content_type: str) -> list[tuple[str, str]]:
        headers: dict[str, str] = {"Accept": JSON, **self._choice.headers()}
        if content_type:
            headers["Content-Type"] = content_type
        try:
            await self._api.update_params_for_auth(headers, [], ["BearerToken"], path, method, None)
        except (ConfigException, OSError) as fault:  # files are read again, maybe in their change
            raise Lost(f"the credentials cannot be read: {fault}") from None
        return [*headers.items(), *self._choice.group_headers()]

    async def _reload(self, asked: float) -> bool:
        """Read the credentials again, for they may have been rotated; not all the time.

        Whoever `asked` with older ones than are there now has only to ask again.
        """
        async with self._loading:
            if self._loaded > asked:
                return True
            if time.monotonic() - self._loaded < RELOAD_EVERY:
                return False
            try:
                fresh = (await connect(self._choice)).configuration
            except Unusable:
                return False
            finally:
                self._loaded = time.monotonic()
            configuration = self._api.configuration
            configuration.api_key = fresh.api_key
            configuration.api_key_prefix = fresh.api_key_prefix
            return True


async def wait(seconds: float, ended: asyncio.Event) -> bool:
    """Sleep, but not beyond `ended`; whether it is over."""
    try:
        await asyncio.wait_for(ended.wait(), seconds)
    except TimeoutError:
        return False
    return True


def _nobody(verb: str, path: str, status: int) -> None:
    """Nobody listens."""


def _decoded(raw: bytes) -> dict[str, Any]:
    try:
        value = decoding.body(raw)
    except ValueError:
        raise Lost("half an answer came, or no JSON") from None
    if not isinstance(value, dict):
        raise Lost("what came is no object, so this is no API server")
    return value
