"""The server on real sockets: order, limits, leaving clients, streams, the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from unittest.mock import Mock

import pytest

from ingressctl.dataplane.router.connection import Connection
from ingressctl.dataplane.router.counting import Counts
from ingressctl.dataplane.router.intake import Limits
from ingressctl.dataplane.router.ports import Answer, NoAnswer, Request, StepFailed
from ingressctl.dataplane.router.settings import Manner, Settings, Times
from tests.unit.dataplane.wire.sockets import Echo, Raw, Running, asked, few, post, serving, several

SHORT = Times(read=0.2, answer=60, write=0.3, idle=0.2)


async def test_requests_of_one_connection_are_answered_in_order() -> None:
    async def run(request: Request) -> Answer:
        await asyncio.sleep(0.05 if request.body == b"slow" else 0)
        return Answer(200, (), request.body)

    async with serving(Running(run)) as (_, port), await Raw.to(port) as client:
        client.send(post(b"slow") + post(b"second") + post(b"", target=b"/readyz") + post(b"x"))
        bodies = [(await client.answer())[1] for _ in range(4)]
        assert bodies == [b"slow", b"second", b"", b"x"]
        client.send(post(b"and on"))
        assert await client.answer() == (200, b"and on")


async def test_of_a_steps_date_and_length_none_stands_beside_our_own() -> None:
    """A graph may hand on every header; two of those would be one that nobody can read."""
    given = ((b"date", b"Mon, 01 Jan 2024 00:00:00 GMT"), (b"content-length", b"9"), (b"x", b"1"))

    async def run(request: Request) -> Answer:
        return Answer(200, given, b"ok")

    async with serving(Running(run)) as (_, port):
        head, _, body = (await asked(port, post(b"a", b"Connection: close"))).partition(b"\r\n\r\n")
    names = [line.partition(b":")[0].lower() for line in head.split(b"\r\n")[1:]]
    assert sorted(names) == [b"connection", b"content-length", b"date", b"x"]
    assert b"2024" not in head
    assert body == b"ok"


async def test_many_pipelined_probes_do_not_pile_up() -> None:
    async with serving(Echo()) as (_, port), await Raw.to(port) as client:
        client.send(post(target=b"/readyz") * 3000)
        for _ in range(3000):
            assert await client.answer() == (200, b"")


async def test_a_refused_request_ends_the_connection_after_the_answers_before_it() -> None:
    engine = Echo()
    async with serving(engine) as (_, port):
        said = await asked(port, post(b"one") + b"GET / HTTP/1.1\r\nX : y\r\n\r\n" + post(b"two"))
    assert said.count(b"HTTP/1.1 200 OK") == 1
    assert said.count(b"HTTP/1.1 400 Bad Request") == 1
    assert b"Connection: close" in said
    assert [request.body for request in engine.seen] == [b"one"]


async def test_a_large_refused_body_does_not_hide_the_reason() -> None:
    """Closing with unread bytes would reset the connection before the client has read."""
    settings = Settings(Limits(body_bytes=1000))
    async with serving(Echo(), settings) as (_, port), await Raw.to(port) as client:
        client.send(post(b"x" * 1_000_000))
        status, body = await client.answer()
        assert status == 413
        assert b"1000 bytes" in body
        assert await client.rest() == b""


async def test_the_engine_is_told_how_large_a_request_may_be() -> None:
    engine = Echo()
    async with serving(engine, Settings(Limits(body_bytes=1000))) as (_, port):
        await asked(port, post(b"one", b"Connection: close"))
    assert [request.largest for request in engine.seen] == [1000]


@pytest.mark.parametrize(("before", "after", "status"), [(10, 1000, 200), (1000, 10, 413)])
async def test_the_limit_of_another_graph_holds_for_connections_that_are_open(
    before: int, after: int, status: int
) -> None:
    """The first request of a length is parsed, and the second one's head is known."""
    length = 100 if before > after else 10
    async with (
        serving(Echo(), Settings(Limits(body_bytes=before))) as (server, port),
        await Raw.to(port) as client,
    ):
        for _ in range(2):
            client.send(post(b"x" * length))
            assert (await client.answer())[0] == 200
        server.replace(Echo(), Settings(Limits(body_bytes=after)))
        client.send(post(b"x" * 100))
        assert (await client.answer())[0] == status


