"""The client on real sockets: pools, every kind of body, streams, failures, leaving."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest

from ingressctl.dataplane.router.calling import Caller
from ingressctl.dataplane.router.ports import Answer, StepFailed, Target
from ingressctl.dataplane.router.upstream import Client
from tests.unit.dataplane.wire.sockets import of, received, scripted, target

Reader, Writer = asyncio.StreamReader, asyncio.StreamWriter


@asynccontextmanager
async def client(**more: int) -> AsyncIterator[Client]:
    made = Client(**more)
    try:
        yield made
    finally:
        made.close()
        await asyncio.sleep(0)


async def call(
    caller: Client, to: Target, body: bytes = b"x", seconds: float | None = 10, **more: bool
) -> Answer:
    until = None if seconds is None else asyncio.get_running_loop().time() + seconds
    fields = ((b"content-type", b"application/json"),)
    return await caller.call(to, fields, body, until=until, stream=more.get("stream", False))


async def failure(
    caller: Client, to: Target, seconds: float = 10, **more: bool
) -> tuple[str, bool, str]:
    with pytest.raises(StepFailed) as caught:
        await call(caller, to, seconds=seconds, **more)
    failed = caught.value
    assert "127.0.0.1" not in failed.text
    assert str(to.port) not in failed.text
    return failed.failure, failed.sent, failed.text


async def none_open(caller: Client) -> None:
    """No connection stays open."""
    async with asyncio.timeout(10):
        while caller.open:
            await asyncio.sleep(0.01)


def says(data: bytes) -> object:
    """A script that answers each request with these bytes, and then closes."""

    async def script(reader: Reader, writer: Writer) -> None:
        await received(reader)
        writer.write(data)
        await writer.drain()

    return script


async def test_what_is_sent() -> None:
    got: list[tuple[bytes, bytes]] = []

    async def script(reader: Reader, writer: Writer) -> None:
        while True:
            got.append(await received(reader))
            writer.write(of(b"{}", b"X-Model: m"))

    async with scripted(script) as to, client() as caller:
        answer = await call(caller, to, b'{"a":1}')
        large = await call(caller, to, b"y" * 300_000)
    assert (answer.status, answer.body) == (200, b"{}")
    assert (b"x-model", b"m") in answer.headers
    assert large.status == 200
    assert got[0] == (
        b"POST /v1/models/m:predict HTTP/1.1\r\nHost: %b\r\ncontent-type: application/json\r\n"
        b"Content-Length: 7\r\n\r\n" % to.authority,
        b'{"a":1}',
    )
    assert got[1][1] == b"y" * 300_000


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("said", "status", "body"),
    [
        (of(b"ab"), 200, b"ab"),
        (CHUNKED + b"1\r\na\r\n1\r\nb\r\n0\r\n\r\n", 200, b"ab"),
        (CHUNKED + b"1\r\na\r\n0\r\nX: y\r\n\r\n", 200, b"a"),
        (OK + b"Content-Length: " + b"0" * 5000 + b"2\r\n\r\nab", 200, b"ab"),
        (OK + b"\r\nuntil the end", 200, b"until the end"),
        (b"HTTP/1.0 503 Busy\r\n\r\nuntil the end", 503, b"until the end"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b""),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 304, b""),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + of(b"a"), 200, b"a"),
        (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + of(b"a"), 200, b"a"),
        (of(b"", b"Location: http://other/", status=b"302 Found"), 302, b""),
        (of(b"a") + of(b"nobody asked"), 200, b"a"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_every_kind_of_body(said: bytes, status: int, body: bytes, stream: bool) -> None:
    async with scripted(says(said)) as to, client() as caller:  # type: ignore[arg-type]
        answer = await call(caller, to, stream=stream)
        got = answer.body
        if answer.stream is not None:
            got += b"".join([piece async for piece in answer.stream])
        assert (answer.status, got) == (status, body)
        names = {name for name, _ in answer.headers}
        assert not names & {b"transfer-encoding", b"connection", b"x", b"link"}


@pytest.mark.parametrize(
    "said",
    [
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n"
        + b"X: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n" * 6000,
        b"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + b"x" * 2000,
    ],
)
async def test_what_is_no_answer(said: bytes) -> None:
    async with scripted(says(said)) as to, client(answer_bytes=1000) as caller:  # type: ignore[arg-type]
        assert (await failure(caller, to))[:2] == ("unusable", True)
        await none_open(caller)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"HTTP/1.1 100 Continue\r\n\r\n",
    ],
)
async def test_what_ends_early_is_lost_and_not_tried_again(said: bytes) -> None:
    calls = 0

    async def script(reader: Reader, writer: Writer) -> None:
        nonlocal calls
        await received(reader)
        calls += 1
        writer.write(said)

    async with scripted(script) as to, client() as caller:
        assert (await failure(caller, to))[:2] == ("lost", True)
    assert calls == 1


async def test_a_stream_that_ends_early_raises() -> None:
    said = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"
    async with scripted(says(said)) as to, client() as caller:  # type: ignore[arg-type]
        answer = await call(caller, to, stream=True)
        assert answer.stream is not None
        assert await anext(answer.stream) == b"ab"
        with pytest.raises(StepFailed):
            await anext(answer.stream)


async def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    async with client() as caller:
        kind, sent, text = await failure(caller, target(port))
        assert (kind, sent) == ("unreachable", False)
        assert "refused" in text
        nowhere = Target(host="nobody.invalid", port=80, path=b"/", authority=b"a", tls=False)
        assert (await failure(caller, nowhere))[:2] == ("unreachable", False)


async def test_a_step_that_is_late() -> None:
    async def script(reader: Reader, writer: Writer) -> None:
        await received(reader)
        await reader.read()  # until the router leaves

    async with scripted(script) as to, client() as caller:
        assert (await failure(caller, to, seconds=0.1))[:2] == ("late", True)
        assert (await failure(caller, to, seconds=-1))[0] == "late"
        await none_open(caller)


async def test_connections_are_used_again_the_last_one_first() -> None:
    connections: list[int] = []

    async def script(reader: Reader, writer: Writer) -> None:
        number = len(connections)
        connections.append(0)
        while True:
            await received(reader)
            connections[number] += 1
            writer.write(of(b"x"))

    async with scripted(script) as to, client() as caller:
        await asyncio.gather(*(call(caller, to) for _ in range(30)))
        opened = len(connections)
        for _ in range(20):
            await call(caller, to)
        assert len(connections) == opened == caller.open
        assert max(connections) >= 20, "one connection has served all that came one by one"


async def test_a_connection_that_is_to_be_closed_is_not_used_again() -> None:
    said = of(b"x", b"Connection: close")
    async with scripted(says(said)) as to, client() as caller:  # type: ignore[arg-type]
        for _ in range(3):
            assert (await call(caller, to)).body == b"x"


async def test_bytes_that_nobody_asked_for_end_the_connection() -> None:
    """They would be taken for the answer to the next request."""
    go = asyncio.Event()
    connections = 0

    async def script(reader: Reader, writer: Writer) -> None:
        nonlocal connections
        connections += 1
        while True:
            await received(reader)
            writer.write(of(b"right"))
            if connections == 1:
                await go.wait()
                writer.write(of(b"poison"))

    async with scripted(script) as to, client() as caller:
        assert (await call(caller, to)).body == b"right"
        go.set()
        while caller.open:
            await asyncio.sleep(0.01)
        assert (await call(caller, to)).body == b"right"
    assert connections == 2


class Impatient(asyncio.Protocol):
    """A model server that closes a connection which was idle for 20 ms, as real ones do later."""

    calls = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.timer: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        if self.timer is not None:
            self.timer.cancel()
        Impatient.calls += 1
        self.transport.write(of(b"x"))
        ends = self.transport.abort if Impatient.calls % 2 else self.transport.close
        self.timer = asyncio.get_running_loop().call_later(0.02, ends)


async def test_a_connection_closed_while_idle_costs_no_request() -> None:
    """F92: it is closed at any moment around the next call."""
    Impatient.calls = 0
    server = await asyncio.get_running_loop().create_server(Impatient, "127.0.0.1", 0)
    to = target(server.sockets[0].getsockname()[1])
    async with client() as caller:
        try:
            for number in range(100):
                assert (await call(caller, to)).body == b"x"
                await asyncio.sleep(0.019 + 0.0001 * (number % 20))
        finally:
            server.close()
    assert Impatient.calls == 100


async def test_a_request_that_may_have_been_seen_is_not_sent_again() -> None:
    calls = 0

    async def script(reader: Reader, writer: Writer) -> None:
        nonlocal calls
        await received(reader)
        calls += 1
        writer.write(of(b"x"))
        await received(reader)
        calls += 1

    async with scripted(script) as to, client() as caller:
        await call(caller, to)
        assert (await failure(caller, to))[:2] == ("lost", True)
    assert calls == 2


async def test_leaving_a_call_closes_its_connection() -> None:
    left: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    began = asyncio.Event()

    async def script(reader: Reader, writer: Writer) -> None:
        await received(reader)
        began.set()
        try:
            left.set_result(await reader.read())
        except ConnectionError:
            left.set_result(b"")

    async with scripted(script) as to, client() as caller:
        task = asyncio.create_task(call(caller, to))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.wait_for(left, 10) == b""
        await none_open(caller)


async def left_as_the_answer_comes(
    caller: Client, to: Target, monkeypatch: pytest.MonkeyPatch, *, stream: bool
) -> Answer:
    """One who asks is cancelled when his answer is there; another one asks just before."""
    others: list[asyncio.Task[Answer]] = []
    give = Caller._give

    def given(self: Caller, answer: Answer) -> None:
        if not others:
            others.append(asyncio.create_task(call(caller, to)))
            give(self, answer)
            first.cancel()
        else:
            give(self, answer)

    monkeypatch.setattr(Caller, "_give", given)
    first = asyncio.create_task(call(caller, to, stream=stream))
    with pytest.raises(asyncio.CancelledError):
        await first
    return await asyncio.wait_for(others[0], 10)


async def test_leaving_as_the_answer_comes_takes_nobody_elses_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The connection is free as soon as the answer is there, before whoever asked has read it."""

    async def script(reader: Reader, writer: Writer) -> None:
        for answer in (b"first", b"second"):
            await received(reader)
            await asyncio.sleep(0.05)
            writer.write(of(answer))

    async with scripted(script) as to, client() as caller:
        other = await left_as_the_answer_comes(caller, to, monkeypatch, stream=False)
        assert other.body == b"second"


