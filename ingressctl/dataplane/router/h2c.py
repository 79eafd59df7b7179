"""Calls over HTTP/2 cleartext with prior knowledge: many at a time on one connection."""

from __future__ import annotations

import asyncio
import contextlib
import errno
from math import inf
from typing import TYPE_CHECKING, Any, cast

from h2.config import H2Configuration
from h2.connection import ConnectionInputs, H2Connection, H2ConnectionStateMachine
from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    RemoteSettingsChanged,
    ResponseReceived,
    StreamEnded,
    StreamReset,
    WindowUpdated,
)
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes

from ingressctl.dataplane.router.calling import QUIET
from ingressctl.dataplane.router.ports import Answer, Headers, StepFailed, Target
from ingressctl.dataplane.router.streaming import Stream
from ingressctl.dataplane.router.wire import HOP_BY_HOP

if TYPE_CHECKING:
    from ingressctl.dataplane.router.pool import Pool

CONNECT = 10.0
"""How long a call waits for room on a connection."""

WINDOW = 1 << 24
"""So much of all answers may be under way on a connection, and a fourth of it of one."""

IDLE = 60.0
"""How long a connection stays without calls: servers tell before they close one."""

_CONFIGURATION = H2Configuration(client_side=True, header_encoding=None)


class Exchange:
    """One call: a request whose body may wait for room, and its answer. A Source of streams."""

    __slots__ = (
        "_body",
        "_connection",
        "_held",
        "_holds",
        "_may_stream",
        "_size",
        "_status",
        "_stream",
        "deadline",
        "future",
        "headers",
        "left",
        "number",
    )

    def __init__(self, connection: Multiplexed, number: int, body: bytes, *, stream: bool) -> None:
        self._connection = connection
        self.number = number
        self.left = memoryview(body)
        self.future: asyncio.Future[Answer] = connection.group.loop.create_future()
        self.headers: list[tuple[bytes, bytes]] = []
        self.deadline = inf
        self._status = 0
        self._body: list[bytes] = []
        self._size = self._held = 0
        self._may_stream, self._holds = stream, False
        self._stream: Stream | None = None

    def head(self, fields: list[tuple[bytes, bytes]]) -> None:
        """The head of the answer."""
        self._status = int(dict(fields)[b":status"])
        self.headers = [
            (name.lower(), value)
            for name, value in fields
            if not name.startswith(b":") and name not in HOP_BY_HOP
        ]

    def data(self, data: bytes, counted: int) -> None:
        """A piece of its body; `counted` is what it takes of the window."""
        self._held += counted
        if self._may_stream and self._stream is None:
            self._begin()
        if self._stream is None:
            self._size += len(data)
            self._body.append(data)
            self.resume()
            if self._size > self._connection.group.limit:
                limit = self._connection.group.limit
                self.fail(
                    StepFailed("unusable", f"the answer is larger than {limit} bytes", sent=True)
                )
                self._connection.reset(self)
            return
        self._stream.push(data)
        if self._stream.full:
            self._holds = True
            self.deadline = inf
        else:
            self.resume()

    def ended(self) -> None:
        """The answer is whole."""
        if self._stream is not None:
            self._stream.finish()
        elif not self.future.done():
            self.future.set_result(Answer(self._status, self.headers, b"".join(self._body)))

    def fail(self, failed: StepFailed) -> None:
        """There is none."""
        if self._stream is not None:
            self._stream.fail(failed)
        elif not self.future.done():
            self.future.set_exception(failed)

    def _begin(self) -> None:
        self._stream = Stream(self, self._connection.group.loop)
        if not self.future.done():
            self.future.set_result(Answer(self._status, self.headers, b"", self._stream))

    # For the stream, and for the deadlines.

    def pause(self) -> None:
        """Whoever takes the stream does not keep up: the window is not opened again."""

    def resume(self) -> None:
        """He does: as much may come as has been taken."""
        self._holds = False
        if self._stream is not None:
            self.deadline = self._connection.group.loop.time() + QUIET
        self._connection.taken(self, self.release())

    def release(self) -> int:
        """What it holds of the window, which it does not any more."""
        held, self._held = self._held, 0
        return held

    def abort(self) -> None:
        """Nobody takes the rest."""
        self._connection.reset(self)

    def expire(self, now: float) -> None:
        """It is late."""
        self.deadline = inf
        self.fail(StepFailed("late", "the step did not answer in time", sent=True))
        self._connection.reset(self)


class _Leaving(H2ConnectionStateMachine):
    """For h2 a connection ends with GOAWAY, but the answers under way still come after it."""

    def process_input(self, input_: ConnectionInputs) -> list[Event]:
        if input_ is ConnectionInputs.RECV_GOAWAY:
            return []
        return super().process_input(input_)


