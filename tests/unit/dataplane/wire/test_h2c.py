"""HTTP/2 cleartext: many calls on one connection, flow control, refusals."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.settings
import pytest

from ingressctl.dataplane.router import h2c, multiplexing, pool
from ingressctl.dataplane.router.ports import StepFailed, Target
from tests.unit.dataplane.wire.sockets import scripted, target
from tests.unit.dataplane.wire.test_upstream import call, client, failure, none_open

Handle = Callable[["Step", int, bytes], Any]


class Step(asyncio.Protocol):
    """A model server over HTTP/2; `handle` gets each whole request."""

    def __init__(self, handle: Handle, settings: dict[int, int]) -> None:
        self.handle, self.settings = handle, settings
        self.h2 = h2.connection.H2Connection(
            h2.config.H2Configuration(client_side=False, header_encoding="utf-8")
        )
        self.bodies: dict[int, bytes] = {}
        self.heads: dict[int, dict[str, str]] = {}

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.h2.initiate_connection()
        self.h2.update_settings(self.settings)
        self.flush()

    def data_received(self, data: bytes) -> None:
        for event in self.h2.receive_data(data):
            number = getattr(event, "stream_id", 0) or 0
            if isinstance(event, h2.events.RequestReceived):
                self.heads[number] = dict(event.headers)
                self.bodies[number] = b""
            elif isinstance(event, h2.events.DataReceived):
                self.bodies[number] += event.data
                self.h2.acknowledge_received_data(event.flow_controlled_length, number)
            elif isinstance(event, h2.events.StreamEnded):
                self.handle(self, number, self.bodies[number])
            elif isinstance(event, h2.events.StreamReset):
                self.heads[number]["reset"] = "yes"
        self.flush()

    def answer(self, number: int, *pieces: bytes, end: bool = True) -> None:
        self.h2.send_headers(number, [(":status", "200"), ("x-model", "m")])
        for piece in pieces:
            self.h2.send_data(number, piece)
        if end:
            self.h2.end_stream(number)
        self.flush()

    def flush(self) -> None:
        self.transport.write(self.h2.data_to_send())


class Early(Step):
    """Answers each request before it has read it, of which it gives no part back."""

    def data_received(self, data: bytes) -> None:
        for event in self.h2.receive_data(data):
            if isinstance(event, h2.events.RequestReceived):
                self.h2.send_headers(event.stream_id, [(":status", "413")], end_stream=True)
            elif isinstance(event, h2.events.StreamReset):
                self.heads[event.stream_id] = {"reset": "yes"}
        self.flush()


class Refusing(Step):
    """Reads a part of a large body, gives it back, and refuses the rest, all in one segment.

    So do servers of Go whose handlers limit what they read (RFC 9113, 8.1).
    """

    def data_received(self, data: bytes) -> None:
        for event in self.h2.receive_data(data):
            number = getattr(event, "stream_id", 0) or 0
            if isinstance(event, h2.events.DataReceived) and number not in self.bodies:
                self.bodies[number] = b""
                self.h2.increment_flow_control_window(event.flow_controlled_length)
                self.h2.send_headers(number, [(":status", "413")], end_stream=True)
                self.h2.reset_stream(number, h2.errors.ErrorCodes.NO_ERROR)
            elif isinstance(event, h2.events.StreamEnded):
                self.handle(self, number, b"")
        self.flush()


class Closed(Step):
    """Takes no calls from the beginning."""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.h2.local_settings = h2.settings.Settings(client=False, initial_values={3: 0})
        self.h2.initiate_connection()
        self.flush()


class Going(Step):
    """Takes its leave with its first words."""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.h2.initiate_connection()
        self.h2.close_connection(last_stream_id=0)
        self.flush()

    def data_received(self, data: bytes) -> None:
        """It listens no more."""


@asynccontextmanager
async def serving(
    handle: Handle, kind: type[Step] = Step, **settings: int
) -> AsyncIterator[tuple[Target, list[Step]]]:
    steps: list[Step] = []
    codes = {h2.settings.SettingCodes[name]: value for name, value in settings.items()}

    def made() -> Step:
        steps.append(kind(handle, codes))
        return steps[-1]

    server = await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0)
    try:
        yield target(server.sockets[0].getsockname()[1], h2c=True), steps
    finally:
        server.close()
        for step in steps:
            step.transport.abort()
        await asyncio.sleep(0.01)


async def test_many_calls_share_a_connection() -> None:
    held: list[tuple[Step, int, bytes]] = []

    def handle(step: Step, number: int, body: bytes) -> None:
        held.append((step, number, body))
        if len(held) == 20:  # only then any of them is answered, in the other order
            for one, which, sent in reversed(held):
                one.answer(which, b"for ", sent)

    async with serving(handle) as (to, steps), client() as caller:
        bodies = [b"%d" % number for number in range(20)]
        answers = await asyncio.gather(*(call(caller, to, body) for body in bodies))
        assert [answer.body for answer in answers] == [b"for " + body for body in bodies]
        assert answers[0].headers == [(b"x-model", b"m")]
        assert len(steps) == 1
        head = steps[0].heads[1]
    assert head[":authority"] == to.authority.decode()
    assert (head[":method"], head[":path"]) == ("POST", "/v1/models/m:predict")
    assert head["content-length"] == "1"


async def test_no_more_calls_than_the_step_allows() -> None:
    """Twelve that are answered when all of them are there need three connections of four."""
    waiting: list[tuple[Step, int]] = []

    def handle(step: Step, number: int, body: bytes) -> None:
        waiting.append((step, number))
        if len(waiting) in (1, 13):
            for each, stream in waiting[-12:]:
                each.answer(stream, b"x")

    async with serving(handle, MAX_CONCURRENT_STREAMS=4) as (to, steps), client() as caller:
        await call(caller, to)
        answers = await asyncio.gather(*(call(caller, to) for _ in range(12)))
        assert [answer.body for answer in answers] == [b"x"] * 12
        assert len(steps) == 3


async def test_bodies_larger_than_the_windows() -> None:
    def handle(step: Step, number: int, body: bytes) -> None:
        step.answer(number, b"%d" % len(body))

    async with serving(handle) as (to, _), client() as caller:
        answer = await call(caller, to, b"x" * 1_000_000)
        assert answer.body == b"1000000"


async def test_an_answer_larger_than_the_windows() -> None:
    left: dict[int, int] = {}

    def more(step: Step, number: int) -> None:
        while left[number] and (room := step.h2.local_flow_control_window(number)) > 0:
            size = min(room, left[number], 16_384)
            left[number] -= size
            step.h2.send_data(number, b"y" * size, end_stream=not left[number])

    def handle(step: Step, number: int, body: bytes) -> None:
        left[number] = 6_000_000
        step.h2.send_headers(number, [(":status", "200")])
        more(step, number)

    class Patient(Step):
        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            for number in left:
                more(self, number)
            self.flush()

    async with serving(handle, Patient) as (to, _), client() as caller:
        for _ in range(4):
            assert len((await call(caller, to)).body) == 6_000_000


async def test_a_stream_comes_piece_by_piece_and_leaving_it_resets_it() -> None:
    def handle(step: Step, number: int, body: bytes) -> None:
        step.answer(number, b"first", end=False)

    async with serving(handle) as (to, steps), client() as caller:
        answer = await call(caller, to, stream=True)
        assert answer.stream is not None
        assert await anext(answer.stream) == b"first"
        steps[0].h2.send_data(1, b"second")
        steps[0].flush()
        assert await anext(answer.stream) == b"second"
        await answer.stream.aclose()  # type: ignore[attr-defined]
        async with asyncio.timeout(10):
            while "reset" not in steps[0].heads[1]:
                await asyncio.sleep(0.01)


async def test_late_and_broken_answers() -> None:
    def handle(step: Step, number: int, body: bytes) -> None:
        if body == b"broken":
            step.h2.reset_stream(number, 2)

    async with serving(handle) as (to, steps), client() as caller:
        assert (await failure(caller, to, seconds=0.1))[:2] == ("late", True)
        with pytest.raises(StepFailed) as caught:
            await call(caller, to, b"broken")
        assert (caught.value.failure, caught.value.sent) == ("lost", True)
        assert len(steps) == 1
        task = asyncio.create_task(failure(caller, to))
        await asyncio.sleep(0.05)
        steps[0].transport.abort()
        assert await task == ("lost", True, "the step closed the connection early")


async def test_a_call_that_was_not_looked_at_is_sent_once_more() -> None:
    """Refused, or above the number that a step that goes away names."""
    seen = 0

    def handle(step: Step, number: int, body: bytes) -> None:
        nonlocal seen
        seen += 1
        if seen == 1:
            step.h2.reset_stream(number, 7)
        elif seen == 3:
            step.h2.close_connection(last_stream_id=number - 2)
        else:
            step.answer(number, b"x")

    async with serving(handle) as (to, steps), client() as caller:
        assert (await call(caller, to)).body == b"x"
        assert (await call(caller, to)).body == b"x"
        assert len(steps) == 2
    assert seen == 4


async def test_a_step_that_does_not_speak_it() -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 3)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(script, "127.0.0.1", 0)
    async with client() as caller:
        to = target(server.sockets[0].getsockname()[1], h2c=True)
        assert (await failure(caller, to))[:2] == ("unreachable", False)
    server.close()


def nothing(step: Step, number: int, body: bytes) -> None:
    """The answer does not come."""


def small(step: Step, number: int, body: bytes) -> None:
    step.answer(number, b"x")


async def test_a_step_that_answers_before_it_has_read_gets_a_reset() -> None:
    """Else its place would be taken for ever."""
    async with serving(nothing, Early, MAX_CONCURRENT_STREAMS=4) as (to, steps), client() as caller:
        for _ in range(12):
            assert (await call(caller, to, b"x" * 200_000)).status == 413
        assert len(steps) == 1
        async with asyncio.timeout(10):
            while len(steps[0].heads) < 12:
                await asyncio.sleep(0.01)


async def test_an_early_refusal_ends_its_own_call_only() -> None:
    slow: list[tuple[Step, int]] = []

    def handle(step: Step, number: int, body: bytes) -> None:
        slow.append((step, number))

    async with serving(handle, Refusing) as (to, steps), client() as caller:
        other = asyncio.create_task(call(caller, to, b""))
        async with asyncio.timeout(10):
            while not slow:
                await asyncio.sleep(0.01)
        for _ in range(3):
            assert (await call(caller, to, b"x" * 200_000)).status == 413
        step, number = slow[0]
        step.answer(number, b"slow")
        assert (await other).body == b"slow"
        assert len(steps) == 1


async def test_a_step_that_takes_no_calls_is_connected_to_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(h2c, "CONNECT", 0.2)
    async with serving(small, Closed) as (to, steps), client() as caller:
        assert (await failure(caller, to))[:2] == ("unreachable", False)
        assert (await failure(caller, to, seconds=0.05))[:2] == ("late", False)
        monkeypatch.setattr(h2c, "CONNECT", 10)
        waiting = asyncio.create_task(call(caller, to))
        await asyncio.sleep(0.05)
        steps[0].h2.update_settings({h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: 1})
        steps[0].flush()
        assert (await waiting).body == b"x"
        assert len(steps) == 1


async def test_a_step_that_goes_at_once_is_not_tried_without_end() -> None:
    async with serving(small, Going) as (to, steps), client() as caller:
        assert (await failure(caller, to))[:2] == ("unreachable", False)
        assert len(steps) == 1
        await none_open(caller)


async def test_a_step_that_says_nothing_keeps_no_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(pool, "CONNECT", 0.1)
    async with scripted(silent) as at, client() as caller:
        for _ in range(3):
            to = target(at.port, h2c=True)
            assert (await failure(caller, to))[:2] == ("unreachable", False)
        await none_open(caller)


async def test_what_is_thrown_away_is_given_back_to_the_window() -> None:
    def handle(step: Step, number: int, body: bytes) -> None:
        if body == b"large":
            step.answer(number, *[b"y" * 1000] * 40)
        else:
            step.answer(number, b"x")

    async with serving(handle) as (to, steps), client(answer_bytes=1500) as caller:
        assert (await call(caller, to)).body == b"x"
        whole = steps[0].h2.outbound_flow_control_window
        for _ in range(450):  # more than the window, if nothing were given back
            with pytest.raises(StepFailed, match="larger"):
                await call(caller, to, b"large")
        assert (await call(caller, to)).body == b"x"
        assert steps[0].h2.outbound_flow_control_window > whole / 4


async def test_what_a_reader_did_not_take_is_given_back_to_the_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a stream that ends while the reader is behind, and of one that is left then."""
    monkeypatch.setattr(multiplexing, "WINDOW", 1 << 21)

    def handle(step: Step, number: int, body: bytes) -> None:
        step.answer(number, *[b"y" * 10_000] * 40, end=body == b"ends")

    async with serving(handle) as (to, steps), client() as caller:
        for body in [b"ends", b"is left"] * 6:
            answer = await call(caller, to, body, stream=True)
            await asyncio.sleep(0.02)
            await answer.stream.aclose()  # type: ignore[union-attr]
        await asyncio.sleep(0.02)
        assert len(steps) == 1
        assert steps[0].h2.outbound_flow_control_window > 1 << 20


async def test_the_answers_under_way_come_after_a_step_has_said_that_it_goes() -> None:
    """As each server does that is drained: the call of the last number is among them."""

    def handle(step: Step, number: int, body: bytes) -> None:
        step.h2.send_headers(number, [(":status", "200")])
        step.h2.send_data(number, b"y" * 10_000, end_stream=True)
        answer = step.h2.data_to_send()
        step.h2.close_connection(last_stream_id=number)
        step.transport.write(step.h2.data_to_send() + answer)

    async with serving(handle) as (to, steps), client() as caller:
        for _ in range(2):
            assert (await call(caller, to)).body == b"y" * 10_000
        assert len(steps) == 2
        await none_open(caller)
