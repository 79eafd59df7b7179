"""Certificates between the controller and its Envoys: made, renewed, replaced, never at once."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509

from ingressctl.cluster import authority
from ingressctl.cluster.answers import Answered
from ingressctl.cluster.certificates import Keeper

START = datetime(2026, 1, 1, tzinfo=UTC)
HOST = "ingressctl-xds.ns.svc"
DAY = timedelta(days=1)


def made(now: datetime = START, old: Mapping[str, bytes] | None = None) -> dict[str, bytes]:
    data = authority.renewed(old or {}, (HOST,), now)
    assert data is not None
    return data


def certificate(data: Mapping[str, bytes], key: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate(data[key])


def authorities(data: Mapping[str, bytes]) -> list[x509.Certificate]:
    return x509.load_pem_x509_certificates(data["ca.crt"])


def trusted(data: Mapping[str, bytes], by: Mapping[str, bytes]) -> bool:
    """Whether both ends of `data` are known to who has the authorities of `by`."""
    issuers = {found.subject for found in authorities(by)}
    return all(certificate(data, f"{role}.crt").issuer in issuers for role in ("server", "client"))


def test_what_is_fresh_stays() -> None:
    data = made()
    assert authority.renewed(data, (HOST,), START) is None
    assert authority.renewed(data, (HOST,), START + 5 * DAY) is None
    names = certificate(data, "server.crt").extensions.get_extension_for_class(
        x509.SubjectAlternativeName
    )
    assert names.value.get_values_for_type(x509.DNSName) == [HOST]


def test_a_week_is_renewed_a_day_before_its_end() -> None:
    data = made()
    later = START + 6 * DAY + timedelta(minutes=1)
    fresh = made(later, data)
    assert fresh["ca.crt"] == data["ca.crt"]
    for role in ("server.crt", "client.crt"):
        assert certificate(data, role).not_valid_after_utc - later < DAY
        assert certificate(fresh, role).not_valid_after_utc - later == 7 * DAY


@pytest.mark.parametrize("key", ["ca.crt", "ca.key", "server.crt", "server.key", "client.key"])
def test_what_is_broken_is_made_anew(key: str) -> None:
    """Half a Secret, or one that somebody edited, is no reason to end."""
    data = made()
    for broken in ({**data, key: b"no PEM"}, {k: v for k, v in data.items() if k != key}):
        fresh = made(START, broken)
        assert trusted(fresh, fresh)
        assert authority.renewed(fresh, (HOST,), START) is None


def test_another_name_is_another_certificate() -> None:
    data = made()
    fresh = authority.renewed(data, ("other.svc",), START)
    assert fresh is not None
    assert fresh["ca.crt"] == data["ca.crt"]


def test_authorities_overlap() -> None:
    """Whoever has the Secret of the day before is known, and knows, all through the year."""
    now, data = START, made()
    counts = set()
    for _ in range(800):
        now += DAY / 2
        before, data = data, authority.renewed(data, (HOST,), now) or data
        counts.add(len(authorities(data)))
        assert trusted(data, before), f"{now}: an end is not known to the day before"
        assert trusted(before, data), f"{now}: the day before is not known any more"
    assert counts == {1, 2}
    assert certificate(data, "server.crt").issuer != authorities(made())[0].subject


class Secrets:
    """An API server that holds one Secret."""

    def __init__(self) -> None:
        self.stored: dict[str, Any] | None = None
        self.writes = 0

    async def get(self, path: str) -> dict[str, Any]:
        if self.stored is None:
            raise Answered(404, "there is none")
        return self.stored

    async def send(
        self, method: str, path: str, query: object, body: dict[str, Any], kind: str = ""
    ) -> dict[str, Any]:
        version = str((self.stored or {}).get("metadata", {}).get("resourceVersion", "0"))
        wanted = body["metadata"].get("resourceVersion", "0")
        if wanted != version:
            raise Answered(409, "somebody was faster")
        self.writes += 1
        self.stored = {**body, "metadata": {"resourceVersion": str(int(version) + 1)}}
        return self.stored


class Replica:
    """A keeper, and what it told its server."""

    def __init__(self, secrets: Secrets, *, leads: bool = True) -> None:
        self.now, self.leads, self.told = START, leads, []
        self.keeper = Keeper(
            secrets,  # type: ignore[arg-type]
            namespace="ns",
            name="certificates",
            hosts=(HOST,),
            may_write=lambda: self.leads,
            told=lambda *texts: self.told.append(texts),
            clock=lambda: self.now,
        )


async def test_the_leader_writes_and_all_read() -> None:
    secrets = Secrets()
    leader, other = Replica(secrets), Replica(secrets, leads=False)
    await other.keeper.look()
    assert not other.told
    for replica in (leader, other, leader, other):
        await replica.keeper.look()
    assert secrets.writes == 1
    assert leader.told == other.told
    assert len(leader.told) == 1
    leader.now += 7 * DAY
    for replica in (leader, other):
        await replica.keeper.look()
    assert [len(leader.told), len(other.told)] == [2, 2]
    assert leader.told == other.told


async def test_of_two_that_think_they_lead_one_wins() -> None:
    """The other takes what was written when it looks again."""
    secrets = Secrets()
    one, other = Replica(secrets), Replica(secrets)
    stored = secrets.get

    async def late(path: str) -> dict[str, Any]:
        secrets.get = stored  # type: ignore[method-assign]
        await one.keeper.look()
        raise Answered(404, "there was none then")

    secrets.get = late  # type: ignore[method-assign]
    await other.keeper.look()
    assert secrets.writes == 1
    assert not other.told
    await other.keeper.look()
    assert other.told == one.told


async def test_a_secret_that_cannot_be_decoded_is_replaced() -> None:
    secrets = Secrets()
    secrets.stored = {"metadata": {"resourceVersion": "7"}, "data": {"ca.crt": "%%"}}
    leader = Replica(secrets)
    await leader.keeper.look()
    assert secrets.writes == 1
    assert secrets.stored is not None
    assert base64.b64decode(secrets.stored["data"]["ca.crt"]) == leader.told[0][0]