async def test_the_time_of_another_graph_holds_for_connections_that_are_idle() -> None:
    patient = replace(SHORT, idle=60, read=60)
    async with (
        serving(Echo(), Settings(times=patient)) as (server, port),
        await Raw.to(port) as client,
    ):
        client.send(post(b"one"))
        await client.answer()
        server.replace(Echo(), Settings(times=SHORT))
        client.send(b"POST / HTTP/1.1\r\n")
        assert (await client.answer())[0] == 408


async def test_heads_that_are_noted_after_another_graph_are_those_of_all() -> None:
    async with serving(Echo()) as (server, port), await Raw.to(port) as client:
        server.replace(Echo(), Settings())
        client.send(post(b"one"))
        await client.answer()
        assert server.heads.find(post(b"two")) is not None


async def test_a_request_that_does_not_come_is_answered_408_and_never_run() -> None:
    engine = Echo()
    async with serving(engine, Settings(times=SHORT)) as (_, port):
        cut = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc"
        assert (await asked(port, cut)).startswith(b"HTTP/1.1 408 ")
        assert (await asked(port, b"POST / HT")).startswith(b"HTTP/1.1 408 ")
        assert await asked(port, b"") == b"", "nothing began, so nothing is answered"
    assert engine.seen == []


async def test_under_kserve_a_cut_body_is_run() -> None:
    """IG-D4."""
    engine = Echo()
    settings = Settings(times=SHORT, manner=Manner(refuses_cut_bodies=False))
    async with serving(engine, settings) as (_, port):
        cut = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc"
        said = await asked(port, cut)
    assert said.startswith(b"HTTP/1.1 200 ")
    assert said.endswith(b"abc")


async def test_an_idle_connection_is_closed() -> None:
    times = replace(SHORT, read=60)
    async with serving(Echo(), Settings(times=times)) as (server, port):
        assert (await asked(port, post(b"one"))).endswith(b"one")
        await asyncio.sleep(0)
        assert not server.connections


async def test_leave_to_send_is_given() -> None:
    async with serving(Echo()) as (_, port), await Raw.to(port) as client:
        client.send(
            b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
        )
        assert (await client.head())[0] == 100
        client.send(b"ab")
        assert await client.answer() == (200, b"ab")


async def test_the_routers_own_answers() -> None:
    engine = Echo()
    async with serving(engine) as (server, port), await Raw.to(port) as client:
        for target, status in ((b"/readyz", 200), (b"/livez", 200), (b"/healthz", 200)):
            client.send(b"GET %b HTTP/1.1\r\nHost: a\r\n\r\n" % target)
            assert await client.answer() == (status, b"")
        for method in (b"GET", b"PUT", b"DELETE", b"OPTIONS"):
            client.send(b"%b /metrics HTTP/1.1\r\nHost: a\r\n\r\n" % method)
            status, headers = await client.head()
            assert (status, headers[b"allow"]) == (405, b"POST")
            await client.reader.readexactly(int(headers[b"content-length"]))
        client.send(post(b"runs", target=b"//any///path?x"))
        assert await client.answer() == (200, b"runs")
        server.stop_soon()
        client.send(b"GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n")
        assert await client.answer() == (503, b"shutting down\n")
    assert len(engine.seen) == 1


