"""Who may write: taken over after a crash, handed over at an end, lost in time."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from ingressctl.cluster.client import Client
from ingressctl.cluster.leases import Election, Terms
from tests.apiserver import statuses
from tests.apiserver.replica import eventually
from tests.apiserver.server import ApiServer

TERMS = Terms(duration=1.0, deadline=0.5, period=0.05)


class Candidate:
    """One replica's election, and what it was told."""

    def __init__(self, client: Client, identity: str, terms: Terms = TERMS) -> None:
        self.told: list[bool] = []
        self.ended = asyncio.Event()
        self.election = Election(
            client,
            namespace="kserve",
            name="lock",
            identity=identity,
            changed=self.told.append,
            terms=terms,
        )
        self.task = asyncio.ensure_future(self.election.run(self.ended))

    async def leads(self) -> None:
        await eventually("leading", lambda: self.election.leading)

    async def crash(self) -> None:
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.task


@contextlib.asynccontextmanager
async def candidate(
    client: Client, identity: str, terms: Terms = TERMS
) -> AsyncIterator[Candidate]:
    made = Candidate(client, identity, terms)
    try:
        yield made
    finally:
        await made.crash()


def holder(server: ApiServer) -> dict[str, Any]:
    lease = server.get("Lease", "lock", "kserve")
    return lease["spec"] if lease else {}


def test_the_numbers_are_those_of_the_field() -> None:
    """A follower waits 15 s and one period at the most; a leader has 5 s to fall silent."""
    terms = Terms()
    assert terms.duration + terms.period < 20
    assert terms.deadline < terms.duration


async def test_one_leads_and_the_other_waits(server: ApiServer, client: Client) -> None:
    async with candidate(client, "a") as one:
        await one.leads()
        async with candidate(client, "b") as other:
            await asyncio.sleep(TERMS.duration * 2)
            assert (one.told, other.told) == ([True], [])
            assert holder(server)["leaseTransitions"] == 1


async def test_after_a_crash_the_other_one_leads(server: ApiServer, client: Client) -> None:
    """Not before the lease has run out, and not long after it."""
    async with candidate(client, "a") as one, candidate(client, "b") as other:
        await eventually("somebody", lambda: one.election.leading or other.election.leading)
        leader, follower = (one, other) if one.election.leading else (other, one)
        await leader.crash()
        crashed = time.monotonic()
        await follower.leads()
        assert time.monotonic() - crashed > TERMS.duration - TERMS.period * 2
        assert holder(server)["leaseTransitions"] == 2


async def test_at_a_clean_end_the_other_one_leads_at_once(
    server: ApiServer, client: Client
) -> None:
    """With the real duration: it does not have to run out."""
    terms = Terms(period=0.05)
    async with candidate(client, "a", terms) as one:
        await one.leads()
        async with candidate(client, "b", terms) as other:
            one.ended.set()
            await one.task
            assert not one.election.leading
            assert holder(server)["holderIdentity"] in ("", "b")
            async with asyncio.timeout(terms.deadline):
                await other.leads()
    assert one.told == [True, False]


async def test_a_server_that_is_silent_does_not_end_the_election(
    server: ApiServer, client: Client
) -> None:
    """Renewals hang: it says in time that it leads no more, and leads again later."""
    async with candidate(client, "a") as one:
        await one.leads()
        began = time.monotonic()
        server.pause()
        await eventually("told", lambda: one.told == [True, False])
        assert time.monotonic() - began < TERMS.duration  # nobody else can lead yet
        server.resume()
        await eventually("told again", lambda: one.told == [True, False, True])
        assert not one.task.done()


async def test_a_lapse_that_nobody_saw_is_told(server: ApiServer, client: Client) -> None:
    """A renewal that comes back late ends one time of leading and begins another: writes that
    were refused in between have to be made up for."""
    async with candidate(client, "a", Terms(duration=5.0, deadline=0.3, period=0.05)) as one:
        await one.leads()
        server.pause()
        await asyncio.sleep(0.45)
        server.resume()
        await eventually("told", lambda: one.told == [True, False, True])


async def test_a_clean_end_is_not_held_up_by_a_slow_server(
    server: ApiServer, client: Client
) -> None:
    terms = Terms(duration=60.0, deadline=50.0, period=0.01)
    async with candidate(client, "a", terms) as one:
        await one.leads()
        server.pause()
        await asyncio.sleep(0.1)
        one.ended.set()
        async with asyncio.timeout(terms.deadline / 2):
            await one.task
        server.resume()


@pytest.mark.parametrize("code", [409, 429, 500])
async def test_refused_renewals_are_tried_again(
    server: ApiServer, client: Client, code: int
) -> None:
    def refuse(verb: str, plural: str) -> web.StreamResponse | None:
        if verb != "update" or plural != "leases":
            return None
        return web.json_response(statuses.status(code, "no"), status=code)

    async with candidate(client, "a") as one:
        await one.leads()
        server.faults.append(refuse)
        await eventually("lost", lambda: not one.election.leading)
        server.faults.clear()
        await one.leads()


async def test_somebody_elses_lease_is_not_renewed(server: ApiServer, client: Client) -> None:
    """Another identity in the lease, by whatever way: it falls silent at the next look."""
    async with candidate(client, "a") as one:
        await one.leads()
        server.patch(
            "Lease", "lock", {"spec": {"holderIdentity": "b"}}, namespace="kserve", manager="b"
        )
        await eventually("silent", lambda: not one.election.leading)
        assert holder(server)["holderIdentity"] == "b"
