"""One connection over HTTP/2 cleartext, with as many calls at a time as the step takes."""

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

from ingressctl.dataplane.router.exchanges import Exchange
from ingressctl.dataplane.router.ports import Headers, StepFailed, Target
from ingressctl.dataplane.router.wire import HOP_BY_HOP

if TYPE_CHECKING:
    from ingressctl.dataplane.router.h2c import Group

WINDOW = 1 << 24
"""So much of all answers may be under way on a connection, and a fourth of it of one."""

IDLE = 60.0
"""How long a connection stays without calls: servers tell before they close one."""

_CONFIGURATION = H2Configuration(client_side=True, header_encoding=None)


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
        while exchange.left and self._is_open(exchange):
            room = min(
                self._h2.local_flow_control_window(exchange.number),
                self._h2.max_outbound_frame_size,
            )
            if room <= 0:
                break
            piece, exchange.left = exchange.left[:room], exchange.left[room:]
            self._h2.send_data(exchange.number, piece, end_stream=not exchange.left)
        self._flush()

    def _is_open(self, exchange: Exchange) -> bool:
        """h2 reads a whole segment before it tells of the first frame: a later one may have
        ended the stream, of which is still to be told.
        """
        stream = self._h2.streams.get(exchange.number)
        return stream is not None and stream.open

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
