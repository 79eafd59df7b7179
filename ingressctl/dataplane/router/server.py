"""The server of the router: HTTP/1.1 in, straight on an event loop.

One request of a connection runs at a time, the next ones wait in their order, and reading
pauses meanwhile. What a connection may take, and how long, is limited everywhere.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from email.utils import formatdate
from time import time
from typing import Protocol

from ingressctl.dataplane.router.admission import Admission
from ingressctl.dataplane.router.connection import Connection
from ingressctl.dataplane.router.deadlines import Deadlines
from ingressctl.dataplane.router.heads import Heads
from ingressctl.dataplane.router.intake import Known
from ingressctl.dataplane.router.ports import Engine, Request
from ingressctl.dataplane.router.settings import Settings

LOG = logging.getLogger("ingressctl.router")

MOMENT = 0.1
"""How long the end waits to read on connections that were not read."""


class Watcher(Protocol):
    """Whom the server tells of each request that was meant for the graph."""

    def begun(self) -> None:
        """A request is there."""
        ...

    def ended(
        self, request: Request, status: int, size: int, seconds: float, cause: str = ""
    ) -> None:
        """It was answered with a status; 0 if the client had left. `cause` as in Answer."""
        ...

    def refused(self, status: int, cause: str, request: Request | None = None) -> None:
        """What came was not taken for the graph, and never begun; some could be read. A status
        of 0: the client left before all of its request was there."""
        ...


class Blind:
    """A watcher that keeps nothing."""

    def begun(self) -> None:
        """Nothing."""

    def ended(
        self, request: Request, status: int, size: int, seconds: float, cause: str = ""
    ) -> None:
        """Nothing."""

    def refused(self, status: int, cause: str, request: Request | None = None) -> None:
        """Nothing."""


class Server:
    """Serves one engine, which `replace` exchanges; all on the running loop."""

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        *,
        admission: Admission | None = None,
        watcher: Watcher | None = None,
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self.engine = engine
        self.settings = settings
        self.admission = admission or Admission(limit=16, queue=1024)
        self.watcher: Watcher = watcher or Blind()
        self.deadlines = Deadlines(self.loop, self.admission.paced)
        self.heads = Heads[Known]()
        self.connections: set[Connection] = set()
        self.unready = False
        self.draining = False
        self._told_at, self._broken = 0.0, 0
        self._date_at = 0
        self._date = b""
        self._listeners: list[asyncio.Server] = []
        self._empty = asyncio.Event()

    async def listen(self, sock: socket.socket) -> None:
        """Accept on a bound socket."""
        self._listeners.append(
            await self.loop.create_server(lambda: Connection(self), sock=sock, backlog=4096)
        )

    def replace(self, engine: Engine, settings: Settings) -> None:
        """Another graph from the next request on; those that run keep theirs."""
        self.engine = engine
        self.settings = settings
        self.heads = Heads[Known]()  # what was within the limits before may not be any more
        for connection in self.connections:
            connection.follow()

    @property
    def date(self) -> bytes:
        """The Date line, made once a second."""
        now = int(time())
        if now != self._date_at:
            self._date_at = now
            self._date = b"Date: %b\r\n" % formatdate(now, usegmt=True).encode()
        return self._date

    def stop_soon(self) -> None:
        """Not ready from now on, though everything is served; answers end their connections."""
        self.unready = True
        self.admission.backlog.end()

    async def drain(self, *, within: float | None = None) -> int:
        """Accept no more, end what is idle, wait for what runs; how many had to be cut."""
        postponed = len(self.admission.backlog)
        self.stop_soon()
        self.draining = True
        for listener in self._listeners:
            listener.close()
        if postponed:  # they look idle, and may have sent a request
            await asyncio.sleep(MOMENT)
        for connection in tuple(self.connections):
            connection.end_if_idle()
        if self.connections:
            self._empty.clear()
            try:
                await asyncio.wait_for(self._empty.wait(), within)
            except TimeoutError:
                LOG.warning("requests are cut off", extra={"keys": {"n": len(self.connections)}})
        return self.close()

    def close(self) -> int:
        """Cut everything; how many connections that were."""
        cut = len(self.connections)
        for listener in self._listeners:
            listener.close()
        for connection in tuple(self.connections):
            connection.abort()
        self.deadlines.close()
        return cut

    def broke_off(self, why: str) -> None:
        """An answer ended in the middle: told once a second, with how many there were."""
        self._broken += 1
        if time() - self._told_at >= 1.0:
            keys = {"error": why, "n": self._broken}
            LOG.warning("answers broke off", extra={"keys": keys})
            self._told_at, self._broken = time(), 0

    def lost(self, connection: Connection) -> None:
        """A connection is no more."""
        self.connections.discard(connection)
        if not self.connections:
            self._empty.set()