async def test_leaving_as_a_stream_begins_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    connections = 0

    async def script(reader: Reader, writer: Writer) -> None:
        nonlocal connections
        connections += 1
        await received(reader)
        writer.write(CHUNKED + b"1\r\na\r\n" if connections == 1 else of(b"other"))
        await reader.read()

    async with scripted(script) as to, client() as caller:
        other = await left_as_the_answer_comes(caller, to, monkeypatch, stream=True)
        assert other.body == b"other"
        async with asyncio.timeout(10):
            while caller.open != 1:
                await asyncio.sleep(0.01)


async def test_a_stream_comes_piece_by_piece_and_its_connection_is_used_again() -> None:
    go: asyncio.Queue[bytes] = asyncio.Queue()
    connections = 0

    async def script(reader: Reader, writer: Writer) -> None:
        nonlocal connections
        connections += 1
        while True:
            await received(reader)
            writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while piece := await go.get():
                writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            writer.write(b"0\r\n\r\n")

    async with scripted(script) as to, client() as caller:
        for _ in range(2):
            answer = await call(caller, to, stream=True)
            assert answer.stream is not None
            for piece in (b"data: 1\n\n", b"data: 2\n\n"):
                go.put_nowait(piece)
                assert await anext(answer.stream) == piece
            go.put_nowait(b"")
            with pytest.raises(StopAsyncIteration):
                await anext(answer.stream)
    assert connections == 1


async def test_a_stream_that_nobody_reads_stops_its_step() -> None:
    sent = 0

    async def script(reader: Reader, writer: Writer) -> None:
        nonlocal sent
        await received(reader)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 100_000)
            await writer.drain()
            sent += 1

    async with scripted(script) as to, client() as caller:
        answer = await call(caller, to, stream=True)
        assert answer.stream is not None
        before = -1
        while before != sent:
            before = sent
            await asyncio.sleep(0.2)
        assert sent * 100_000 < 50_000_000
        for _ in range(5):
            await anext(answer.stream)
        await answer.stream.aclose()  # type: ignore[attr-defined]
        await none_open(caller)


async def test_a_header_with_two_lines_is_not_sent() -> None:
    async with client() as caller:
        with pytest.raises(StepFailed) as caught:
            await caller.call(target(1), ((b"a", b"b\r\nc: d"),), b"", until=None, stream=False)
        assert (caught.value.failure, caught.value.sent) == ("unusable", False)
