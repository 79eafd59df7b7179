"""Many requests a second to one service: which version answered, and what went wrong.

Requests come at their times whether earlier ones are answered or not, over connections that
stay open. They are POSTs, which no client sends a second time by itself.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import aiohttp

RATE = 200
LONGEST = 30.0
PATH = "/v1/models/m:predict"
BODY = b'{"instances": [1]}'


class Failure(NamedTuple):
    """A request that got no answer, a wrong one, or one of somebody else."""

    second: float
    host: str
    text: str


class Traffic:
    """Requests to `host` at the gateway `address`, from `start` to `stop`.

    `host` and `versions` (those that may answer) are changed while it goes on.
    """

    def __init__(self, address: str, host: str, versions: Iterable[str]) -> None:
        self.host = host
        self.versions = frozenset(versions)
        self.sent = 0
        self.failures: list[Failure] = []
        self._answered: list[str] = []
        self._address = address
        self._began = time.monotonic()
        self._under_way: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """The first requests are under way afterwards."""
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=LONGEST),
        )
        self._sending = asyncio.create_task(self._send())

    async def stop(self) -> None:
        """No more requests; those under way are answered first."""
        self._sending.cancel()
        await asyncio.gather(self._sending, *self._under_way, return_exceptions=True)
        await self._session.close()

    @property
    def answered(self) -> int:
        """How many requests were answered as they should be."""
        return len(self._answered)

    def since(self, count: int) -> Counter[str]:
        """The versions of the answers after the first `count`."""
        return Counter(self._answered[count:])

    async def _send(self) -> None:
        due = time.monotonic()
        while True:
            task = asyncio.create_task(self._one(self.host, self.versions))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)
            due += 1 / RATE
            await asyncio.sleep(max(0.0, due - time.monotonic()))

    async def _one(self, host: str, versions: frozenset[str]) -> None:
        self.sent += 1
        began = time.monotonic() - self._began
        try:
            status, text = await self._ask(host)
            fault = _fault(status, text, host, versions | self.versions)
        except (aiohttp.ClientError, TimeoutError) as error:
            fault = f"{type(error).__name__}: {error}"
        if fault:
            self.failures.append(Failure(round(began, 2), host, fault))
        else:
            self._answered.append(str(json.loads(text)["version"]))

    async def _ask(self, host: str) -> tuple[int, str]:
        url = f"http://{self._address}{PATH}"
        async with self._session.post(url, data=BODY, headers={"Host": host}) as answer:
            return answer.status, await answer.text()


def _fault(status: int, text: str, host: str, versions: frozenset[str]) -> str:
    """Why an answer is none; "" for a good one."""
    if status != 200:
        return f"{status} {text}"
    seen: dict[str, Any] = json.loads(text)
    if seen["host"] != host or seen["path"] != PATH or seen["body"] != BODY.decode():
        return f"somebody else's request was seen: {text}"
    if seen["version"] not in versions:
        return f"{seen['version']} of {seen['pod']} answered instead of {sorted(versions)}"
    return ""