async def test_what_the_server_refuses_is_counted_and_probes_are_not() -> None:
    counts = Counts()
    settings = Settings(limits=Limits(body_bytes=8), times=Times(read=0.2))
    async with serving(Echo(), settings, watcher=counts) as (_, port):
        await asked(port, post(b"123456789"))
        await asked(port, b"POST / HTTP/1.1\r\n")
        await asked(port, post(b"", b"a: " + b"b" * 100_000))
        connect = await asked(port, b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n")
        async with await Raw.to(port) as client:
            for target in (b"/metrics", b"/livez", b"/readyz"):
                client.send(b"GET %b HTTP/1.1\r\nHost: a\r\n\r\n" % target)
                await client.answer()
            client.send(post(b"runs"))
            await client.answer()
    assert b"allow: POST" in connect
    (row,) = counts.snapshot().rows
    assert row.codes == {"413": 1, "408": 1, "431": 1, "405": 2, "200": 1}
    assert (sum(row.buckets), row.in_flight) == (1, 0), "only the graph takes time"


async def test_who_leaves_in_a_request_is_counted_and_who_sent_nothing_is_not() -> None:
    counts, sent = Counts(), post(b"123456789")
    async with serving(Echo(), watcher=counts) as (server, port):
        for size in (0, 10, len(sent) - 1):
            async with await Raw.to(port) as client:
                client.send(sent[:size])
                await client.writer.drain()
                await asyncio.sleep(0.02)
        while server.connections:
            await asyncio.sleep(0.01)
    (row,) = counts.snapshot().rows
    assert (row.codes, row.in_flight) == ({"cancelled": 1}, 0)


async def test_under_kserve_everything_runs_the_graph_but_double_slashes() -> None:
    """IG-D21, IG-D28."""
    engine = Echo()
    settings = Settings(manner=Manner(only_post=False, keeps_double_slashes=False))
    async with serving(engine, settings) as (_, port), await Raw.to(port) as client:
        client.send(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
        assert await client.answer() == (200, b"")
        client.send(b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert (await client.head())[0] == 200
        client.send(post(target=b"//v1//models/./m:predict/?a=//"))
        status, headers = await client.head()
        assert (status, headers[b"location"]) == (307, b"/v1/models/m:predict/?a=//")
    assert [request.method for request in engine.seen] == [b"GET", b"HEAD"]


async def test_a_client_that_leaves_cancels_its_run() -> None:
    ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    began = asyncio.Event()

    async def run(request: Request) -> Answer:
        began.set()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            ended.set_result("cancelled")
            raise
        return Answer(200, (), b"")

    async with serving(Running(run)) as (server, port):
        async with await Raw.to(port) as client:
            client.send(post(b"x"))
            await began.wait()
        assert await asyncio.wait_for(ended, 10) == "cancelled"
        await asyncio.sleep(0)
        assert server.admission.running == 0


async def test_a_client_that_leaves_before_its_run_has_begun_leaves_nothing() -> None:
    told = []

    class Watcher:
        def begun(self) -> None:
            told.append("begun")

        def ended(
            self, request: Request, status: int, size: int, seconds: float, cause: str = ""
        ) -> None:
            told.append(str(status))

    engine = Echo()
    async with serving(engine, watcher=Watcher()) as (server, _):
        connection = Connection(server)
        connection.connection_made(Mock(asyncio.Transport))
        connection.data_received(post(b"x"))
        assert server.admission.running == 1
        connection.connection_lost(None)
        assert server.admission.running == 0
        await asyncio.sleep(0.01)
        assert server.admission.running == 0
    assert engine.seen == []
    assert told == ["begun", "0"]


async def test_under_kserve_the_run_goes_on_when_the_client_leaves() -> None:
    """IG-D7."""
    began, ended = asyncio.Event(), asyncio.Event()

    async def run(request: Request) -> Answer:
        began.set()
        await asyncio.sleep(0.2)
        ended.set()
        return Answer(200, (), b"")

    async with serving(Running(run), Settings(manner=Manner(cancels=False))) as (server, port):
        async with await Raw.to(port) as client:
            client.send(post(b"x"))
            await began.wait()
        await asyncio.wait_for(ended.wait(), 10)
        await asyncio.sleep(0)
        assert server.admission.running == 0


async def test_graphs_run_in_the_order_of_arrival_and_no_more_than_the_limit() -> None:
    order: list[bytes] = []
    go = asyncio.Event()
    at_once = highest = 0

    async def run(request: Request) -> Answer:
        nonlocal at_once, highest
        at_once += 1
        highest = max(highest, at_once)
        order.append(request.body)
        await go.wait()
        await asyncio.sleep(0.002)
        at_once -= 1
        return Answer(200, (), b"")

    async with serving(Running(run), admission=few(4)) as (_, port), several(port, 40) as clients:
        for number, client in enumerate(clients):
            client.send(post(b"%d" % number))
            await asyncio.sleep(0.0005)
        go.set()
        for client in clients:
            assert (await client.answer())[0] == 200
    assert highest == 4
    assert sorted(order, key=int) == order


async def test_one_that_gives_up_waiting_is_passed_over() -> None:
    go, seen = asyncio.Event(), []

    async def run(request: Request) -> Answer:
        seen.append(request.body)
        await go.wait()
        return Answer(200, (), request.body)

    async with (
        serving(Running(run), admission=few(1, queue=2)) as (server, port),
        several(port, 4) as (first, second, third, fourth),
    ):
        for number, client in enumerate((first, second, third)):
            client.send(post(b"%d" % number))
            await asyncio.sleep(0.01)
        fourth.send(post(b"too many"))
        status, headers = await fourth.head()
        assert (status, headers[b"retry-after"]) == (503, b"1")
        await second.close()
        while server.admission.waiting != 1:
            await asyncio.sleep(0.01)
        go.set()
        assert await third.answer() == (200, b"2")
        assert server.admission.waiting == 0
    assert seen == [b"0", b"2"]


async def test_a_stream_is_handed_on_as_it_comes() -> None:
    pieces: asyncio.Queue[bytes] = asyncio.Queue()

    async def stream() -> AsyncIterator[bytes]:
        while piece := await pieces.get():
            yield piece

    async def run(request: Request) -> Answer:
        return Answer(200, ((b"content-type", b"text/event-stream"),), b"", stream())

    async with serving(Running(run)) as (_, port), await Raw.to(port) as client:
        client.send(post(b"x"))
        status, headers = await client.head()
        assert (status, headers[b"transfer-encoding"]) == (200, b"chunked")
        for piece in (b"data: 1\n\n", b"data: 22\n\n"):
            pieces.put_nowait(piece)
            assert await client.reader.readuntil(b"\n\n\r\n") == b"%x\r\n%b\r\n" % (
                len(piece),
                piece,
            )
        pieces.put_nowait(b"")
        assert await client.reader.readexactly(5) == b"0\r\n\r\n"
        client.send(b"POST /readyz HTTP/1.1\r\nHost: a\r\n\r\n")
        assert await client.answer() == (200, b"")


async def test_a_stream_whose_length_is_known_is_sent_with_it() -> None:
    class Known:
        length = 3

        def __init__(self) -> None:
            self.left = [b"a", b"bc"]

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self

        async def __anext__(self) -> bytes:
            if not self.left:
                raise StopAsyncIteration
            return self.left.pop(0)

    async def run(request: Request) -> Answer:
        return Answer(200, ((b"content-length", b"99"),), b"", Known())

    async with serving(Running(run)) as (_, port), await Raw.to(port) as client:
        for _ in range(2):
            client.send(post(b"x"))
            assert await client.answer() == (200, b"abc")


async def test_a_stream_for_an_old_client_ends_with_the_connection() -> None:
    async def stream() -> AsyncIterator[bytes]:
        yield b"a"
        yield b"b"

    async def run(request: Request) -> Answer:
        return Answer(200, (), b"", stream())

    async with serving(Running(run)) as (_, port):
        said = await asked(port, b"POST / HTTP/1.0\r\nContent-Length: 0\r\n\r\n")
    assert said.endswith(b"\r\n\r\nab")
    assert b"chunked" not in said


async def test_a_stream_that_breaks_off_is_not_ended_properly() -> None:
    async def stream() -> AsyncIterator[bytes]:
        yield b"half"
        raise StepFailed("lost", "the step ended the connection early", sent=True)

    async def run(request: Request) -> Answer:
        return Answer(200, (), b"", stream())

    async with serving(Running(run)) as (_, port), await Raw.to(port) as client:
        client.send(post(b"x"))
        assert (await client.head())[0] == 200
        assert await client.reader.readuntil(b"half\r\n") == b"4\r\nhalf\r\n"
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await client.reader.readexactly(1)


async def test_a_client_that_does_not_read_stops_the_stream_and_is_cut_off() -> None:
    sent, closed = 0, asyncio.Event()

    async def stream() -> AsyncIterator[bytes]:
        nonlocal sent
        try:
            while True:
                sent += 1
                yield b"x" * 100_000
        finally:
            closed.set()

    async def run(request: Request) -> Answer:
        return Answer(200, (), b"", stream())

    async with serving(Running(run), Settings(times=SHORT)) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1000)
        writer.write(post(b"x"))
        await asyncio.wait_for(closed.wait(), 20)
        writer.transport.abort()
        assert reader is not None
    assert sent * 100_000 < 50_000_000


async def test_a_defect_is_answered_500_and_the_connection_goes_on() -> None:
    async def run(request: Request) -> Answer:
        raise ZeroDivisionError if request.body == b"bad" else NoAnswer

    async with serving(Running(run)) as (server, port), await Raw.to(port) as client:
        client.send(post(b"bad"))
        status, body = await client.answer()
        assert (status, b"ZeroDivision" in body) == (500, False)
        client.send(post(b"none"))
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await client.reader.readexactly(1)
        assert server.admission.running == 0


async def test_under_kserve_a_late_answer_is_none() -> None:
    """IG-D6."""
    untils = []

    async def run(request: Request) -> Answer:
        untils.append(request.until)
        await asyncio.sleep(0.2)
        return Answer(200, (), b"")

    settings = Settings(times=Times(answer=0.1), manner=Manner(answers_when_late=False))
    async with serving(Running(run), settings) as (_, port), await Raw.to(port) as client:
        client.send(post(b"x"))
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await client.reader.readexactly(1)
    assert untils == [None]


async def test_draining_answers_what_runs_and_ends_what_is_idle() -> None:
    began, go = asyncio.Event(), asyncio.Event()

    async def run(request: Request) -> Answer:
        began.set()
        await go.wait()
        return Answer(200, (), request.body)

    async with (
        serving(Running(run)) as (server, port),
        several(port, 4) as (busy, idle, half, late),
    ):
        busy.send(post(b"runs"))
        half.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nha")
        await began.wait()
        server.stop_soon()
        late.send(post(b"late"))
        await asyncio.sleep(0.05)
        draining = asyncio.create_task(server.drain())
        assert await idle.rest() == b""
        half.send(b"lf")
        go.set()
        for client, body in ((busy, b"runs"), (half, b"half"), (late, b"late")):
            said = await client.rest()
            assert said.endswith(b"\r\n\r\n" + body)
            assert b"Connection: close" in said
        assert await draining == 0
        with pytest.raises(ConnectionError):
            await Raw.to(port)


async def test_what_does_not_end_in_time_is_cut_and_counted() -> None:
    async def run(request: Request) -> Answer:
        await asyncio.sleep(30)
        return Answer(200, (), b"")

    async with serving(Running(run)) as (server, port), await Raw.to(port) as client:
        client.send(post(b"x"))
        await asyncio.sleep(0.05)
        assert await server.drain(within=0.1) == 1
