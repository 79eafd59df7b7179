"""Seats: how many writes are in flight, and for whom."""

from __future__ import annotations

import asyncio
from typing import Any

from ingressctl.api.refs import Raw, ref_of
from ingressctl.cluster.writer import AT_ONCE, BULK_AT_ONCE, Writer
from ingressctl.plan.contests import Contests
from ingressctl.plan.writes import Apply, Plan

OWNER: Raw = {
    "apiVersion": "serving.kserve.io/v1beta1",
    "kind": "InferenceService",
    "metadata": {"name": "iris", "namespace": "team", "uid": "1"},
}


class Held:
    """A server that answers when it is told to."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.free = asyncio.Event()

    async def send(self, method: str, path: str, query: Any, body: Raw, content_type: str) -> Raw:
        self.asked.append(path.rpartition("/")[2])
        await self.free.wait()
        return body


def plan(name: str, number: int) -> Plan:
    """So many ConfigMaps at once."""
    bodies = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"{name}-{one}", "namespace": "team"},
        }
        for one in range(number)
    ]
    return Plan(stages=(tuple(Apply(ref=ref_of(body), body=body) for body in bodies),))


async def test_bulk_work_leaves_seats_for_whoever_edits() -> None:
    server, learned = Held(), []
    writer = Writer(
        server,  # type: ignore[arg-type]
        learn=lambda ref, _: learned.append(ref.name),
        version=lambda _, rendered: rendered,
        may_write=lambda: True,
        contests=Contests(),
    )
    async with asyncio.TaskGroup() as group:
        for name in ("bulk", "more"):
            group.create_task(writer.carry_out(plan(name, AT_ONCE), OWNER, bulk=True))
        await asyncio.sleep(0.01)
        assert len(server.asked) == BULK_AT_ONCE < AT_ONCE
        group.create_task(writer.carry_out(plan("edit", AT_ONCE), OWNER))
        await asyncio.sleep(0.01)
        assert len(server.asked) == AT_ONCE
        assert server.asked[-1].startswith("edit")
        server.free.set()
    assert sorted(learned) == sorted(
        f"{name}-{one}" for name in ("bulk", "edit", "more") for one in range(AT_ONCE)
    )
