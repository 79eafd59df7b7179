"""What waits is in memory within a sum; the rest waits with the clients, and gets its turn."""

from __future__ import annotations

import asyncio

from ingressctl.dataplane.router.backlog import HELD, Backlog
from ingressctl.dataplane.router.ports import Answer, Request
from tests.apiserver.replica import eventually
from tests.unit.dataplane.wire.sockets import Running, few, post, serving, several

PART = HELD // 4


class Reader:
    def __init__(self, size: int = PART) -> None:
        self.size = size
        self.gone = False
        self.reads = False

    def read_on(self) -> None:
        self.reads = True


def postponed(backlog: Backlog, number: int) -> list[Reader]:
    readers = [Reader() for _ in range(number)]
    for reader in readers:
        assert backlog.postpone(reader)
    return readers


def test_readers_are_read_while_there_is_room() -> None:
    backlog = Backlog()
    backlog.add(HELD - 1)
    assert not backlog.postpone(Reader())
    backlog.add(1)
    assert backlog.postpone(Reader())


def test_nobody_overtakes_those_who_are_not_read() -> None:
    backlog = Backlog()
    backlog.add(HELD)
    postponed(backlog, 1)
    backlog.remove(HELD)
    assert backlog.postpone(Reader())


def test_as_many_are_read_on_as_there_is_room_for_what_they_sent_last() -> None:
    backlog = Backlog()
    backlog.add(HELD)
    readers = postponed(backlog, 9)
    backlog.remove(2 * PART)
    for _ in range(3):
        backlog.ease()
        assert [reader.reads for reader in readers] == [True] * 2 + [False] * 7
    backlog.came(PART)
    backlog.ease()
    assert sum(reader.reads for reader in readers) == 3


def test_who_has_nothing_to_send_keeps_nobody_from_being_read() -> None:
    backlog = Backlog()
    backlog.add(HELD)
    readers = postponed(backlog, 9)
    backlog.remove(HELD)
    for expected in (4, 8, 9):
        backlog.lapse()
        assert sum(reader.reads for reader in readers) == expected
    assert not backlog.postpone(Reader())


def test_who_is_gone_is_passed_over() -> None:
    backlog = Backlog()
    backlog.add(HELD)
    readers = postponed(backlog, 3)
    readers[0].gone = True
    backlog.remove(PART)
    backlog.ease()
    assert [reader.reads for reader in readers] == [False, True, False]
    backlog.end()
    assert [reader.reads for reader in readers] == [False, True, True]
    assert len(backlog) == 0


CLIENTS, ROUNDS, BODY = 60, 4, b"x" * 200_000


async def test_clients_with_large_bodies_are_all_served_and_few_bodies_held() -> None:
    """Each of 60 sends 200 kB at once, again and again: 12 MB, of which 2 may wait."""
    most = 0

    async def run(request: Request) -> Answer:
        nonlocal most
        await asyncio.sleep(0.002)
        if request.target == b"/again":
            most = max(most, server.admission.backlog.held)
        return Answer(200, (), request.body[:1])

    async with (
        serving(Running(run), admission=few(2)) as (server, port),
        several(port, CLIENTS) as clients,
    ):
        for target in (b"/", *[b"/again"] * ROUNDS):
            for client in clients:
                client.send(post(BODY, target=target))
            answers = await asyncio.gather(*(client.answer() for client in clients))
            assert answers == [(200, b"x")] * CLIENTS
    assert HELD / 2 < most < 2 * HELD, "who has begun to send is read to the end"


async def test_probes_do_not_wait_behind_bodies() -> None:
    held = asyncio.Event()

    async def run(request: Request) -> Answer:
        if request.body:
            await held.wait()
        return Answer(200, (), b"")

    large = b"x" * HELD
    async with (
        serving(Running(run), admission=few(1)) as (server, port),
        several(port, 4) as (first, second, prober, other),
    ):
        prober.send(post(target=b"/readyz"))
        assert await prober.answer() == (200, b"")
        other.send(post())
        assert await other.answer() == (200, b"")
        for client in (first, second):
            client.send(post(large))
        await eventually("waits", lambda: server.admission.backlog.held >= HELD)
        prober.send(post(target=b"/readyz"))
        assert await asyncio.wait_for(prober.answer(), 1) == (200, b"")
        held.set()
        for client in (first, second):
            assert await client.answer() == (200, b"")


async def test_what_clients_have_sent_is_read_before_the_end() -> None:
    """A connection that is not read looks idle, and its request must not be lost with it."""
    free = {target: asyncio.Event() for target in (b"/long", b"/short")}

    async def run(request: Request) -> Answer:
        if request.target in free:
            await free[request.target].wait()
        return Answer(200, (), b"done")

    async with (
        serving(Running(run), admission=few(2)) as (server, port),
        several(port, 4) as (first, short, *large),
    ):
        first.send(post(target=b"/long"))
        short.send(post(target=b"/short"))
        await eventually("two run", lambda: server.admission.running == 2)
        for client in large:
            client.send(post(b"x" * HELD, target=b"/long"))
        await eventually("two wait", lambda: server.admission.waiting == 2)
        free[b"/short"].set()
        assert await short.answer() == (200, b"done")
        short.send(post(b"again"))
        assert (len(server.admission.backlog), server.admission.waiting) == (1, 1)
        drain = asyncio.create_task(server.drain())
        await eventually("two wait", lambda: server.admission.waiting == 2)
        free[b"/long"].set()
        for client in (short, first, *large):
            assert await client.answer() == (200, b"done")
        assert await drain == 0
