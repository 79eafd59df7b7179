"""Calls over HTTP/2 cleartext with prior knowledge: many at a time on one connection.

`exchanges.py` has one call, `multiplexing.py` one connection; here are those to one place.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ingressctl.dataplane.router.multiplexing import Multiplexed
from ingressctl.dataplane.router.ports import Answer, Headers, StepFailed, Target

if TYPE_CHECKING:
    from ingressctl.dataplane.router.pool import Pool

CONNECT = 10.0
"""How long a call waits for room on a connection."""


class Group:
    """The connections to one place; another one where none has room."""

    def __init__(self, pool: Pool) -> None:
        self.loop = pool.loop
        self.deadlines = pool.deadlines
        self.limit = pool.limit
        self._pool = pool
        self._connections: list[Multiplexed] = []
        self._connecting: asyncio.Task[None] | None = None
        self._news: asyncio.Future[StepFailed | None] | None = None

    async def call(
        self,
        target: Target,
        headers: Headers,
        body: bytes,
        *,
        until: float | None,
        stream: bool,
        method: bytes,
    ) -> Answer:
        """As ports.Upstream; what was certainly not looked at is sent once more."""
        for last in (False, True):
            connection = await self._with_room(until)
            exchange = connection.ask(
                target, headers, body, until=until, stream=stream, method=method
            )
            try:
                return await exchange.future
            except asyncio.CancelledError:
                exchange.abort()
                raise
            except StepFailed as failed:
                if failed.sent or last:
                    raise
        raise AssertionError

    def leave(self, connection: Multiplexed) -> None:
        """A connection is no more."""
        if connection in self._connections:
            self._connections.remove(connection)

    def close(self) -> None:
        """End everything."""
        if self._connecting is not None:
            self._connecting.cancel()
        self.tell(StepFailed("unreachable", "the router ends", sent=False))
        for connection in tuple(self._connections):
            connection.close()

    def tell(self, failed: StepFailed | None) -> None:
        """There may be room, or what was tried for it has failed."""
        news, self._news = self._news, None
        if news is not None:
            news.set_result(failed)

    async def _with_room(self, until: float | None) -> Multiplexed:
        """Raises StepFailed."""
        last = self.loop.time() + CONNECT
        try:
            async with asyncio.timeout_at(last if until is None else min(last, until)):
                while True:
                    for connection in self._connections:
                        if connection.has_room:
                            return connection
                    await self._change()
        except TimeoutError:
            if until is not None and self.loop.time() >= until:
                text = "the step did not answer in time"
                raise StepFailed("late", text, sent=False) from None
            raise StepFailed("unreachable", "the step takes no more calls", sent=False) from None

    async def _change(self) -> None:
        """Connect, one at a time, and wait for that or for room elsewhere. Raises StepFailed."""
        if self._connecting is None:
            self._connecting = self.loop.create_task(self._connect())
        if self._news is None:
            self._news = self.loop.create_future()
        failed = await asyncio.shield(self._news)
        if failed is not None:
            raise StepFailed(failed.failure, failed.text, sent=False)

    async def _connect(self) -> None:
        failed: StepFailed | None = None
        try:
            connection = await self._pool.reach(self._attempt, None)
            if connection.has_room:
                self._connections.append(connection)
                connection.rest()
            else:  # it has taken it back at once; to connect again would have no end
                connection.close()
                failed = StepFailed("unreachable", "the step takes no calls", sent=False)
        except StepFailed as fault:
            failed = fault
        finally:
            self._connecting = None
        self.tell(failed)

    async def _attempt(self, address: str, port: int) -> Multiplexed:
        """A connection that takes calls."""
        connection = Multiplexed(self)
        try:
            await self.loop.create_connection(lambda: connection, address, port)
        except BaseException:
            connection.unwanted()
            raise
        try:
            await connection.ready
        except BaseException:
            connection.close()
            raise
        return connection