class Multiplexed(asyncio.Protocol):
    """One connection. `usable` is whether new calls may begin on it."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.usable = True
        self.deadline = inf
        self.ready: asyncio.Future[None] = group.loop.create_future()
        self._h2 = H2Connection(_CONFIGURATION)
        self._h2.state_machine = _Leaving()
        self._exchanges: dict[int, Exchange] = {}

    @property
    def has_room(self) -> bool:
        """Whether the other side takes one more call."""
        most = self._h2.remote_settings.max_concurrent_streams
        return self.usable and len(self._exchanges) < most

    def ask(
        self,
        target: Target,
        headers: Headers,
        body: bytes,
        *,
        until: float | None,
        stream: bool,
        method: bytes,
    ) -> Exchange:
        """Send a request. Raises StepFailed."""
        fields = [
            (b":method", method),
            (b":scheme", b"http"),
            (b":authority", target.authority),
            (b":path", target.path),
            *(field for field in headers if field[0] not in HOP_BY_HOP),
            (b"content-length", b"%d" % len(body)),
        ]
        number = self._h2.get_next_available_stream_id()
        try:
            self._h2.send_headers(number, fields, end_stream=not body)
        except (ProtocolError, ValueError):
            text = "the request cannot be written as HTTP/2"
            raise StepFailed("unusable", text, sent=False) from None
        exchange = self._exchanges[number] = Exchange(self, number, body, stream=stream)
        exchange.deadline = inf if until is None else until
        self.deadline = inf
        self.group.deadlines.add(exchange)
        self._pump(exchange)
        return exchange

    def reset(self, exchange: Exchange) -> None:
        """Give a call up."""
        if exchange.number in self._exchanges:
            self._break_off(exchange)
            self._flush()
            self._forget(exchange)

    def taken(self, exchange: Exchange, size: int) -> None:
        """So much of the window may be used again."""
        if size and not self._transport.is_closing():
            with contextlib.suppress(ProtocolError):
                self._h2.acknowledge_received_data(size, exchange.number)
            self._flush()

    def close(self) -> None:
        """At once."""
        self.usable = False
        self._transport.abort()

    def unwanted(self) -> None:
        """Nobody waits for the connection any more; uvloop may still make it."""
        self.usable = False
        self.ready.cancel()
        self.deadline = 0.0

    def rest(self) -> None:
        """There is no call."""
        self.deadline = self.group.loop.time() + IDLE
        if not self.usable:
            self._transport.close()

    def _break_off(self, exchange: Exchange) -> None:
        with contextlib.suppress(ProtocolError):
            self._h2.reset_stream(exchange.number, ErrorCodes.CANCEL)

    def _forget(self, exchange: Exchange) -> None:
        self.group.deadlines.discard(exchange)
        del self._exchanges[exchange.number]
        self.taken(exchange, exchange.release())
        if not self._exchanges:
            self.rest()
        self.group.tell(None)

    def _pump(self, exchange: Exchange) -> None:
        """As much of the body as there is room for."""
        while exchange.left:
            room = min(
                self._h2.local_flow_control_window(exchange.number),
                self._h2.max_outbound_frame_size,
            )
            if room <= 0:
                break
            piece, exchange.left = exchange.left[:room], exchange.left[room:]
            self._h2.send_data(exchange.number, piece, end_stream=not exchange.left)
        self._flush()

    def _flush(self) -> None:
        data = self._h2.data_to_send()
        if data and not self._transport.is_closing():
            self._transport.write(data)

    # What the loop and the deadlines tell.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connected; larger windows than the standard's, which are for browsers."""
        self._transport = cast(asyncio.Transport, transport)
        self._h2.initiate_connection()
        self._h2.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: WINDOW // 4})
        self._h2.increment_flow_control_window(WINDOW)
        self._flush()
        self.group.deadlines.add(self)

    def data_received(self, data: bytes) -> None:
        """Frames."""
        try:
            for event in self._h2.receive_data(data):
                self._take(event)
        except ProtocolError:
            text = "the answer is not well-formed HTTP/2"
            self._fail_all(StepFailed("unusable", text, sent=True))
            self._transport.abort()
            return
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:
        """The end."""
        self.group.leave(self)
        self.group.deadlines.discard(self)
        self._fail_all(StepFailed("lost", "the step closed the connection early", sent=True))

    def expire(self, now: float) -> None:
        """Idle for long enough."""
        self.usable = False
        self.deadline = inf
        self._transport.close()

    def _fail_all(self, failed: StepFailed) -> None:
        self.usable = False
        if not self.ready.done():
            self.ready.set_exception(ConnectionAbortedError(errno.ECONNABORTED, failed.text))
        for exchange in tuple(self._exchanges.values()):
            self._forget(exchange)
            exchange.fail(failed)

    def _take(self, event: Any) -> None:
        if isinstance(event, RemoteSettingsChanged) and self.has_room:
            if not self.ready.done():  # now it is known how many calls it takes: not none
                self.ready.set_result(None)
            else:
                self.group.tell(None)
        if isinstance(event, WindowUpdated | RemoteSettingsChanged):
            for waiting in tuple(self._exchanges.values()):
                if waiting.left:
                    self._pump(waiting)
        elif isinstance(event, ConnectionTerminated):
            self._go_away(event.last_stream_id or 0)
        elif (exchange := self._exchanges.get(getattr(event, "stream_id", 0) or 0)) is not None:
            self._tell(exchange, event)
        elif isinstance(event, DataReceived):  # of a call that was given up
            self._h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)

    def _tell(self, exchange: Exchange, event: Any) -> None:
        if isinstance(event, ResponseReceived):
            exchange.head(event.headers)
        elif isinstance(event, DataReceived):
            exchange.data(event.data, event.flow_controlled_length)
        elif isinstance(event, StreamEnded):
            if exchange.left:  # it was answered early, and is open until we end it too
                self._break_off(exchange)
            self._forget(exchange)
            exchange.ended()
        elif isinstance(event, StreamReset):
            self._forget(exchange)
            seen = event.error_code != ErrorCodes.REFUSED_STREAM
            exchange.fail(StepFailed("lost", "the step broke its answer off", sent=seen))

    def _go_away(self, last: int) -> None:
        """No new calls; those above the last number have not been looked at."""
        self.usable = False
        for exchange in tuple(self._exchanges.values()):
            if exchange.number > last:
                self._forget(exchange)
                exchange.fail(StepFailed("lost", "the step took no more calls", sent=False))
        if not self._exchanges:
            self._transport.close()


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
