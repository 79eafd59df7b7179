"""The stub that speaks HTTP/2 in clear text: gRPC of any method, and plain requests.

A gRPC stream gets each of its messages back as it comes, so that both directions are seen to
live; its headers tell who answers. Other requests get JSON, as from an HTTP/1.1 stub.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Mapping
from typing import Any

from h2 import config, connection, events, exceptions, settings

HEADER_BYTES = 16 * 1024 * 1024


async def serve(identity: Mapping[str, Any], place: socket.socket) -> asyncio.Server:
    """Answer at a listening socket."""
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: protocol(identity), sock=place)


def protocol(identity: Mapping[str, Any]) -> asyncio.Protocol:
    """What answers one connection, for a server that also speaks something else."""
    return _Protocol(identity)


class _Protocol(asyncio.Protocol):
    """One connection. What a stream's window does not take yet waits in `_unsent`."""

    def __init__(self, identity: Mapping[str, Any]) -> None:
        self._identity = identity
        self._requests: dict[int, dict[str, str]] = {}
        self._unsent: dict[int, bytearray] = {}
        self._ending: set[int] = set()
        self._h2 = connection.H2Connection(
            config.H2Configuration(client_side=False, header_encoding="utf-8")
        )
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._h2.initiate_connection()
        self._h2.update_settings({settings.SettingCodes.MAX_HEADER_LIST_SIZE: HEADER_BYTES})
        # The first headers may come before the settings are acknowledged.
        self._h2.decoder.max_header_list_size = HEADER_BYTES
        self._flush()

    def data_received(self, data: bytes) -> None:
        try:
            for event in self._h2.receive_data(data):
                self._handle(event)
        except exceptions.ProtocolError:
            self._flush()
            assert self._transport is not None
            self._transport.close()
            return
        self._flush()

    def _flush(self) -> None:
        assert self._transport is not None
        if not self._transport.is_closing():
            self._transport.write(self._h2.data_to_send())

    def _handle(self, event: events.Event) -> None:
        if isinstance(event, events.RequestReceived):
            self._started(event)
        elif isinstance(event, events.DataReceived):
            self._h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            if self._is_grpc(event.stream_id) and event.data:
                self._send(event.stream_id, event.data)
        elif isinstance(event, events.StreamEnded):
            self._ended(event.stream_id)
        elif isinstance(event, events.WindowUpdated):
            for stream in [event.stream_id] if event.stream_id else list(self._unsent):
                self._send(stream)
        elif isinstance(event, events.StreamReset):
            self._forget(event.stream_id)

    def _started(self, event: events.RequestReceived) -> None:
        seen = {str(name): str(value) for name, value in event.headers}
        self._requests[event.stream_id] = seen
        if self._is_grpc(event.stream_id):
            headers = [
                (":status", "200"),
                ("content-type", "application/grpc"),
                ("x-stub", json.dumps(self._seen(seen))),
            ]
            self._h2.send_headers(event.stream_id, headers)

    def _is_grpc(self, stream: int) -> bool:
        kind = self._requests.get(stream, {}).get("content-type", "")
        return kind.startswith("application/grpc")

    def _ended(self, stream: int) -> None:
        self._ending.add(stream)
        if self._is_grpc(stream):
            self._send(stream)
            return
        headers = [(":status", "200"), ("content-type", "application/json")]
        self._h2.send_headers(stream, headers)
        self._send(stream, json.dumps(self._seen(self._requests[stream])).encode())

    def _send(self, stream: int, data: bytes = b"") -> None:
        """As much as the window takes; the end when everything is sent."""
        if stream not in self._requests:
            return
        waiting = self._unsent.setdefault(stream, bytearray())
        waiting += data
        while waiting:
            room = self._h2.local_flow_control_window(stream)
            some = min(room, self._h2.max_outbound_frame_size, len(waiting))
            if some <= 0:
                return
            self._h2.send_data(stream, bytes(waiting[:some]))
            del waiting[:some]
        if stream in self._ending:
            self._end(stream)

    def _end(self, stream: int) -> None:
        if self._is_grpc(stream):
            self._h2.send_headers(stream, [("grpc-status", "0")], end_stream=True)
        else:
            self._h2.end_stream(stream)
        self._forget(stream)

    def _forget(self, stream: int) -> None:
        self._requests.pop(stream, None)
        self._unsent.pop(stream, None)
        self._ending.discard(stream)

    def _seen(self, headers: Mapping[str, str]) -> dict[str, Any]:
        return {
            **self._identity,
            "host": headers.get(":authority", ""),
            "method": headers.get(":method", ""),
            "path": headers.get(":path", ""),
            "headers": {k: v for k, v in headers.items() if not k.startswith(":")},
        }
