"""The queue: each object once, people first, one worker an object, failures later and later."""

from __future__ import annotations

import asyncio

import pytest

from ingressctl.api.refs import Ref
from ingressctl.cluster.queue import Queue, Urgency


def ref(name: str) -> Ref:
    return Ref("g", "Kind", "ns", name)


async def taken(queue: Queue, count: int) -> list[str]:
    names = []
    for _ in range(count):
        found, _ = await asyncio.wait_for(queue.get(), 5)
        names.append(found.name)
    return names


async def test_people_go_first_and_equals_in_their_order() -> None:
    queue = Queue()
    for name, urgency in (
        ("bulk", Urgency.BULK),
        ("change", Urgency.CHANGE),
        ("one", Urgency.EDIT),
        ("two", Urgency.EDIT),
    ):
        queue.add(ref(name), urgency)
    assert await taken(queue, 4) == ["one", "two", "change", "bulk"]


async def test_an_object_is_there_once_by_its_most_urgent_reason() -> None:
    queue = Queue()
    queue.add(ref("a"), Urgency.BULK)
    queue.add(ref("b"), Urgency.CHANGE)
    queue.add(ref("a"), Urgency.EDIT)
    queue.add(ref("a"), Urgency.BULK)
    assert len(queue) == 2
    assert await taken(queue, 2) == ["a", "b"]
    assert len(queue) == 0
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(queue.get(), 0.05)


async def test_one_worker_has_an_object_and_what_came_meanwhile_comes_after() -> None:
    queue = Queue()
    queue.add(ref("a"), Urgency.EDIT)
    await taken(queue, 1)
    queue.add(ref("a"), Urgency.BULK)
    queue.add(ref("a"), Urgency.EDIT)
    assert len(queue) == 0
    assert not queue.idle
    queue.add(ref("b"), Urgency.CHANGE)
    queue.done(ref("a"))
    assert await taken(queue, 2) == ["a", "b"], "as urgently as it was asked for"
    queue.done(ref("a"))
    queue.done(ref("b"))
    assert queue.idle


async def test_failures_come_back_later_and_later_until_one_succeeds() -> None:
    queue = Queue(first_retry=0.01, most_retry=0.08)
    delays = [queue.failed(ref("a")) for _ in range(8)]
    assert all(0.008 * 2**number <= delay for number, delay in enumerate(delays[:4]))
    assert max(delays) <= 0.08 * 1.2
    queue.succeeded(ref("a"))
    assert queue.failed(ref("a")) <= 0.012
    assert queue.failed(ref("a"), 7.5) >= 7.5, "not sooner than the server asked for"
    queue.close()


async def test_a_failed_object_comes_by_itself() -> None:
    queue = Queue(first_retry=0.01, most_retry=0.01)
    queue.failed(ref("a"))
    assert await taken(queue, 1) == ["a"]


async def test_the_sooner_timer_counts_and_a_look_stops_it() -> None:
    queue = Queue()
    queue.after(ref("a"), 60.0)
    queue.after(ref("a"), 0.01)
    queue.after(ref("a"), 60.0)
    assert await taken(queue, 1) == ["a"]
    queue.after(ref("a"), 0.02)
    queue.done(ref("a"))
    queue.add(ref("a"), Urgency.EDIT)
    assert await taken(queue, 1) == ["a"]
    queue.done(ref("a"))
    await asyncio.sleep(0.1)
    assert len(queue) == 0, "it was looked at since: the timer is void"


async def test_what_is_gone_does_not_come_again() -> None:
    queue = Queue()
    queue.after(ref("a"), 0.01)
    queue.forget(ref("a"))
    queue.after(ref("b"), 0.01)
    queue.close()
    await asyncio.sleep(0.05)
    assert queue.idle


async def test_bulk_work_leaves_room_for_people() -> None:
    """Of bulk work a bounded number is given out; an edit does not wait for any of it."""
    queue = Queue(bulk=2)
    for number in range(5):
        queue.add(ref(f"bulk-{number}"), Urgency.BULK)
    taken = [(await queue.get())[0] for _ in range(2)]
    third = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    assert not third.done()
    queue.add(ref("edit"), Urgency.EDIT)
    assert (await third)[0] == ref("edit")
    fourth = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    assert not fourth.done()
    queue.done(taken[0])
    assert (await fourth)[0] == ref("bulk-2")


async def test_bulk_work_makes_room_for_whoever_edits_and_takes_it_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ingressctl.cluster.queue.HUSH", 0.2)
    queue = Queue(bulk=3, hushed=1)
    for number in range(9):
        queue.add(ref(f"bulk-{number}"), Urgency.BULK)
    assert await taken(queue, 3) == ["bulk-0", "bulk-1", "bulk-2"]
    queue.add(ref("one"), Urgency.EDIT)
    assert await taken(queue, 1) == ["one"]
    began = asyncio.get_running_loop().time()
    for number in range(2):
        queue.done(ref(f"bulk-{number}"))
    waiting = [asyncio.create_task(queue.get()) for _ in range(4)]
    await asyncio.sleep(0.1)
    assert not any(task.done() for task in waiting), "one is still out, and more may not be"
    found = [await asyncio.wait_for(task, 5) for task in waiting[:2]]
    assert [one.name for one, _ in found] == ["bulk-3", "bulk-4"]
    assert asyncio.get_running_loop().time() - began > 0.15
    assert queue.active == 4
    for task in waiting[2:]:
        task.cancel()
    queue.close()


async def test_nothing_is_left_lying_however_few_are_woken() -> None:
    """Workers that wait are woken one for one; every object is given out all the same."""
    queue, seen = Queue(bulk=2), set()

    async def work() -> None:
        while True:
            found, _ = await queue.get()
            await asyncio.sleep(0)
            seen.add(found)
            queue.done(found)

    workers = [asyncio.create_task(work()) for _ in range(8)]
    await asyncio.sleep(0)
    names = {ref(f"{number}") for number in range(200)}
    for number, name in enumerate(sorted(names)):
        queue.add(name, (Urgency.BULK, Urgency.CHANGE, Urgency.EDIT)[number % 3])
        if number % 7 == 0:
            await asyncio.sleep(0)
    async with asyncio.timeout(5):
        while not queue.idle:
            await asyncio.sleep(0)
    assert seen == names
    for worker in workers:
        worker.cancel()


async def test_a_worker_that_goes_hands_its_turn_on() -> None:
    queue = Queue()
    first, second = (asyncio.create_task(queue.get()) for _ in range(2))
    await asyncio.sleep(0)
    queue.add(ref("a"), Urgency.EDIT)
    first.cancel()
    async with asyncio.timeout(5):
        assert (await second)[0] == ref("a")
