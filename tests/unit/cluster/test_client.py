"""Requests: what becomes of answers that are late, half, refused, or from older credentials."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from aiohttp import web

from ingressctl.cluster import answers
from ingressctl.cluster.answers import Answered
from ingressctl.cluster.client import Client, Lost
from ingressctl.cluster.connection import Choice
from tests.apiserver import server as servers
from tests.apiserver.replica import eventually
from tests.apiserver.server import ApiServer

SPACES = "/api/v1/namespaces"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def always(make: Callable[[], web.StreamResponse]) -> Callable[[str, str], web.StreamResponse]:
    """A fault that answers whatever is asked."""

    def fault(verb: str, plural: str) -> web.StreamResponse:
        return make()

    return fault


async def test_rotated_credentials_are_read_again(
    server: ApiServer, kubeconfig: Path, client: Client
) -> None:
    """All that ask at that moment get their answer; the file is read once."""
    server.tokens = {"secret"}
    assert await client.get(SPACES)
    server.tokens = {"new"}
    server.kubeconfig(kubeconfig, token="new")
    found = await asyncio.gather(*(client.get(SPACES) for _ in range(20)))
    assert all(body["items"] for body in found)
    assert {asked.user for asked in server.log} == {"secret", "new"}


async def test_credentials_that_stay_refused_are_told(server: ApiServer, client: Client) -> None:
    """And are not read again at every request."""
    server.tokens = {"other"}
    for _ in range(5):
        with pytest.raises(Answered) as raised:
            await client.get(SPACES)
        assert raised.value.status == answers.UNAUTHORIZED
    assert len(server.log) <= 7


async def test_a_name_that_cannot_be_is_only_not_found(server: ApiServer, client: Client) -> None:
    """A person may type anything; it is a part of the path, and never of the request around."""
    for name in ("a b", "a?watch=true", "a#b", "ä%2F", "a HTTP/1.1\r\nX-Other: b"):
        with pytest.raises(Answered) as raised:
            await client.get(f"{SPACES}/{name}", {"fieldManager": "a b"})
        assert raised.value.status == answers.NOT_FOUND
    assert {asked.verb for asked in server.log} == {"get"}


async def test_429_names_the_seconds(server: ApiServer, client: Client) -> None:
    server.faults.append(always(lambda: servers.too_many(7)))
    with pytest.raises(Answered) as raised:
        await client.get(SPACES)
    assert raised.value.passes
    assert raised.value.retry_after == 7.0


async def test_an_answer_that_is_no_status_is_told_by_its_phrase(
    server: ApiServer, client: Client
) -> None:
    server.faults.append(always(lambda: web.Response(status=502, text="<html>")))
    with pytest.raises(Answered, match="502 Bad Gateway") as raised:
        await client.get(SPACES)
    assert raised.value.passes


@pytest.mark.parametrize("text", ["[1]", "{", "", "nothing"])
async def test_an_answer_that_is_no_object_is_none(
    server: ApiServer, client: Client, text: str
) -> None:
    server.faults.append(always(lambda: web.Response(text=text)))
    with pytest.raises(Lost):
        await client.get(SPACES)


async def test_half_an_answer_is_none(tmp_path: Path) -> None:
    """The length is told, and the connection ends before it."""

    async def half(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Length": "1000"})
        await answer.prepare(request)
        await answer.write(b'{"items": [')
        assert request.transport is not None
        request.transport.close()
        return answer

    with pytest.raises(Lost):
        await _asked(half, tmp_path)


async def test_half_a_line_of_a_watch_is_left_out(tmp_path: Path) -> None:
    async def half(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        await answer.write(b'{"one": 1}\n{"two": 2}\n{"thr')
        assert request.transport is not None
        request.transport.close()
        return answer

    lines: list[bytes] = []

    async def watch(client: Client) -> None:
        async for line in client.watch(SPACES, {}, silence=5.0):
            lines.append(line)  # noqa: PERF401 - those before the fault count

    with pytest.raises(Lost):
        await _asked(half, tmp_path, watch)
    assert lines == [b'{"one": 1}', b'{"two": 2}']


async def test_no_answer_in_time_is_told(server: ApiServer, kubeconfig: Path) -> None:
    seen: list[int] = []

    def observe(verb: str, path: str, status: int) -> None:
        seen.append(status)

    choice = Choice(kubeconfig=str(kubeconfig))
    async with Client(choice, seconds=0.2, observe=observe) as client:
        server.pause()
        with pytest.raises(Lost):
            await client.get(SPACES)
        server.resume()
        assert await client.get(SPACES)
    assert seen == [0, 200]


async def test_nobody_listens(tmp_path: Path, server: ApiServer) -> None:
    kubeconfig = server.kubeconfig(tmp_path / "nowhere", url="http://127.0.0.1:1")
    async with Client(Choice(kubeconfig=str(kubeconfig))) as client:
        with pytest.raises(Lost, match=r"127\.0\.0\.1"):
            await client.get(SPACES)


async def test_credentials_that_cannot_be_read_for_a_moment_are_a_lost_request(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The token file of a pod is replaced while it is read: no reason to end."""

    async def broken(*_: object) -> None:
        raise FileNotFoundError("token")

    monkeypatch.setattr(client._api, "update_params_for_auth", broken)
    with pytest.raises(Lost, match="token"):
        await client.get(SPACES)


async def test_a_watch_that_is_left_is_closed(server: ApiServer, client: Client) -> None:
    async for _ in client.watch(f"{SPACES}", {"resourceVersion": "1"}, silence=5.0):
        break
    await eventually("closed", lambda: len(server.watches) == 0)


async def _asked(
    handler: Handler,
    folder: Path,
    ask: Callable[[Client], Awaitable[object]] = lambda client: client.get(SPACES),
) -> None:
    """Ask a server that answers everything by `handler`."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    kubeconfig = ApiServer().kubeconfig(folder / "kubeconfig", url=url)
    try:
        async with Client(Choice(kubeconfig=str(kubeconfig)), seconds=5.0) as client:
            await ask(client)
    finally:
        await runner.cleanup()


async def test_a_watch_whose_connection_went_between_two_lines_is_lost(
    server: ApiServer, client: Client
) -> None:
    """The client library answers the next read of such a stream with an error of its own."""
    watch = client.watch(f"{SPACES}", {"resourceVersion": "0"}, silence=5.0)
    assert await anext(watch)
    assert client._session.connector is not None
    await client._session.connector.close()
    await asyncio.sleep(0.05)
    with pytest.raises(Lost):
        assert [line async for line in watch] == [], "no line comes any more"
